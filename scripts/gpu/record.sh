#!/usr/bin/env bash
# record.sh LIST BUDGET: records the lines of LIST.txt next to this script, in order, for at most BUDGET seconds.
# A line is NAME|expected SECONDS|ARGUMENTS of `kernel-ladder run`. Names in LIST.done (from earlier calls) are
# skipped. A recording starts only if its expected time is left, and is stopped when the budget is used up, so that
# the call ends by itself. Each session becomes $OUT/NAME.tar.xz as soon as it is complete, its log
# $OUT/NAME.log; names that succeeded are appended to $OUT/LIST.done.
# TARGET (default: local) allows a test without a GPU, such as TARGET=static:h200.
set -u
here=$(cd "$(dirname "$0")" && pwd)
list=$1 budget=$2
begin=$(date +%s)
work=$(mktemp -d)
xz -dc "$here/node.xz" > "$work/node" && chmod +x "$work/node" && xz -dc "$here/kl.mjs.xz" > "$work/kl.mjs" || exit 1
[ -n "${OUT:-}" ] || { echo "OUT is not set."; exit 2; }
touch "$OUT/$list.done"
[ -f "$here/$list.done" ] && cp "$here/$list.done" "$OUT/$list.done"
while IFS='|' read -r name expected args; do
  [ -z "$name" ] && continue
  if grep -qxF "$name" "$OUT/$list.done"; then echo "$name: already recorded"; continue; fi
  start=$(date +%s)
  left=$((budget - (start - begin)))
  if [ "$left" -lt "$expected" ]; then echo "$name: left, $expected s expected, $left s remain"; continue; fi
  # shellcheck disable=SC2086 -- the arguments are words
  timeout -k 5 "$left" "$work/node" "$work/kl.mjs" run --target "${TARGET:-local}" $args --out "$work/$name" \
    > "$OUT/$name.log" 2>&1 < /dev/null
  code=$?
  took=$(($(date +%s) - start))
  if [ "$code" -ne 0 ] || [ ! -f "$work/$name/session.json" ]; then
    echo "$name: not recorded, exit code $code after $took s"; tail -n 3 "$OUT/$name.log" | cut -c1-300; continue
  fi
  # ncu's own report is the largest file, and recordings do not contain it.
  tar -C "$work" --exclude='*.ncu-rep' -cJf "$OUT/$name.tar.xz" "$name"
  size=$(stat -c %s "$OUT/$name.tar.xz")
  if [ "$size" -ge 20000000 ]; then
    echo "$name: not recorded, $size bytes are over the limit of 20 MB"; rm "$OUT/$name.tar.xz"; continue
  fi
  echo "$name" >> "$OUT/$list.done"
  echo "$name: recorded in $took s, $size bytes"
done < "$here/$list.txt"
rm -rf "$work"
