// The interval of each opcode on a sub-core (all four sub-cores busy, four warps each), and its latency in a dependent
// chain. The difference between two code lengths excludes loop and launch overhead.
#pragma once

#include "measure.cuh"

// Defines one instruction `x = op(x, y, z)`. `opcode` is the name that `cuobjdump -sass` must show.
#define OPERATION(Name, T, SASS, ...)                                              \
  struct Name {                                                                    \
    using Type = T;                                                                \
    static constexpr const char* opcode = SASS;                                    \
    static __device__ __forceinline__ void apply(T& x, T y, T z) { __VA_ARGS__; } \
  };

OPERATION(Iadd3, uint32_t, "IADD3",
          asm volatile("{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}" : "+r"(x) : "r"(y), "r"(z)))
OPERATION(Lop3, uint32_t, "LOP3", asm volatile("lop3.b32 %0, %0, %1, %2, 0x2d;" : "+r"(x) : "r"(y), "r"(z)))
OPERATION(Shift, uint32_t, "SHF", asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)))
OPERATION(Ffma, float, "FFMA", asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(y), "f"(z)))
OPERATION(Fadd, float, "FADD", asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OPERATION(Fmul, float, "FMUL", asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OPERATION(Fmin, float, "FMNMX", asm volatile("min.f32 %0, %0, %1;" : "+f"(x) : "f"(y)))
OPERATION(Imad, uint32_t, "IMAD", asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)))
OPERATION(ImadWide, uint64_t, "IMAD.WIDE",
          asm volatile("{.reg .u32 l, h; mov.b64 {l, h}, %0; mul.wide.u32 %0, l, h;}" : "+l"(x)))
OPERATION(Hfma2, uint32_t, "HFMA2", asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)))
OPERATION(Dfma, double, "DFMA", asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(y), "d"(z)))
OPERATION(Dadd, double, "DADD", asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(y)))
OPERATION(Mufu, float, "MUFU", asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)))
OPERATION(F2i, uint32_t, "F2I", asm volatile("{.reg .f32 t; mov.b32 t, %0; cvt.rzi.ftz.s32.f32 %0, t;}" : "+r"(x)))
OPERATION(I2f, uint32_t, "I2F", asm volatile("{.reg .f32 t; cvt.rn.f32.s32 t, %0; mov.b32 %0, t;}" : "+r"(x)))
OPERATION(I2f64, uint64_t, "I2F.F64",
          asm volatile("{.reg .f64 t; .reg .u32 l, h; mov.b64 {l, h}, %0; cvt.rn.f64.s32 t, l; mov.b64 %0, t;}"
                       : "+l"(x)))
OPERATION(Popc, uint32_t, "POPC", asm volatile("popc.b32 %0, %0;" : "+r"(x)))
OPERATION(Shfl, uint32_t, "SHFL", asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x)))
OPERATION(Vote, uint32_t, "VOTE",
          asm volatile("{.reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff;}"
                       : "+r"(x)
                       : "r"(y)))
OPERATION(Compare, uint32_t, "ISETP",
          asm volatile("{.reg .pred p; setp.ne.u32 p, %0, %1; selp.u32 %0, %1, %2, p;}" : "+r"(x) : "r"(y), "r"(z)))
OPERATION(Prmt, uint32_t, "PRMT", asm volatile("prmt.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z)))

constexpr int kIndependent = 8;  // chains per warp in the interval measurement

template <typename Op, int kChains, int kSteps>
__global__ void __launch_bounds__(1024) repeatOp(int turns, uint32_t seed, Stamp* stamps, uint32_t* sink) {
  using T = typename Op::Type;
  T x[kChains], y[3];
  for (int c = 0; c < kChains; ++c) x[c] = T(seed * (threadIdx.x + c + 1));
  for (int c = 0; c < 3; ++c) y[c] = T(seed + c * threadIdx.x);
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) Op::apply(x[step % kChains], y[step / kChains % 3], y[(step / kChains + 1) % 3]);
  }
  const long long end = clock64();
  keepStamp(stamps, start, end);
  T total = x[0];
  for (int c = 1; c < kChains; ++c) total = total + x[c];
  if (total == T(12345)) *sink = 1;
}

constexpr int kShortCode = 48, kLongCode = 144, kTurns = 64;

// Returns the cycles per instruction of one sub-core with `warps` warps. Each warp has kChains independent chains.
template <typename Op, int kChains>
Value cyclesPerOp(int warps) {
  const auto run = [&](auto kernel) {
    return blockCycles(4 * warps, [&](Stamp* stamps) { kernel<<<1, 128 * warps>>>(kTurns, 3, stamps, nullptr); });
  };
  return slope(run(repeatOp<Op, kChains, kLongCode>), run(repeatOp<Op, kChains, kShortCode>),
               double(kLongCode - kShortCode) * kTurns * warps);
}

template <typename Op>
void benchOp(const char* name) {
  Line("interval").text("op", name).text("opcode", Op::opcode).value("cycles", cyclesPerOp<Op, kIndependent>(4));
  Line("latency.op").text("op", name).text("opcode", Op::opcode).value("cycles", cyclesPerOp<Op, 1>(1));
}

inline void benchPipes(const Gpu&) {
  benchOp<Iadd3>("iadd3");
  benchOp<Lop3>("lop3");
  benchOp<Shift>("shf");
  benchOp<Ffma>("ffma");
  benchOp<Fadd>("fadd");
  benchOp<Fmul>("fmul");
  benchOp<Fmin>("fmnmx");
  benchOp<Imad>("imad");
  benchOp<ImadWide>("imad.wide");
  benchOp<Hfma2>("hfma2");
  benchOp<Dfma>("dfma");
  benchOp<Dadd>("dadd");
  benchOp<Mufu>("mufu");
  benchOp<F2i>("f2i");
  benchOp<I2f>("i2f");
  benchOp<I2f64>("i2f.f64");
  benchOp<Popc>("popc");
  benchOp<Shfl>("shfl");
  benchOp<Vote>("isetp+vote");
  benchOp<Compare>("isetp+sel");
  benchOp<Prmt>("prmt");
}
