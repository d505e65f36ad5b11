// Helpers for the rungs of attention/: elements, the keys that a row attends to, and a check of HEAD.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

#include <cuda_bf16.h>
#include <math.h>

using KlElement = __nv_bfloat16;

inline const KlElement* klElements(const void* data) { return static_cast<const KlElement*>(data); }

// Returns the number of keys that a row attends to: row + 1 with a causal mask, otherwise the number of tokens.
__host__ __device__ inline long long klKeys(long long tokens, int causal, long long row) {
  return causal && row + 1 < tokens ? row + 1 : tokens;
}

// Returns the factor that scales a score for base-2 exponentials: log2(e) / sqrt(HEAD).
inline float klScoreScale(const KlTask* p) { return float(1.4426950408889634 / sqrt(double(p->HEAD))); }

// Returns 2^x, or 0 below 2^-126. exp2f() would take three more instructions to keep such small results.
__device__ inline float klPowerOfTwo(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// Returns the score to subtract before exponentiation. If all scores so far are -infinity, returns 0, because the
// difference of two infinities would be NaN. The weights exp(-infinity - 0) are then 0.
__device__ inline float klShift(float largest) { return largest == -INFINITY ? 0 : largest; }

// Packs two adjacent elements of a result into one word, with the first in the low half.
__device__ inline uint32_t klPack(float first, float second) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

// Loads eight elements from a 16-byte aligned address.
__device__ inline void klLoadEight(float (&to)[8], const KlElement* from) {
  const uint4 words = *reinterpret_cast<const uint4*>(from);
  const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {  // a bf16 element is the upper half of a float
    to[2 * i] = __uint_as_float(word[i] << 16);
    to[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000);
  }
}

// The head size that the tensor-core rungs support.
constexpr int kHead = 128;

inline const char* klRequireHead(const KlTask* p) {
  return p->HEAD == kHead ? nullptr : "it is built for heads of 128 elements: HEAD must be 128";
}

// ---- Softmax ---------------------------------------------------------------------------------

// The layout of a tensor-core product. In each group of 8 columns, a thread has two adjacent elements in row lane / 4
// of its warp's 16 rows, and two more in the row 8 rows below.

// Sets the scores of masked keys to -infinity. The thread's first score belongs to `row` and `key`.
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

// The softmax state of a thread's two rows: the largest score so far, and the sum of this thread's weights.
struct KlRows {
  float largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};

  // Turns scores into weights relative to the largest score so far. `factor` rescales earlier weights.
  template <int kScores>
  __device__ void add(float (&score)[kScores], float scale, float (&factor)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // Splits the maximum and the sum into two independent chains, each with half the length.
      float above[2] = {largest[half], score[half * 2]};
#pragma unroll
      for (int j = 0; j < kScores / 4; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) above[e] = fmaxf(above[e], score[j * 4 + half * 2 + e]);
      float top = fmaxf(above[0], above[1]);
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));  // four adjacent lanes share a row
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

  // Returns the factor that normalizes the final sums of a row.
  __device__ float last(int half) const {
    float all = sum[half];
    all += __shfl_xor_sync(~0u, all, 1);
    all += __shfl_xor_sync(~0u, all, 2);
    return 1 / all;
  }
};

// Multiplies the sums of a thread's two rows by the rows' factors.
__device__ inline void klRescale(float (&d)[kHead / 2], const float (&factor)[2]) {
#pragma unroll
  for (int i = 0; i < kHead / 2; ++i) d[i] *= factor[i / 2 % 2];
}

// Rounds weights to bf16. Sums of one product have the register layout of the next product's left operand.
template <int kScores>
__device__ inline void klRound(uint32_t (&weight)[kScores / 2], const float (&score)[kScores]) {
#pragma unroll
  for (int i = 0; i < kScores / 2; ++i) weight[i] = klPack(score[2 * i], score[2 * i + 1]);
}
