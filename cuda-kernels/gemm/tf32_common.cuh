// FP32 products on TF32 tensor cores, for the rungs of gemm-3xtf32.
//
// A TF32 keeps 11 of the 24 significant bits of an FP32. x = high + low with two TF32 values keeps 22 bits, and
//   a * b = aHigh * bHigh + aHigh * bLow + aLow * bHigh + aLow * bLow
// The last product is smaller than the rounding of an FP32, so three products are enough.
#pragma once

#include "gemm_common.cuh"

#include <stdint.h>

// Returns whether 128-bit copies of A and B and 64-bit stores of C are aligned.
inline bool klRowsOfFour(const KlGemm* p) {
  return p->k % 4 == 0 && p->n % 4 == 0 && klAligned16(p->a) && klAligned16(p->b) && klAligned16(p->c);
}

struct Tf32Pair {
  uint32_t high, low;
};

// Splits an FP32. High is rounded to nearest by adding half of its last bit; low is truncated. The split takes four
// instructions; cvt.rna.tf32 takes about five per part because it handles NaN. A NaN whose high part wraps around to
// zero is still a NaN in its low part.
__device__ inline Tf32Pair klSplit(float x) {
  constexpr uint32_t kKept = 0xffffe000, kHalf = 0x1000;
  const uint32_t high = (__float_as_uint(x) + kHalf) & kKept;
  return {high, __float_as_uint(x - __uint_as_float(high)) & kKept};  // the difference is exact
}

// One thread's fragment of mma.m16n8k8. With g = lane / 4 and t = lane % 4, the thread holds these elements: (g, t), (g
// + 8, t), (g, t + 4), (g + 8, t + 4) of A, (t, g), (t + 4, g) of B, and (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t
// + 1) of C.
struct Tf32PartA {
  uint32_t high[4], low[4];
};
struct Tf32PartB {
  uint32_t high[2], low[2];
};

// Loads a fragment of A. `tile` points to the fragment's first element; `stride` is the row length of the tile, in
// elements. A stride of 4 modulo 32 keeps the 32 reads of a warp in different banks.
__device__ inline Tf32PartA klLoadPartA(const float* tile, int stride) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  Tf32PartA part;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const Tf32Pair pair = klSplit(tile[(g + i % 2 * 8) * stride + t + i / 2 * 4]);
    part.high[i] = pair.high;
    part.low[i] = pair.low;
  }
  return part;
}

// Loads a fragment of B. The stride must be 8 modulo 32.
__device__ inline Tf32PartB klLoadPartB(const float* tile, int stride) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  Tf32PartB part;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const Tf32Pair pair = klSplit(tile[(t + i * 4) * stride + g]);
    part.high[i] = pair.high;
    part.low[i] = pair.low;
  }
  return part;
}

__device__ inline void klMultiplyTf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Adds the three products of one fragment of A with kCols fragments of B, the small products first. Each kind of
// product covers all columns before the next kind, so no product waits for the previous one.
template <int kCols>
__device__ inline void klMultiplyThree(float (&sum)[kCols][4], const Tf32PartA& a, const Tf32PartB (&b)[kCols]) {
#pragma unroll
  for (int j = 0; j < kCols; ++j) klMultiplyTf32(sum[j], a.low, b[j].high);
#pragma unroll
  for (int j = 0; j < kCols; ++j) klMultiplyTf32(sum[j], a.high, b[j].low);
#pragma unroll
  for (int j = 0; j < kCols; ++j) klMultiplyTf32(sum[j], a.high, b[j].high);
}

// Computes C = alpha * sum + beta * C for the tile of a warp at (row0, col0).
template <int kRows, int kCols>
__device__ inline void klStoreTf32(const float (&sum)[kRows][kCols][4], float* c, int row0, int col0, int m, int n,
                                   float alpha, float beta) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + i * 16 + half * 8 + g;
      if (row >= m) continue;
      float* line = c + (long long)row * n;
#pragma unroll
      for (int j = 0; j < kCols; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int col = col0 + j * 8 + t * 2 + e;
          if (col < n) klStore(&line[col], sum[i][j][half * 2 + e], alpha, beta);
        }
    }
}
