#!/bin/bash
# Runs all programs on a machine with a Hopper GPU, in the folder that build.mjs created. Takes about three and a half
# minutes, and writes the results to $OUT.
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here/out}
work=$(mktemp -d)
mkdir -p "$out" "$work/mufu"
cd "$here" || exit 1
chmod +x runner mufu products counters
begun=$SECONDS
said() { echo "[$((SECONDS - begun)) s] $*" | tee -a "$out/log.txt"; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee -a "$out/log.txt"
nvcc --version | tail -2 | head -1 >>"$out/log.txt"

said "special functions"
timeout 60 ./mufu mufu.cubin "$work/mufu" || said "mufu failed: $?"
(timeout 200 python3 pack.py "$work/mufu" "$out" >"$work/pack.log" 2>&1 || echo "pack failed" >>"$work/pack.log") &
packing=$!
said "products"
timeout 30 ./products "$work/products.bin" || said "products failed: $?"
said "launches"
timeout 30 ./counters launches >"$work/launches.txt" 2>&1 || said "launches failed: $?"
said "trials"
./runner template.cubin trials.bin "$work/trials.out" 60 2>&1 | tee -a "$out/log.txt"
said "neighbors"
./runner template.cubin neighbors.bin "$work/neighbors.out" 40 2>&1 | tee -a "$out/log.txt"
export TMPDIR=$work LC_ALL=C
common="--csv --page raw --print-units base --print-metric-instances none --cache-control none --clock-control none"
shared=l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
for what in ld st; do
  shared=$shared,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_$what.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_$what.sum
done
shared=$shared,memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal,smsp__inst_executed.sum
said "counters of tiles"
timeout 60 ncu $common --metrics $shared ./counters tiles >"$work/tiles.csv" 2>"$work/tiles.err" || said "ncu tiles: $?"
said "counters of kernels"
global=l1tex__t_bytes_pipe_lsu_mem_global_op_ldgsts_cache_access.sum,memory_l1_tag_requests_global,memory_l2_theoretical_sectors_global
for what in ld st; do
  global=$global,l1tex__t_sectors_pipe_lsu_mem_global_op_$what.sum,l1tex__t_requests_pipe_lsu_mem_global_op_$what.sum
done
timeout 50 ncu $common --metrics $shared,$global ./counters kernels >"$work/kernels.csv" 2>"$work/kernels.err" || said "ncu kernels: $?"
said "counters of patterns"
metrics=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
metrics=$metrics,memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal
timeout 60 ncu $common --metrics $metrics ./counters patterns patterns.txt >"$work/patterns.csv" 2>"$work/patterns.err" || said "ncu patterns: $?"
said "disassembly"
timeout 60 python3 pack.py disassemble encodings.bin "$work/disassembly.txt" || said "disassembly failed: $?"
wait $packing
cat "$work/pack.log" >>"$out/log.txt"
said "packing"
cd "$work" && tar cf - trials.out neighbors.out products.bin launches.txt tiles.csv tiles.err kernels.csv kernels.err patterns.csv patterns.err disassembly.txt |
  xz -T0 -6 >"$out/results.tar.xz"
rm -rf "$work"
said "done"
ls -l "$out"
