#!/usr/bin/env bash
# Tests the runner on a GPU with nvcc. Builds the runner, rungs of the built-in task, and the small
# tasks of runner-cases/, and compares the runner's output with the expected output. Some cases must
# pass. In the other cases, the runner must find one fault of each kind. Run this script manually.
# Prints one line per expectation, and exits with 1 if an expectation is not met. Tests that need no
# GPU run first. If there is no GPU, the other tests are skipped and the exit code is 3.
#
#     bash runner-cases.sh [folder to build in]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kernels=$here/../../cuda-kernels
task=$here/../captures/task/gemm
build=${1:-$(mktemp -d)}
mkdir -p "$build"
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d . || true)
sm=${capability:-90}
[[ $sm -lt 90 ]] || sm=${sm}a
failures=0

# ---- Builds, one per core ----------------------------------------------------------------------

library=(nvcc -std=c++17 -O3 -shared -Xcompiler -fPIC -gencode "arch=compute_$sm,code=sm_$sm" -I "$kernels/include" -I "$task")
jobs=()
compile() { # output, words of the command
  local output=$build/$1
  shift
  jobs+=("$(printf '%q ' "$@" -o "$output") || { rm -f $(printf %q "$output"); exit 255; }")
}
rung() { # source, default parameters
  compile "$(basename "$1" .cu).so" "${library[@]}" \
    $(sed -n 's#^// @param *\([A-Za-z_0-9]*\) \([0-9]*\).*#-D\1=\2#p' "$kernels/gemm/$1") "$kernels/gemm/$1" -ldl
}
small() { # output, source in runner-cases, macros
  local output=$1 source=$2
  shift 2
  compile "$output.so" "${library[@]}" "$@" "$here/runner-cases/$source.cu"
}
compile kl-runner nvcc -std=c++17 -O2 -gencode arch=compute_75,code=compute_75 -I "$kernels/include" \
  "$kernels/runner/main.cu" -ldl -lpthread
compile pure nvcc -std=c++17 -O2 -arch=sm_90 "$here/runner-cases/pure.cu"
if [[ -n $capability ]]; then
  f32=(01_naive 12_rasterized 14_shape_dispatch) epilogue=(23_fused_epilogue 22_unfused_epilogue) f16=(54_mma_sync)
  for id in "${f32[@]}" "${epilogue[@]}" "${f16[@]}"; do rung "$id.cu"; done
  compile reference.so "${library[@]}" "$kernels/gemm/reference.cu"
  small softmax softmax
  small softmax-poison softmax -DFAULT=1
  small softmax-fails softmax -DFAULT=2
  small softmax-reference softmax -DREFERENCE
  small softmax-slow softmax -DREFERENCE -DSLOW
  small histogram histogram
  small histogram-wrong histogram -DFAULT
  small histogram-reference histogram -DREFERENCE
  small layer-norm layer-norm
  small layer-norm-wrong layer-norm -DFAULT
  small layer-norm-reference layer-norm -DREFERENCE
  small copy copy
  small copy-wrong copy -DFAULT
  small copy-reference copy -DREFERENCE
  faults=(right beyond before writes-input wrong-at-one reads-beyond breaks-context lazy replays)
  for fault in "${!faults[@]}"; do small "axpy-${faults[fault]}" axpy "-DFAULT=$fault"; done
  small axpy-reference axpy -DREFERENCE
  small axpy-ones axpy -DREFERENCE -DONES
  small axpy-leaves axpy -DREFERENCE -DLEAVES
  small reader reader
  small reader-dirty reader -DDIRTY
  ways=(given default per-thread blocking non-blocking forked half new-stream graph graph-elsewhere capture other-thread
    copy-only once callback slow-host slow-host-later stalls synchronizes allocates)
  for how in "${!ways[@]}"; do small "streams-${ways[how]}" streams "-DHOW=$how"; done
fi
printf '%s\0' "${jobs[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c '{}'
runner=$build/kl-runner

# ---- Expectations ------------------------------------------------------------------------------

