// Shared memory: latency and interval by access width, bank conflicts, LDSM, and atomics.
#pragma once

#include "measure.cuh"

// Loads kWords words per lane and returns the first word, which is the address of the next load.
template <int kWords>
__device__ __forceinline__ uint32_t loadShared(uint32_t at) {
  uint32_t a, b, c, d;
  if (kWords == 1) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(at));
  else if (kWords == 2) asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
  else asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
  return a;
}

struct LoadLdsm {
  static __device__ __forceinline__ uint32_t apply(uint32_t at) {
    uint32_t a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at));
    return a;
  }
};
template <int kWords>
struct LoadWords {
  static __device__ __forceinline__ uint32_t apply(uint32_t at) { return loadShared<kWords>(at); }
};
struct AddShared {
  static __device__ __forceinline__ uint32_t apply(uint32_t at) {
    uint32_t old;
    asm volatile("atom.shared.add.u32 %0, [%1], 0;" : "=r"(old) : "r"(at));
    return old;
  }
};
struct AddSharedFloat {
  static __device__ __forceinline__ uint32_t apply(uint32_t at) {
    float old;
    asm volatile("atom.shared.add.f32 %0, [%1], 0f00000000;" : "=f"(old) : "r"(at));
    return __float_as_uint(old);
  }
};
struct CasShared {
  static __device__ __forceinline__ uint32_t apply(uint32_t at) {
    uint32_t old;
    asm volatile("atom.shared.cas.b32 %0, [%1], %1, %1;" : "=r"(old) : "r"(at));
    return old;
  }
};

// Chases pointers in shared memory. Each word contains its own address, so every lane reads the same word repeatedly.
// The addresses of adjacent lanes are `stride` bytes apart; `lanes` lanes take part.
template <typename Op, int kSteps>
__global__ void chaseShared(int turns, int stride, int lanes, bool matrix, Stamp* stamps, uint32_t* sink) {
  extern __shared__ __align__(128) uint32_t words[];
  const uint32_t base = sharedAddress(words), lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 32; ++i) {
      if (matrix) words[i] = base + i * 16;  // lane i of ldmatrix gets word i of the first eight rows
      else words[i * stride / 4] = base + i * stride;
    }
  }
  __syncthreads();
  uint32_t at = base + lane * (matrix ? 16 : stride);
  if (int(lane) >= lanes) return;
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int step = 0; step < kSteps; ++step) at = Op::apply(at);
  if (at == 1) *sink = at;
  const long long end = clock64();
  keepStamp(stamps, start, end);
}

template <typename Op>
Value sharedCycles(int warps, int stride, int lanes, bool matrix = false) {
  constexpr int kTurns = 16, kShort = 16, kLong = 48;
  const auto run = [&](auto kernel) {
    return blockCycles(warps, [&](Stamp* stamps) {
      kernel<<<1, 32 * warps, 16384>>>(kTurns, stride, lanes, matrix, stamps, nullptr);
    });
  };
  return slope(run(chaseShared<Op, kLong>), run(chaseShared<Op, kShort>), double(kLong - kShort) * kTurns);
}

inline Value perWarp(Value cycles, int warps) { return {cycles.median / warps, cycles.spread / warps}; }

inline void benchShared(const Gpu&) {
  Line("latency.shared").number("bytes", 4).number("ways", 1).value("cycles", sharedCycles<LoadWords<1>>(1, 4, 32));
  Line("latency.shared").number("bytes", 8).number("ways", 1).value("cycles", sharedCycles<LoadWords<2>>(1, 8, 32));
  Line("latency.shared").number("bytes", 16).number("ways", 1).value("cycles", sharedCycles<LoadWords<4>>(1, 16, 32));
  Line("latency.ldsm").number("matrices", 4).value("cycles", sharedCycles<LoadLdsm>(1, 16, 32, true));
  // 32 warps hide the latency, so these are SM cycles per warp instruction.
  Line("interval.shared").number("bytes", 4).number("ways", 1).value("cycles", perWarp(sharedCycles<LoadWords<1>>(32, 4, 32), 32));
  Line("interval.shared").number("bytes", 8).number("ways", 1).value("cycles", perWarp(sharedCycles<LoadWords<2>>(32, 8, 32), 32));
  Line("interval.shared").number("bytes", 16).number("ways", 1).value("cycles", perWarp(sharedCycles<LoadWords<4>>(32, 16, 32), 32));
  Line("interval.ldsm").number("matrices", 4).value("cycles", perWarp(sharedCycles<LoadLdsm>(32, 16, 32, true), 32));
  for (int ways = 2; ways <= 32; ways *= 2) {
    Line("latency.shared").number("bytes", 4).number("ways", ways).value("cycles", sharedCycles<LoadWords<1>>(1, 4 * ways, 32));
    Line("interval.shared").number("bytes", 4).number("ways", ways).value("cycles", perWarp(sharedCycles<LoadWords<1>>(32, 4 * ways, 32), 32));
  }
  for (const int lanes : {1, 2, 4, 8, 16, 32})
    for (const int stride : {0, 4}) {
      const char* where = stride ? "distinct" : "same";
      Line("latency.atomic.shared").text("type", "int").text("addresses", where).number("lanes", lanes).value("cycles", sharedCycles<AddShared>(1, stride, lanes));
      Line("interval.atomic.shared").text("type", "int").text("addresses", where).number("lanes", lanes).value("cycles", perWarp(sharedCycles<AddShared>(16, stride, lanes), 16));
      Line("latency.atomic.shared").text("type", "float").text("addresses", where).number("lanes", lanes).value("cycles", sharedCycles<AddSharedFloat>(1, stride, lanes));
    }
  Line("latency.atomic.shared").text("type", "cas").text("addresses", "distinct").number("lanes", 32).value("cycles", sharedCycles<CasShared>(1, 4, 32));
}
