// WGMMA (sm_90a): cycles per instruction by N with one and two warpgroups, the shortest issue-and-wait time, the issue
// times within a group, and the clock with all tensor cores busy.
#pragma once

#include "clock.cuh"
#include "measure.cuh"

#include "../include/kl_hopper.cuh"

#define WGMMA(Name, TYPE, KIND, N, K, NAMES, SUMS, SUMCOUNT, A, B, TAIL)                                        \
  struct Name {                                                                                                 \
    static constexpr const char* type = KIND;                                                                   \
    static constexpr int n = N, k = K, sums = SUMCOUNT;                                                         \
    static __device__ __forceinline__ void apply(float (&d)[SUMCOUNT], uint64_t a, uint64_t b) {                \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k" #K ".f32." TYPE "." TYPE " {" NAMES "}, " A ", " B \
                   ", 1, 1, 1" TAIL ";"                                                                         \
                   : SUMS                                                                                       \
                   : "l"(a), "l"(b));                                                                           \
    }                                                                                                           \
  };

#define NAMES_4 "%0, %1, %2, %3"
#define NAMES_16 KL_FIRST_TEN "%10, %11, %12, %13, %14, %15"
#define SUMS_4 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define SUMS_16 KL_SUMS_8(0), KL_SUMS_8(8)

WGMMA(F16N8, "f16", "f16", 8, 16, NAMES_4, SUMS_4, 4, "%4", "%5", ", 0, 0")
WGMMA(F16N32, "f16", "f16", 32, 16, NAMES_16, SUMS_16, 16, "%16", "%17", ", 0, 0")
WGMMA(F16N64, "f16", "f16", 64, 16, KL_NAMES_32, KL_SUMS_32(0), 32, "%32", "%33", ", 0, 0")
WGMMA(F16N128, "f16", "f16", 128, 16, KL_NAMES_64, KL_SUMS_64(0), 64, "%64", "%65", ", 0, 0")
WGMMA(F16N256, "f16", "f16", 256, 16, KL_NAMES_128, KL_SUMS_128(0), 128, "%128", "%129", ", 0, 0")
WGMMA(Bf16N256, "bf16", "bf16", 256, 16, KL_NAMES_128, KL_SUMS_128(0), 128, "%128", "%129", ", 0, 0")
WGMMA(Tf32N256, "tf32", "tf32", 256, 8, KL_NAMES_128, KL_SUMS_128(0), 128, "%128", "%129", "")
WGMMA(Fp8N8, "e4m3", "fp8", 8, 32, NAMES_4, SUMS_4, 4, "%4", "%5", "")
WGMMA(Fp8N64, "e4m3", "fp8", 64, 32, KL_NAMES_32, KL_SUMS_32(0), 32, "%32", "%33", "")
WGMMA(Fp8N128, "e4m3", "fp8", 128, 32, KL_NAMES_64, KL_SUMS_64(0), 64, "%64", "%65", "")
WGMMA(Fp8N256, "e4m3", "fp8", 256, 32, KL_NAMES_128, KL_SUMS_128(0), 128, "%128", "%129", "")

// A and B: 64 and 256 rows of 128 bytes, swizzled. All warpgroups use the same operands, so descriptors are uniform.
constexpr int kTileA = 64 * 128, kTileB = 256 * 128, kWgmmaShared = kTileA + kTileB + 1024;

// Fills the operands with small random 16-bit values, or with any FP8 values except NaN.
__device__ inline void fillOperands(unsigned char* shared) {
  uint32_t* words = reinterpret_cast<uint32_t*>(shared);
  for (unsigned i = threadIdx.x; i < kWgmmaShared / 4; i += blockDim.x) words[i] = (mixBits(i) & 0xbbffbbffu);
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
  __syncthreads();
}

struct Operands {
  uint64_t a, b;  // matrix descriptors
};

__device__ __forceinline__ Operands operandsIn(const unsigned char* shared) {
  const uint32_t base = (sharedAddress(shared) + 1023) & ~1023u;
  return {klDescriptorA(base), klDescriptorA(base + kTileA)};
}

// Uses the sums, so the compiler cannot remove the products.
template <int kSums>
__device__ __forceinline__ void keepSums(const float (&d)[kSums], float* sink) {
  float total = 0;
  for (int i = 0; i < kSums; ++i) total += d[i];
  if (total == -1.0f) *sink = total;
}

// Repeats `turns` times: kCount products in one group, then a wait for the group.
template <typename Op, int kCount>
__device__ __forceinline__ void repeatWgmma(int turns, float (&d)[Op::sums], uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    klWgmmaFence();
#pragma unroll
    for (int i = 0; i < kCount; ++i) Op::apply(d, a + (i % 4) * 2, b + (i % 4) * 2);
    klWgmmaCommit();
    klWgmmaWait<0>();
  }
#endif
}

template <typename Op, int kCount>
__global__ void __launch_bounds__(256) timeWgmma(int turns, Stamp* stamps, float* sink) {
  extern __shared__ __align__(1024) unsigned char shared[];
  fillOperands(shared);
  float d[Op::sums] = {};
  const Operands in = operandsIn(shared);
  __syncthreads();
  const long long start = clock64();
  repeatWgmma<Op, kCount>(turns, d, in.a, in.b);
  const long long end = clock64();
  keepStamp(stamps, start, end);
  keepSums(d, sink);
}

template <typename Op>
void benchWgmmaShape() {
  constexpr int kShort = 4, kLong = 20, kTurns = 32;
  for (int groups = 1; groups <= 2; ++groups) {
    const auto run = [&](auto kernel, int turns) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kWgmmaShared), "shared memory");
      return blockCycles(4 * groups,
                         [&](Stamp* stamps) { kernel<<<1, 128 * groups, kWgmmaShared>>>(turns, stamps, nullptr); });
    };
    const Value interval = slope(run(timeWgmma<Op, kLong>, kTurns), run(timeWgmma<Op, kShort>, kTurns),
                                 double(kLong - kShort) * kTurns * groups);
    Line("interval.wgmma")
        .text("type", Op::type)
        .number("n", Op::n)
        .number("k", Op::k)
        .number("macs", 64.0 * Op::n * Op::k)
        .number("warpgroups", groups)
        .value("cycles", interval);
    if (groups == 1)
      Line("latency.wgmma")
          .text("type", Op::type)
          .number("n", Op::n)
          .value("cycles", slope(run(timeWgmma<Op, 1>, 3 * kTurns), run(timeWgmma<Op, 1>, kTurns), 2.0 * kTurns));
  }
}