verdict() { # 0 if the expectation is met; description
  if [[ $1 == 0 ]]; then echo "ok      $2"; else echo "WRONG   $2"; failures=$((failures + 1)); fi
}
# Runs the runner with `args` and writes the events to $log.
log=$build/events.log
run() { # description, expected exit code
  local code=0
  timeout 120 "$runner" "${args[@]}" >"$log" 2>"$build/stderr.log" || code=$?
  verdict $((code != $2)) "$1: exit code $code, expected $2"
}
says() { # event, rung or - for none, texts in the event line …
  local event=$1 rung=$2 line missing=
  shift 2
  local named="\"rung\":\"$rung\""
  [[ $rung != - ]] || named=
  line=$({ grep -F "\"event\":\"$event\"" "$log" || true; } | { grep -F -e "$named" || true; } | head -1)
  for part in "$@"; do [[ $line == *"$part"* ]] || missing=$part; done
  verdict "$([[ -n $line && -z $missing ]]; echo $?)" "$event of $rung: ${line:-none}${missing:+, expected $missing}"
}

verdict "$("$build/pure" >/dev/null; echo $?)" "small floats, permutations and uniform values"

# ---- Arguments that are rejected before the search for a GPU -----------------------------------

refused=bad-argument # the kind of error
refuses() { # text in the error message, arguments …
  local message=$1
  shift
  args=("$@")
  run "$message" 2
  says error - "\"kind\":\"$refused\"" "$message"
}
one="--case one --struct 16 --field 0:buffer:x --field 8:i64:4 --buffer x:f32:in:4:zero"
refuses 'the command must be' climb
refuses '--results is required' blind $one --rung r=/none.so
refuses '--results is required' check $one --buffer y:f32:out:4 --check y:exact --reference-rung r --rung r=/none.so
refuses '--results does not apply' measure $one --results /none --rung r=/none.so
refuses 'at least one --case is required' measure --rung r=/none.so
refuses 'at least one --rung is required' measure $one
refuses 'belongs to a --case' measure --struct 8
refuses 'was given twice' measure $one --case one
refuses '--struct was given twice' measure $one --struct 16
refuses 'x was given twice' profile $one --rung r=/none.so --field 0:buffer:x --buffer x:f32:in:4:zero
refuses 'overlaps another field' profile $one --field 12:i32:1 --rung r=/none.so
refuses 'not aligned' profile --case one --struct 16 --field 4:i64:1 --rung r=/none.so
refuses 'lies beyond' profile --case one --struct 16 --field 16:i64:1 --rung r=/none.so
refuses 'not one of its buffers' profile $one --check y:exact --rung r=/none.so
refuses 'which no rung writes' profile $one --check x:exact --rung r=/none.so
refuses 'there is nothing to check' measure $one --rung r=/none.so
refuses 'is required for y' measure $one --buffer y:f32:out:4 --reference-rung r --rung r=/none.so
refuses 'needs its scale' measure $one --buffer y:f32:out:4 --check y:bound,1 --reference-rung r --rung r=/none.so
refuses 'is not one of the rungs of the case' measure $one --reference-rung q --rung r=/none.so
refuses 'is not a --case' measure $one --reference-rung r --rung r=/none.so --rung-case r=two
refuses 'the dtype must be one of' measure --case one --buffer x:f8:in:4:zero
refuses 'takes no fill' measure --case one --buffer x:f32:out:4:zero
refuses 'needs a fill' measure --case one --buffer x:f32:in:4
refuses 'must be an integer from 1' measure --case one --buffer x:f32:in:4x0:zero
refuses 'more than 2^56 elements' measure --case one --buffer x:f32:in:1073741824x1073741824:zero
refuses 'from a lower value to a higher' measure --case one --buffer x:f32:in:4:uniform,1,1
refuses 'must be an integer from -128 to 127' measure --case one --buffer x:i8:in:4:constant,200
refuses 'does not fit into u8' measure --case one --buffer x:u8:in:257:permutation
refuses 'floating-point buffers only' measure --case one --buffer x:u8:in:4:normal,0,1
refused=file
refuses 'cannot be opened' measure --case one --buffer "x:f32:in:4:file,$build/no,such:file.npy"
npy() { # file, descr, shape, data in printf format
  local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n'"$4" "$header" >"$build/$1"
}
npy ones.npy '<f4' '2, 3' "$(printf '\\x00\\x00\\x80\\x3f%.0s' 1 2 3 4 5 6)"
npy short.npy '<f4' '2, 3' '\x00'
refuses "holds '<f4', the buffer is f64" measure --case one --buffer "x:f64:in:2x3:file,$build/ones.npy"
refuses 'has the shape (2, 3)' measure --case one --buffer "x:f32:in:3x2:file,$build/ones.npy"
refuses 'ends within its data' measure --case one --buffer "x:f32:in:2x3:file,$build/short.npy"

