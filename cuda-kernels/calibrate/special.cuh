// Special registers, constants, branches, and uniform instructions.
#pragma once

#include "measure.cuh"

#include "pipes.cuh"

// Reads the clock before and after an instruction that needs the result, because a special register has no input to
// form a chain. SHFL has a known latency, so its step measures the overhead of the other instructions.
template <bool kSpecial>
__global__ void readSpecial(long long* clocks, uint32_t* sink) {
  long long stamps[17];
  uint32_t x = threadIdx.x;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(stamps[0]));
#pragma unroll
  for (int step = 0; step < 16; ++step) {
    uint32_t read;
    if (kSpecial) asm volatile("mov.u32 %0, %%warpid;" : "=r"(read));
    else asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(read) : "r"(x));
    asm volatile("lop3.b32 %0, %0, %1, %1, 0x2d;" : "+r"(x) : "r"(read));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(stamps[step + 1]));
  }
  if (x == 0xffffffffu) *sink = x;
  if (threadIdx.x == 0)
#pragma unroll
    for (int step = 0; step < 17; ++step) clocks[step] = stamps[step];
}

template <bool kSpecial>
void benchReadSpecial(const char* what) {
  Buffer<long long> clocks(17);
  std::vector<double> gaps;
  for (int i = 0; i < 4; ++i) {
    readSpecial<kSpecial><<<1, 32>>>(clocks.get(), nullptr);
    check(cudaGetLastError(), "reading special registers");
    check(cudaDeviceSynchronize(), "reading special registers");
    const std::vector<long long> all = clocks.read();
    for (int step = 4; i > 0 && step < 16; ++step) gaps.push_back(double(all[step + 1] - all[step]));
  }
  Line("special").text("what", what).value("cycles", valueOf(gaps));
}

// ---- Branches --------------------------------------------------------------------------------

// A loop of kBody dependent FADDs that is not unrolled. The time beyond that of the FADDs is the cost of the branch.
template <int kBody>
__global__ void __launch_bounds__(1024) loopBody(int turns, float add, Stamp* stamps, float* sink) {
  float x = float(threadIdx.x);
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int i = 0; i < kBody; ++i) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(add));
  const long long end = clock64();
  if (x == -1.0f) *sink = x;
  keepStamp(stamps, start, end);
}

template <int kBody>
Value loopCycles(int warps) {
  const auto run = [&](int turns) {
    return blockCycles(warps, [&](Stamp* stamps) { loopBody<kBody><<<1, 32 * warps>>>(turns, 1.0f, stamps, nullptr); });
  };
  return slope(run(768), run(256), 512);
}

template <int... kBodies>
void benchLoops(int warps) {
  (Line("loop").number("warps", warps).number("body", kBodies).value("cycles", loopCycles<kBodies>(warps)), ...);
}

// A loop with or without four branches that are never taken. Each branch has its own predicate and target; otherwise,
// the compiler would remove it.
template <bool kBranches>
__global__ void __launch_bounds__(1024) loopBranches(int turns, uint32_t never, float add, uint32_t* places, Stamp* stamps, float* sink) {
  float x = float(threadIdx.x);
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    if (kBranches)
      asm volatile(
          "{.reg .pred a, b, c, d;\n"
          "setp.eq.u32 a, %1, 1; setp.eq.u32 b, %1, 2; setp.eq.u32 c, %1, 3; setp.eq.u32 d, %1, 4;\n"
          "@a bra OUTA;\n@b bra OUTB;\n@c bra OUTC;\n@d bra OUTD;\nadd.rn.f32 %0, %0, %2;\nbra DONE;\n"
          "OUTA: st.global.u32 [%3], 5;\ntrap;\n"
          "OUTB: st.global.u32 [%3], 6;\ntrap;\n"
          "OUTC: st.global.u32 [%3], 7;\ntrap;\n"
          "OUTD: st.global.u32 [%3], 8;\ntrap;\n"
          "DONE: }"
          : "+f"(x)
          : "r"(never + 100 + threadIdx.x), "f"(add), "l"(places));
    else asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(add));
  }
  const long long end = clock64();
  if (x == -1.0f) *sink = x;
  keepStamp(stamps, start, end);
}

// Each step is a UIADD3, whose operands are equal in all lanes, and a LOP3 that uses its result. With more than 24
// steps, the compiler emits IADDs instead.
template <int kSteps>
__global__ void __launch_bounds__(1024) repeatUniform(int turns, int add, Stamp* stamps, uint32_t* results) {
  uint32_t x = threadIdx.x;
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      asm volatile("lop3.b32 %0, %0, %2, %1, 0x2d;" : "+r"(x) : "r"(turn + add), "r"(turn + add * (step + 1)));
  const long long end = clock64();
  results[threadIdx.x] = x;
  keepStamp(stamps, start, end);
}

