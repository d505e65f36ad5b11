// mma.sync: the interval of each shape on a sub-core, the latency in a chain of accumulators, and the clock under load.
#pragma once

#include "clock.cuh"
#include "measure.cuh"

// Defines one instruction `d += a * b`, with as many registers as its shape needs.
#define MMA(Name, SASS, MACS, Sum, SUMS, A, B, LEAST, ...)                           \
  struct Name {                                                                      \
    using Type = Sum;                                                                \
    static constexpr const char* opcode = SASS;                                      \
    static constexpr int macs = MACS, sums = SUMS, capability = LEAST;               \
    static __device__ __forceinline__ void apply(Sum* d, const uint32_t* a, const uint32_t* b, const double* f) { \
      __VA_ARGS__;                                                                   \
    }                                                                                \
  };

#define MMA_A4_B2_F32(SHAPE)                                                                                   \
  asm volatile(SHAPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                        \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
#define SINCE_80(...) __VA_ARGS__
#else
#define SINCE_80(...) (void)d
#endif

MMA(Hmma1688F16, "HMMA.1688.F32", 1024, float, 4, 2, 1, 75,
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0])))
MMA(Hmma16816F16, "HMMA.16816.F32", 2048, float, 4, 4, 2, 80,
    SINCE_80(MMA_A4_B2_F32("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")))
MMA(Hmma16816Bf16, "HMMA.16816.F32.BF16", 2048, float, 4, 4, 2, 80,
    SINCE_80(MMA_A4_B2_F32("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")))
MMA(Hmma16816F16F16, "HMMA.16816.F16", 2048, uint32_t, 2, 4, 2, 80,
    SINCE_80(asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                          : "+r"(d[0]), "+r"(d[1])
                          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))))
MMA(Hmma1688Tf32, "HMMA.1688.F32.TF32", 1024, float, 4, 4, 2, 80,
    SINCE_80(MMA_A4_B2_F32("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")))
MMA(Imma16832, "IMMA.16832.S8.S8", 4096, int, 4, 4, 2, 80,
    SINCE_80(asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))))
MMA(Imma8816, "IMMA.8816.S8.S8", 1024, int, 2, 1, 1, 75,
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(b[0])))
MMA(Dmma884, "DMMA.884", 256, double, 2, 1, 1, 80,
    SINCE_80(asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                          : "+d"(d[0]), "+d"(d[1])
                          : "d"(f[0]), "d"(f[1]))))

// Returns random finite operands of small magnitude, so clock and power match those of real data.
__device__ inline uint32_t randomHalves(uint32_t seed) { return (mixBits(seed) & 0x83ff83ffu) | 0x38003800u; }

template <typename Op, int kChains, int kSteps>
__device__ __forceinline__ void repeatMma(int turns, typename Op::Type (&d)[kChains][Op::sums], const uint32_t (&a)[4],
                                          const uint32_t (&b)[2], const double (&f)[2]) {
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) Op::apply(d[step % kChains], a, b, f);
  }
}

template <typename Op, int kChains, int kSteps>
__global__ void __launch_bounds__(1024) timeMma(int turns, uint32_t seed, Stamp* stamps, uint32_t* sink) {
  typename Op::Type d[kChains][Op::sums] = {};
  uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = randomHalves(seed + 4 * threadIdx.x + i);
  for (int i = 0; i < 2; ++i) b[i] = randomHalves(seed + 7777 + 2 * threadIdx.x + i);
  const double f[2] = {double(a[0]), double(b[0])};
  __syncthreads();
  const long long start = clock64();
  repeatMma<Op, kChains, kSteps>(turns, d, a, b, f);
  // Reads the sums before the final clock value, because an issued matrix product is not yet complete.
  typename Op::Type total = d[0][0];
  for (int c = 1; c < kChains; ++c) total = total + d[c][0];
  if (total == typename Op::Type(12345)) *sink = 1;
  keepStamp(stamps, start, clock64());
}

template <typename Op, int kChains>
Value cyclesPerMma(int warps) {
  constexpr int kTurns = 32, kShort = 24, kLong = 72;
  const auto run = [&](auto kernel) {
    return blockCycles(4 * warps, [&](Stamp* stamps) { kernel<<<1, 128 * warps>>>(kTurns, 3, stamps, nullptr); });
  };
  return slope(run(timeMma<Op, kChains, kLong>), run(timeMma<Op, kChains, kShort>), double(kLong - kShort) * kTurns * warps);
}

template <typename Op>
void benchMma(const Gpu& gpu) {
  if (gpu.capability() < Op::capability) return;
  Line("interval.mma").text("opcode", Op::opcode).number("macs", Op::macs).value("cycles", cyclesPerMma<Op, 6>(4));
  Line("latency.mma").text("opcode", Op::opcode).number("macs", Op::macs).value("cycles", cyclesPerMma<Op, 1>(1));
}

template <typename Op>
__global__ void __launch_bounds__(512) mmaLoad(unsigned milliseconds, ClockSample* samples, uint32_t* sink) {
  typename Op::Type d[6][Op::sums] = {};
  uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = randomHalves(4 * threadIdx.x + i);
  for (int i = 0; i < 2; ++i) b[i] = randomHalves(7777 + 2 * threadIdx.x + i);
  const double f[2] = {1, 1};
  sampleClock([&] { repeatMma<Op, 6, 48>(64, d, a, b, f); }, milliseconds, samples);
  typename Op::Type total = d[0][0];
  for (int c = 1; c < 6; ++c) total = total + d[c][0];
  if (total == typename Op::Type(12345)) *sink = 1;
}

inline void benchTensor(const Gpu& gpu) {
  benchMma<Hmma1688F16>(gpu);
  benchMma<Hmma16816F16>(gpu);
  benchMma<Hmma16816Bf16>(gpu);
  benchMma<Hmma16816F16F16>(gpu);
  benchMma<Hmma1688Tf32>(gpu);
  benchMma<Imma16832>(gpu);
  benchMma<Imma8816>(gpu);
  benchMma<Dmma884>(gpu);
  const int blocks = gpu.sms();
  benchClockUnder("mma.sync", blocks, 30, [&](ClockSample* samples) {
    if (gpu.capability() >= 80) mmaLoad<Hmma16816F16><<<blocks, 512>>>(kClockMs, samples, nullptr);
    else mmaLoad<Hmma1688F16><<<blocks, 512>>>(kClockMs, samples, nullptr);
  });
}