finish() {
  echo
  if [[ $failures == 0 ]]; then echo "All as expected."; else echo "$failures not as expected."; exit 1; fi
}
if [[ -z $capability ]]; then
  finish
  echo "There is no GPU here: only what needs none was tried."
  exit 3
fi

# ---- The built-in task -------------------------------------------------------------------------

# Appends a matrix-product case to `args`, as in gemm/task.yaml.
gemm_case() { # name m n k alpha beta dtype bias relu
  local m=$2 n=$3 k=$4 alpha=$5 beta=$6 dtype=0 access=out
  [[ $7 == f16 ]] && dtype=1
  [[ $7 == bf16 ]] && dtype=2
  [[ $beta == 0 ]] || access=inout
  args+=(--case "$1" --struct 96 --reference-library "$build/reference.so" --reference-struct 104)
  args+=(--field "56:i32:$dtype" --field 32:buffer:a --field 40:buffer:b --field 48:buffer:c)
  args+=(--field 64:workspace --field 72:workspace-bytes --reference-field "32:i32:$dtype")
  for option in --field --reference-field; do
    args+=($option "0:i64:$m" $option "8:i64:$n" $option "16:i64:$k" $option "24:f32:$alpha" $option "28:f32:$beta")
  done
  args+=(--buffer "a:$7:in:${m}x$k:uniform,-1,1" --buffer "b:$7:in:${k}x$n:uniform,-1,1")
  args+=(--buffer "c:f32:$access:${m}x$n$([[ $beta == 0 ]] || echo :uniform,-1,1)" --stream a:0 --stream b:1 --stream c:2)
  args+=(--reference-field 40:in:a --reference-field 48:in:b --reference-field 56:in:c --reference-field 64:out:c)
  args+=(--reference-field 72:scale:c --reference-field 88:progress --reference-field 96:sm-count)
  args+=(--check "c:bound,$(awk "BEGIN { printf \"%.17g\", 4 * sqrt($k) * 2 ^ -24 }")")
  [[ $8 == 0 ]] || args+=(--buffer "bias:f32:in:$n:uniform,-1,1" --stream bias:3 --field 80:buffer:bias --reference-field 80:in:bias)
  [[ $9 == 0 ]] || args+=(--field 88:i32:1 --reference-field 36:i32:1)
}
fast=(--max-seconds 0.02 --max-samples 5)
for shape in "1023 777 1111 1.5 0.5" "1023 777 1111 1 0" "1 129 7 1 0" "4096 4096 4096 1 0"; do
  echo "# matrix product, $shape"
  args=()
  for id in "${f32[@]}"; do args+=(--rung "$id=$build/$id.so"); done
  for id in "${epilogue[@]}"; do args+=(--rung "$id=$build/$id.so" --rung-case "$id=bias and relu"); done
  for id in "${f16[@]}"; do
    for dtype in f16 bf16; do args+=(--rung "$id.$dtype=$build/$id.so" --rung-case "$id.$dtype=$dtype"); done
  done
  gemm_case f32 $shape f32 0 0
  gemm_case f16 $shape f16 0 0
  gemm_case bf16 $shape bf16 0 0
  gemm_case 'bias and relu' $shape f32 1 1
  all=("${f32[@]}" "${epilogue[@]}" "${f16[@]/%/.f16}" "${f16[@]/%/.bf16}") both=("${args[@]}")
  args=(measure --reference 12_rasterized "${fast[@]}" "${both[@]}")
  run measure 0
  for id in "${all[@]}"; do
    says verify "$id" '"passed":true' '"mismatches":0' '"firstMismatch":null' '"outOfBoundsBuffers":[]' '"changedInputs":[]'
    says timing "$id" '"medianMs":'
    says launches "$id" '"reason":null'
  done
  args=(profile "${both[@]}")
  run profile 0
  for id in "${all[@]}"; do says profiled "$id" '"seconds":'; done
  args=(sanitize "${both[@]}")
  run sanitize 0
  for id in "${all[@]}"; do says launched "$id"; done
done

echo "# more memory than there is"
args=(measure --rung "r=$build/01_naive.so")
gemm_case f32 1048576 1048576 1048576 1 0 f32 0 0
run "out of memory" 2
says error - '"kind":"out-of-memory"' '"neededBytes":' '"freeBytes":'

# ---- Other tasks -------------------------------------------------------------------------------

rungs() { # id of a library …
  for id in "$@"; do args+=(--rung "$id=$build/$id.so"); done
}

echo "# softmax: a tolerance, a reference over host memory"
softmax=(--case rows --struct 32 --field 0:i64:300 --field 8:i64:1000 --field 16:buffer:x --field 24:buffer:y
  --buffer x:f32:in:300x1000:normal,0,3 --buffer y:f32:out:300x1000 --check y:tolerance,1e-5,1e-7)
reads=(--reference-struct 40 --reference-field 0:i64:300 --reference-field 8:i64:1000 --reference-field 16:in:x
  --reference-field 24:out:y --reference-field 32:progress)
args=(measure "${fast[@]}" "${softmax[@]}" "${reads[@]}" --reference-library "$build/softmax-reference.so")
rungs softmax softmax-poison softmax-fails
run softmax 0
verdict "$(grep -qF '"event":"start","rung":null,"case":"rows","stage":"reference"' "$log"; echo $?)" "the reference is named before it runs"
says verify softmax '"passed":true'
says verify softmax-poison '"passed":false' '"worstRelativeError":null' '"mismatches":300000' \
  '"firstMismatch":{"buffer":"y","index":[0,0]' '"actual":null' '"outOfBounds":false'
says failed softmax-fails '"stage":"verify"' '"fatal":false'

args=(measure "${fast[@]}" "${softmax[@]}" "${reads[@]}" --reference-library "$build/softmax-slow.so")
rungs softmax
run "a slow reference" 0
says progress - '"stage":"reference"' '"case":"rows"' '"fraction":0.'
verdict "$([[ $(grep -c '"stage":"reference","case":"rows","fraction"' "$log") -ge 10 ]]; echo $?)" "a slow reference says often how far it is"

echo "# softmax: checked against a rung"
args=(measure "${fast[@]}" "${softmax[@]}" --reference-rung softmax)
rungs softmax-poison softmax
run "a trusted rung" 0
says verify softmax '"passed":true' '"worstRelativeError":0'
says verify softmax-poison '"passed":false' '"mismatches":300000'
args=(measure "${fast[@]}" "${softmax[@]}" --reference-rung softmax-fails)
rungs softmax softmax-fails
run "a trusted rung that fails" 0
says failed softmax-fails '"stage":"verify"'
says failed softmax '"stage":"verify"' 'checked against softmax-fails'

echo "# histogram: exact, of integers, over counts that are zero before each launch; with a workspace"
args=(measure "${fast[@]}" --case bytes --struct 40 --field 0:i64:1000003 --field 8:buffer:values --field 16:buffer:counts
  --field 24:workspace --field 32:workspace-bytes --buffer values:u8:in:1000003:uniform,0,255 --buffer counts:u32:inout:256:zero
  --reference-library "$build/histogram-reference.so" --reference-struct 32 --reference-field 0:i64:1000003
  --reference-field 8:in:values --reference-field 16:in:counts --reference-field 24:out:counts --check counts:exact)
rungs histogram histogram-wrong
run histogram 0
says verify histogram '"passed":true' '"worstToleranceRatio":0,'
says verify histogram-wrong '"passed":false' '"worstToleranceRatio":null' '"mismatches":2' '"buffer":"counts"'
args=("${args[@]/histogram-reference/axpy-right}")
run "a library that is no reference" 2
says error - '"kind":"reference"' 'defines neither kl_reference nor kl_reference_device'

echo "# layer norm: two outputs of two types, a bound and a tolerance, a reference over device memory"
args=(measure "${fast[@]}" --case rows --struct 48 --field 0:i64:1000 --field 8:i64:333 --field 16:f64:1e-5 --field 24:buffer:x
  --field 32:buffer:y --field 40:buffer:rstd --buffer x:f16:in:1000x333:uniform,-2,2 --buffer y:f16:out:1000x333
  --buffer rstd:f32:out:1000 --check y:bound,0.001 --check rstd:tolerance,1e-4,0
  --reference-library "$build/layer-norm-reference.so" --reference-struct 64 --reference-field 0:i64:1000
  --reference-field 8:i64:333 --reference-field 16:f64:1e-5 --reference-field 24:in:x --reference-field 32:out:y
  --reference-field 40:scale:y --reference-field 48:out:rstd --reference-field 56:sm-count)
rungs layer-norm layer-norm-wrong
run "layer norm" 0
says verify layer-norm '"passed":true'
says verify layer-norm-wrong '"passed":false' '"mismatches":1,' '"firstMismatch":{"buffer":"rstd","index":[17]'

echo "# axpy: in place, and what a rung must not do"
axpy=(--case vectors --struct 40 --field 0:i64:37 --field 8:i64:41 --field 16:f32:0.5 --field 24:buffer:x --field 32:buffer:y
  --buffer x:f32:in:37x41:uniform,-1,1 --buffer y:f32:inout:37x41:iota --check y:tolerance,1e-6,1e-6)
reads=(--reference-struct 48 --reference-field 0:i64:37 --reference-field 8:i64:41 --reference-field 16:f32:0.5
  --reference-field 24:in:x --reference-field 32:in:y --reference-field 40:out:y)
args=(measure "${fast[@]}" "${axpy[@]}" "${reads[@]}" --reference-library "$build/axpy-reference.so")
rungs axpy-beyond axpy-before axpy-writes-input axpy-wrong-at-one axpy-reads-beyond axpy-right axpy-breaks-context
run axpy 4
says verify axpy-beyond '"passed":false' '"mismatches":0' '"outOfBounds":true,"outOfBoundsBuffers":["y"]' '"changedInputs":[]'
says verify axpy-before '"passed":false' '"mismatches":0' '"outOfBounds":true,"outOfBoundsBuffers":["x"]'
says verify axpy-writes-input '"passed":false' '"outOfBounds":false' '"changedInputs":["x"]'
says verify axpy-wrong-at-one '"passed":false' '"mismatches":1,' '"firstMismatch":{"buffer":"y","index":[3,5],' '"actual":1234.5}'
says verify axpy-reads-beyond '"passed":false' '"mismatches":1,' '"index":[36,40]' '"actual":null' '"outOfBounds":false'
says verify axpy-right '"passed":true'
says timing axpy-right '"medianMs":'
says failed axpy-breaks-context '"stage":"verify"' '"fatal":true'

# Time in one process and verify in another, to find launches that are wrong only if they are not verified.
echo "# blind: results of timed launches, with inputs that change"
for which in right lazy replays wrong-at-one writes-input beyond; do
  passed=false
  [[ $which != right ]] || passed=true
  rm -rf "$build/results" && mkdir "$build/results"
  args=(blind --results "$build/results" "${fast[@]}" "${axpy[@]}" "${reads[@]}" --reference-library "$build/axpy-reference.so")
  rungs "axpy-$which"
  run "blind $which" 0
  says timing "axpy-$which" '"medianMs":' '"referenceMedianMs":null'
  args=(check --results "$build/results" "${axpy[@]}" "${reads[@]}" --reference-library "$build/axpy-reference.so")
  rungs "axpy-$which"
  run "check $which" 0
  says verify "axpy-$which" "\"passed\":$passed"
done
args=(measure "${fast[@]}" --bursts 1 "${axpy[@]}" "${reads[@]}" --reference-library "$build/axpy-reference.so")
rungs axpy-right
run "bursts" 0
says burst axpy-right '"launches":8,' '"restSeconds":1,' '"medianMs":'
args=(measure "${fast[@]}" --sustained 1 "${axpy[@]}" "${reads[@]}" --reference-library "$build/axpy-reference.so")
rungs axpy-right
run "sustained" 0
says sustained axpy-right '"seconds":1,' '"medianMs":' '"medianPowerW":'
args=(measure "${fast[@]}" "${axpy[@]}" "${reads[@]}" --reference-library "$build/axpy-leaves.so")
rungs axpy-right
run "a reference that leaves an element out" 2
says error - '"kind":"reference"' 'leaves y[36][40] NaN'

echo "# a copy, of every type, of every fill"
copy_case() { # name dtype element-bytes count shape fill check
  args+=(--case "$1" --struct 32 --field "0:i64:$4" --field "8:i64:$3" --field 16:buffer:x --field 24:buffer:y
    --buffer "x:$2:in:$5:$6" --buffer "y:$2:out:$5" --check "y:$7")
  [[ $7 != exact ]] || args+=(--reference-library "$build/copy-reference.so" --reference-struct 32
    --reference-field "0:i64:$4" --reference-field "8:i64:$3" --reference-field 16:in:x --reference-field 24:out:y)
  [[ $7 == exact ]] || args+=(--reference-rung "$1")
}
for type in f64:8:normal,1,2 f32:4:uniform,0,10 f16:2:normal,0,100 bf16:2:constant,-1.5 e4m3:1:uniform,-400,400 \
  e5m2:1:normal,0,1 i8:1:uniform,-128,127 i16:2:uniform,-5,5 i32:4:permutation i64:8:permutation u8:1:zero \
  u16:2:constant,65535 u32:4:permutation u64:8:uniform,0,9223372036854775807; do
  IFS=: read -r dtype bytes fill <<<"$type"
  args=(measure "${fast[@]}")
  copy_case counted "$dtype" "$bytes" 8 2x4 iota exact
  copy_case filled "$dtype" "$bytes" 300000 300x1000 "$fill" exact
  copy_case trusted "$dtype" "$bytes" 300000 300x1000 "$fill" tolerance,0,0
  rungs copy copy-wrong
  for name in filled trusted; do args+=(--rung "$name=$build/copy.so" --rung-case "$name=$name"); done
  args+=(--case unused --struct 8)
  run "$type" 0
  says verify copy '"passed":true' '"worstToleranceRatio":0,'
  says verify copy-wrong '"passed":false' '"mismatches":1,' '"index":[1,1],"expected":5,'
  says verify filled '"passed":true'
  says verify trusted '"passed":true'
done

echo "# every way to launch: 64 MiB copied, timed or refused"
copied=16777216
args=(measure --max-seconds 0.2)
copy_case copied f32 4 $copied $copied iota exact
for way in "${ways[@]}"; do args+=(--rung "$way=$build/streams-$way.so"); done
run "every way to launch" 0
milliseconds() { # rung, field of the timing event
  { grep -F '"event":"timing"' "$log" || true; } | { grep -F "\"rung\":\"$1\"" || true; } | sed -n "s/.*\"$2\":\([0-9.e-]*\).*/\1/p"
}
near() { # a, b, allowed relative difference, description
  verdict "$(awk -v a="$1" -v b="$2" -v share="$3" 'BEGIN { exit !(a > 0 && b > 0 && a / b < 1 + share && b / a < 1 + share) }'; echo $?)" \
    "$4: $1 and $2 ms, within $3"
}
given=$(milliseconds given medianMs)
for way in default per-thread blocking non-blocking forked half new-stream graph graph-elsewhere capture copy-only slow-host slow-host-later stalls; do
  says timing "$way" '"cacheState":"cold"' '"includesHost":false'
  near "$(milliseconds "$way" medianMs)" "$given" 0.12 "$way takes as long as on the given stream"
done
for way in given default per-thread non-blocking graph; do says launches "$way" '"grid":[528,1,1]' '"block":[512,1,1]' '"reason":null'; done
for way in synchronizes allocates; do says timing "$way" '"includesHost":true'; done
says failed other-thread 'another thread'
says failed once 'launched nothing'
says failed callback 'host callback'

echo "# a cold L2: 256 MiB read, alone and after a launch that overwrites as much"
read=67108864
reader=(--max-seconds 1 --case read --struct 40 --field "0:i64:$read" --field 8:buffer:x --field 16:buffer:y --field 24:workspace
  --field 32:workspace-bytes --buffer "x:f32:in:$read:uniform,-1,1" --buffer y:f32:out:1 --check y:tolerance,1,1e6 --reference-rung reader)
for warm in '' --warm; do
  args=(measure $warm --reference reader "${reader[@]}")
  rungs reader
  run "a read alone $warm" 0
  alone=$(milliseconds reader medianMs)
  args=(measure $warm --reference reader-dirty "${reader[@]}")
  rungs reader-dirty reader
  run "a read after a write $warm" 0
  [[ $warm ]] && echo "        warm: alone $alone ms, after a write $(milliseconds reader medianMs) ms" && continue
  near "$(milliseconds reader medianMs)" "$alone" 0.02 "a cold read"
done

echo "# a buffer that a file fills"
axpy=("${axpy[@]//37/2}") axpy=("${axpy[@]//41/3}") reads=("${reads[@]//37/2}") reads=("${reads[@]//41/3}")
for fill in x y; do
  filled=()
  for word in "${axpy[@]}"; do
    [[ $word == "$fill":f32:* ]] && word="${word%:*}:file,$build/ones.npy"
    filled+=("$word")
  done
  reference=axpy-reference
  [[ $fill == y ]] || reference=axpy-ones
  args=(measure "${fast[@]}" "${filled[@]}" "${reads[@]}" --reference-library "$build/$reference.so")
  rungs axpy-writes-input axpy-right
  run "$fill from a file" 0
  says verify axpy-right '"passed":true' '"mismatches":0'
  [[ $fill == y ]] || says verify axpy-writes-input '"changedInputs":["x"]'
done
finish
