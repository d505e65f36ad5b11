// What the rungs of attention/ share: elements, which keys a row sees, and what a rung refuses.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

#include <cuda_bf16.h>
#include <math.h>

using KlElement = __nv_bfloat16;

inline const KlElement* klElements(const void* data) { return static_cast<const KlElement*>(data); }

// One past the last key that a row sees: its own with a causal mask, else the last one.
__host__ __device__ inline long long klKeys(long long tokens, int causal, long long row) {
  return causal && row + 1 < tokens ? row + 1 : tokens;
}

// What a score is multiplied by, so that a power of two takes the place of e: log2(e) / sqrt(HEAD).
inline float klScoreScale(const KlTask* p) { return float(1.4426950408889634 / sqrt(double(p->HEAD))); }

// 2^x, and 0 below 2^-126: exp2f() would take three more instructions to keep such a result.
__device__ inline float klPowerOfTwo(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// What weights are relative to. Where a row has seen nothing but -infinity it is 0: the difference of two infinities
// would be NaN, and such weights are 0 however they are scaled.
__device__ inline float klShift(float largest) { return largest == -INFINITY ? 0 : largest; }

// Two neighbors of a result as one word, the first in its low half.
__device__ inline uint32_t klPack(float first, float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

// Eight elements at an address of a multiple of 16.
__device__ inline void klLoadEight(float (&to)[8], const KlElement* from) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {  // an element is the upper half of a float
    to[2 * i] = __uint_as_float(word[i] << 16);
    to[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000);
  }
}

// What the tensor-core rungs are built for.
constexpr int kHead = 128;

inline const char* klRequireHead(const KlTask* p) {
  return p->HEAD == kHead ? nullptr : "it is built for heads of 128 elements: HEAD must be 128";
}

// ---- Softmax ---------------------------------------------------------------------------------

// Of a product on tensor cores, in each group of 8 columns, a thread has two neighbors in row lane / 4 of its warp's 16 rows, and two in the row 8
// further down.

// -infinity for keys that a row does not see. Of the thread's scores the first is of `row` and of `key`.
template <int kScores>
__device__ inline void klMask(float (&score)[kScores], int row, int key, int tokens, int causal) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int keys = causal ? min(tokens, row + half * 8 + 1) : tokens;
#pragma unroll
    for (int j = 0; j < kScores / 4; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (key + j * 8 + e >= keys) score[j * 4 + half * 2 + e] = -INFINITY;
  }
}

// The two rows of a thread, a quarter of whose columns it has: the largest score so far, and the sum of its own weights.
struct KlRows {
  float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};

  // Turns scores into weights relative to the largest score so far; `factor` is what earlier weights shrink by.
  template <int kScores>
  __device__ void add(float (&score)[kScores], float scale, float (&factor)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // Two chains of maxima and of sums, each half as long.
      float above[2] = {largest[half], score[half * 2]};
#pragma unroll
      for (int j = 0; j < kScores / 4; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) above[e] = fmaxf(above[e], score[j * 4 + half * 2 + e]);
      float top = fmaxf(above[0], above[1]);
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
      const float shift = klShift(top) * scale;
      factor[half] = klPowerOfTwo(largest[half] * scale - shift);
      largest[half] = top;
      float part[2] = {sum[half] * factor[half], 0};
#pragma unroll
      for (int j = 0; j < kScores / 4; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& one = score[j * 4 + half * 2 + e];
          one = klPowerOfTwo(one * scale - shift);
          part[e] += one;
        }
      sum[half] = part[0] + part[1];
    }
  }

  // What the sums of a row are multiplied by at the end.
  __device__ float last(int half) const {
    float all = sum[half];
    all += __shfl_xor_sync(~0u, all, 1);
    all += __shfl_xor_sync(~0u, all, 2);
    return 1 / all;
  }
};

__device__ inline void klRescale(float (&d)[kHead / 2], const float (&factor)[2]) {
#pragma unroll
  for (int i = 0; i < kHead / 2; ++i) d[i] *= factor[i / 2 % 2];
}

// Sums of a product lie in registers as the left operand of the next one does.
template <int kScores>
__device__ inline void klRound(uint32_t (&weight)[kScores / 2], const float (&score)[kScores]) {
#pragma unroll
  for (int i = 0; i < kScores / 2; ++i) weight[i] = klPack(score[2 * i], score[2 * i + 1]);
}
