#!/usr/bin/env bash
# record.sh LIST BUDGET records the runs listed in LIST.txt in order, for at most BUDGET seconds.
# LIST.txt is in this script's folder. A line has the form NAME|SECONDS|ARGUMENTS: the session's
# name, the expected time, and arguments of `kernel-ladder run`. The same folder must contain
# node.xz (the Node program) and kl.mjs.xz (dist/cli/kernel-ladder.mjs).
#
# All output is in one archive, $OUT/LIST.tar, which is rewritten after each run. The archive has
# NAME.tar.xz for each complete session, NAME.log for each run, and LIST.done with the names of the
# successful runs. To resume, put LIST.done or the whole LIST.tar in this script's folder; finished
# runs are skipped. A recording starts only if enough time is left for it. A recording is stopped
# when the budget is spent, so that the script ends by itself. Set TARGET (default: local) for a
# trial without a GPU, such as TARGET=static:h200.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || { echo "Usage: OUT=FOLDER record.sh LIST BUDGET"; exit 2; }
list=$1 budget=$2
[ -n "${OUT:-}" ] || { echo "OUT is not set."; exit 2; }
[ -f "$here/$list.txt" ] || { echo "There is no $list.txt beside this script."; exit 2; }
begin=$(date +%s)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
xz -dc "$here/node.xz" > "$work/node" && chmod +x "$work/node" && xz -dc "$here/kl.mjs.xz" > "$work/kl.mjs" || exit 1
results=$work/results
mkdir "$results" "$work/sessions"
touch "$results/$list.done"
if [ -f "$here/$list.done" ]; then cp "$here/$list.done" "$results/$list.done"
elif [ -f "$here/$list.tar" ]; then tar -C "$results" -xf "$here/$list.tar" "./$list.done"; fi
# Write to a temporary name first, so that a killed script leaves a complete archive.
archive() { tar -C "$results" -cf "$OUT/$list.tar.part" . && mv "$OUT/$list.tar.part" "$OUT/$list.tar"; }
archive || exit 1
while IFS='|' read -r name expected args; do
  [ -z "$name" ] && continue
  if grep -qxF "$name" "$results/$list.done"; then echo "$name: already recorded"; continue; fi
  start=$(date +%s)
  left=$((budget - (start - begin)))
  if [ "$left" -lt "$expected" ]; then echo "$name: left, $expected s expected, $left s remain"; continue; fi
  # shellcheck disable=SC2086 -- the arguments are words
  timeout -k 5 "$left" "$work/node" "$work/kl.mjs" run --target "${TARGET:-local}" $args --out "$work/sessions/$name" \
    > "$results/$name.log" 2>&1 < /dev/null
  code=$?
  took=$(($(date +%s) - start))
  if [ "$code" -ne 0 ] || [ ! -f "$work/sessions/$name/session.json" ]; then
    echo "$name: not recorded, exit code $code after $took s"; tail -n 3 "$results/$name.log" | cut -c1-300
    archive; continue
  fi
  # Omit ncu's own report, because it is the largest file and recordings do not contain it.
  tar -C "$work/sessions" --exclude='*.ncu-rep' -cJf "$results/$name.tar.xz" "$name"
  size=$(stat -c %s "$results/$name.tar.xz")
  if [ "$size" -ge 20000000 ]; then
    echo "$name: not recorded, $size bytes are over the limit of 20 MB"; rm "$results/$name.tar.xz"
  else
    echo "$name" >> "$results/$list.done"
    echo "$name: recorded in $took s, $size bytes"
  fi
  archive
done < "$here/$list.txt"