// Returns the cycles per step on a sub-core, from the time difference between two code lengths.
inline Value uniformCycles(int warps) {
  constexpr int kTurns = 96;
  Buffer<uint32_t> results(1024);
  const auto run = [&](auto kernel) {
    return blockCycles(4 * warps, [&](Stamp* stamps) { kernel<<<1, 128 * warps>>>(kTurns, 3, stamps, results.get()); });
  };
  return slope(run(repeatUniform<24>), run(repeatUniform<8>), 16.0 * kTurns * warps);
}

inline Value branchCycles(bool with, int warps) {
  const auto run = [&](int turns) {
    return blockCycles(4 * warps, [&](Stamp* stamps) {
      if (with) loopBranches<true><<<1, 128 * warps>>>(turns, 0, 1.0f, nullptr, stamps, nullptr);
      else loopBranches<false><<<1, 128 * warps>>>(turns, 0, 1.0f, nullptr, stamps, nullptr);
    });
  };
  return slope(run(768), run(256), 512.0 * warps);
}

// ---- Constants -------------------------------------------------------------------------------

constexpr int kConstantWords = 12 << 10;
__constant__ uint32_t constantRing[kConstantWords];

// Follows a ring of word offsets in constant memory. Times each load of the first pass, then `steps` loads together.
__global__ void chaseConstant(int stops, int steps, Stamp* stamps, int* firsts, uint32_t* sink) {
  uint32_t at = 0;
  for (int i = 0; i < stops; ++i) {
    const long long start = clock64();
    at = constantRing[at];
    if (at == 0xffffffffu) *sink = at;
    firsts[i] = int(clock64() - start);
  }
  const long long start = clock64();
  for (int i = 0; i < steps; i += 32)
#pragma unroll
    for (int u = 0; u < 32; ++u) at = constantRing[at];
  if (at == 0xffffffffu) *sink = at;
  keepStamp(stamps, start, clock64());
}

inline void benchConstant(int bytes, int stride) {
  const int stops = bytes / stride, steps = 512;
  std::vector<uint32_t> ring(kConstantWords, 0);
  for (int i = 0; i < stops; ++i) ring[i * stride / 4] = uint32_t((i + 1) % stops * stride / 4);
  Buffer<int> firsts(stops);
  std::vector<double> misses;
  const Value hit = perStep(blockCycles(1, [&](Stamp* stamps) {
    check(cudaMemcpyToSymbol(constantRing, ring.data(), sizeof constantRing), "writing constants");
    chaseConstant<<<1, 1>>>(stops, steps, stamps, firsts.get(), nullptr);
    check(cudaDeviceSynchronize(), "reading constants");
    const std::vector<int> all = firsts.read();
    misses.insert(misses.end(), all.begin() + std::min(4, stops - 1), all.end());
  }), steps);
  Line("latency.constant").number("bytes", bytes).number("stride", stride).value("cycles", hit);
  Line("latency.constant.first").number("bytes", bytes).number("stride", stride).value("cycles", valueOf(misses));
}

// Times warp loads of constants at `addresses` distinct addresses.
template <int kSteps>
__global__ void __launch_bounds__(1024) constantLanes(int turns, int addresses, Stamp* stamps, uint32_t* sink) {
  uint32_t at = threadIdx.x % 32 % addresses * 4;
  uint32_t sum = 0;
  for (int i = 0; i < 64; ++i) sum += constantRing[at];
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      // All words are 0, so the address stays the same.
      at += constantRing[at];
    }
  if (at + sum == 0xffffffffu) *sink = at;
  const long long end = clock64();
  keepStamp(stamps, start, end);
}

inline void benchSpecial(const Gpu&) {
  benchReadSpecial<true>("s2r");
  benchReadSpecial<false>("shfl");
  for (const int warps : {1, 32}) {
    benchLoops<1, 4, 8, 16, 32>(warps);
  }
  for (const int warps : {1, 8}) {
    Line("interval.uniform").text("opcode", "UIADD3").number("warps", warps).value("cycles", uniformCycles(warps));
    Line("interval.branch").number("warps", warps).value("cycles", slope(branchCycles(true, warps), branchCycles(false, warps), 4));
  }
  for (const int bytes : {1024, 4096, 16384, 49152}) benchConstant(bytes, 64);
  benchConstant(49152, 256);
  check(cudaMemcpyToSymbol(constantRing, std::vector<uint32_t>(kConstantWords, 0).data(), sizeof constantRing), "writing constants");
  for (const int addresses : {1, 2, 4, 8, 32}) {
    const auto run = [&](auto kernel) {
      return blockCycles(32, [&](Stamp* stamps) { kernel<<<1, 1024>>>(16, addresses, stamps, nullptr); });
    };
    // SM cycles per warp instruction.
    Line("interval.constant").number("addresses", addresses).value("cycles", slope(run(constantLanes<48>), run(constantLanes<16>), 32.0 * 16 * 32));
  }
}
