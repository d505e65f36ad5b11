// The instruction cache: cold straight-line code by length, and loops by size.
#pragma once

#include "launch.cuh"
#include "measure.cuh"

// 8 and 64 independent FFMAs: 128 bytes and 1 KiB of code.
#define EIGHT_FFMA                                                                                    \
  "fma.rn.f32 %0, %0, %8, %8;\nfma.rn.f32 %1, %1, %8, %8;\nfma.rn.f32 %2, %2, %8, %8;\n"             \
  "fma.rn.f32 %3, %3, %8, %8;\nfma.rn.f32 %4, %4, %8, %8;\nfma.rn.f32 %5, %5, %8, %8;\n"             \
  "fma.rn.f32 %6, %6, %8, %8;\nfma.rn.f32 %7, %7, %8, %8;\n"
#define KIB_OF_FFMA EIGHT_FFMA EIGHT_FFMA EIGHT_FFMA EIGHT_FFMA EIGHT_FFMA EIGHT_FFMA EIGHT_FFMA EIGHT_FFMA

__device__ __forceinline__ void runKib(float (&x)[8], float y) {
  asm volatile(KIB_OF_FFMA
               : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]), "+f"(x[4]), "+f"(x[5]), "+f"(x[6]), "+f"(x[7])
               : "f"(y));
}

template <int kKib>
__global__ void __launch_bounds__(1024) loopCode(int turns, float y, Stamp* stamps, float* sink) {
  float x[8];
  for (int c = 0; c < 8; ++c) x[c] = float(threadIdx.x + c);
  long long start = 0;
#pragma unroll 1
  for (int turn = 0; turn <= turns; ++turn) {
    if (turn == 1) start = clock64();
#pragma unroll
    for (int i = 0; i < kKib; ++i) runKib(x, y);
  }
  const long long end = clock64();
  float total = 0;
  for (int c = 0; c < 8; ++c) total += x[c];
  if (total == -1.0f) *sink = total;
  if (stamps && blockIdx.x == 0) keepStamp(stamps, start, end);
}

constexpr int kColdKib = 32;

// One warp executes 32 KiB of straight-line code twice and records the clock after each KiB. Each value of kCopy
// instantiates separate code.
template <int kCopy>
__global__ void coldCode(float y, long long* clocks, float* sink) {
  float x[8];
  for (int c = 0; c < 8; ++c) x[c] = float(threadIdx.x + c);
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    long long stamps[kColdKib + 1];
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(stamps[0]));
#pragma unroll
    for (int i = 0; i < kColdKib; ++i) {
      runKib(x, y);
      asm volatile("mov.u64 %0, %%clock64;" : "=l"(stamps[i + 1]));
    }
    if (threadIdx.x == 0)
#pragma unroll
      for (int i = 0; i <= kColdKib; ++i) clocks[turn * (kColdKib + 1) + i] = stamps[i] - stamps[0];
  }
  float total = 0;
  for (int c = 0; c < 8; ++c) total += x[c];
  if (total == -1.0f) *sink = total;
}

template <int kKib>
void benchLoopCode() {
  for (const int warps : {1, 16}) {
    const Value cycles = blockCycles(warps, [&](Stamp* stamps) { loopCode<kKib><<<1, 32 * warps>>>(8, 0.5f, stamps, nullptr); }, 5);
    Line("icache.loop").number("bytes", kKib * 1024.0).number("warps", warps).value("cycles", perStep(cycles, 8.0 * kKib * 64 * warps));
  }
}

// Elapsed cycles after each KiB of code, for the first and second pass of each launch.
struct Walks {
  std::vector<std::vector<double>> cold{kColdKib}, warm{kColdKib};
  void add(const std::vector<long long>& clocks) {
    for (int k = 0; k < kColdKib; ++k) {
      cold[k].push_back(double(clocks[k + 1] - clocks[0]));
      warm[k].push_back(double(clocks[kColdKib + 2 + k] - clocks[kColdKib + 1]));
    }
  }
  void print(const char* from) const {
    std::vector<double> coldCycles, warmCycles;
    for (int k = 0; k < kColdKib; ++k) coldCycles.push_back(valueOf(cold[k]).median), warmCycles.push_back(valueOf(warm[k]).median);
    Line("icache.cold").text("from", from).number("kibPerStep", 1).numbers("cold", coldCycles).numbers("warm", warmCycles)
        .number("spread", valueOf(cold[kColdKib - 1]).spread);
  }
};

template <int kCopy>
void launchFirst(Walks& walks, const Buffer<long long>& clocks) {
  coldCode<kCopy><<<1, 32>>>(0.5f, clocks.get(), nullptr);
  check(cudaGetLastError(), "measuring new code");
  check(cudaDeviceSynchronize(), "measuring new code");
  walks.add(clocks.read());
}

inline void benchInstructionCache(const Gpu& gpu) {
  const Flush flush(gpu);
  Buffer<long long> clocks(2 * (kColdKib + 1));
  Walks first;
  launchFirst<1>(first, clocks);
  launchFirst<2>(first, clocks);
  launchFirst<3>(first, clocks);
  launchFirst<4>(first, clocks);
  launchFirst<5>(first, clocks);
  first.print("first launch");
  for (const bool fromL2 : {true, false}) {
    Walks walks;
    for (int i = 0; i < 9; ++i) {
      coldCode<0><<<1, 32>>>(0.5f, clocks.get(), nullptr);  // brings the code into L2
      // Evicts the code from the instruction caches.
      loopCode<256><<<4 * gpu.sms(), 32>>>(3, 0.5f, nullptr, nullptr);
      loopCode<192><<<4 * gpu.sms(), 32>>>(3, 0.5f, nullptr, nullptr);
      if (!fromL2) flush();
      coldCode<0><<<1, 32>>>(0.5f, clocks.get(), nullptr);
      check(cudaGetLastError(), "measuring cold code");
      check(cudaDeviceSynchronize(), "measuring cold code");
      walks.add(clocks.read());
    }
    walks.print(fromL2 ? "l2" : "dram");
  }
  benchLoopCode<4>();
  benchLoopCode<8>();
  benchLoopCode<16>();
  benchLoopCode<24>();
  benchLoopCode<32>();
  benchLoopCode<48>();
  benchLoopCode<64>();
  benchLoopCode<96>();
  benchLoopCode<112>();
  benchLoopCode<128>();
  benchLoopCode<144>();
  benchLoopCode<160>();
  benchLoopCode<192>();
  benchLoopCode<256>();
}