template <typename... Ops>
void benchWgmmaShapes() {
  (benchWgmmaShape<Ops>(), ...);
}

// Reads the clock before each product of a group, before the commit, and after the wait for the group. The last of three
// turns is kept, because the first one fills the instruction cache.
template <typename Op, int kCount>
__global__ void __launch_bounds__(256) issueWgmma(uint32_t* cycles, float* sink) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char shared[];
  fillOperands(shared);
  float d[Op::sums] = {};
  const Operands in = operandsIn(shared);
  uint32_t clocks[kCount + 2];
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {
    __syncthreads();
    klWgmmaFence();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      asm volatile("mov.u32 %0, %%clock;" : "=r"(clocks[i]));
      Op::apply(d, in.a + (i % 4) * 2, in.b + (i % 4) * 2);
    }
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clocks[kCount]));
    klWgmmaCommit();
    klWgmmaWait<0>();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clocks[kCount + 1]));
  }
  if (threadIdx.x == 0)
#pragma unroll
    for (int i = 0; i < kCount + 2; ++i) cycles[i] = clocks[i] - clocks[0];
  keepSums(d, sink);
#endif
}

// Prints the cycle of each issue since the start of the group, and the cycle at which the group's wait ends.
template <typename... Ops>
void benchWgmmaIssue() {
  constexpr int kCount = 12;
  const auto bench = [&](auto op) {
    using Op = decltype(op);
    const auto kernel = issueWgmma<Op, kCount>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kWgmmaShared), "shared memory");
    Buffer<uint32_t> cycles(kCount + 2);
    kernel<<<1, 128, kWgmmaShared>>>(cycles.get(), nullptr);
    check(cudaGetLastError(), "issuing WGMMA");
    check(cudaDeviceSynchronize(), "issuing WGMMA");
    const std::vector<uint32_t> read = cycles.read();
    Line("issue.wgmma")
        .text("type", Op::type)
        .number("n", Op::n)
        .number("k", Op::k)
        .numbers("issued", {read.begin(), read.end() - 1})
        .number("waited", read.back());
  };
  (bench(Ops{}), ...);
}

template <typename Op>
__global__ void __launch_bounds__(256) wgmmaLoad(unsigned milliseconds, ClockSample* samples, float* sink) {
  extern __shared__ __align__(1024) unsigned char shared[];
  fillOperands(shared);
  float d[Op::sums] = {};
  const Operands in = operandsIn(shared);
  sampleClock([&] { repeatWgmma<Op, 16>(16, d, in.a, in.b); }, milliseconds, samples);
  keepSums(d, sink);
}

inline void benchWgmma(const Gpu& gpu) {
  if (gpu.capability() != 90) return;
  benchWgmmaShapes<F16N8, F16N32, F16N64, F16N128, F16N256, Bf16N256, Tf32N256, Fp8N8, Fp8N64, Fp8N128, Fp8N256>();
  benchWgmmaIssue<F16N8, F16N32, F16N64, F16N128, F16N256, Tf32N256, Fp8N64, Fp8N128, Fp8N256>();
  check(cudaFuncSetAttribute(wgmmaLoad<F16N256>, cudaFuncAttributeMaxDynamicSharedMemorySize, kWgmmaShared), "shared memory");
  benchClockUnder("wgmma", gpu.sms(), 40, [&](ClockSample* samples) {
    wgmmaLoad<F16N256><<<gpu.sms(), 256, kWgmmaShared>>>(kClockMs, samples, nullptr);
  });
}
