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

inline const char* klRequireHead(const KlTask* p, int head) {
  return p->HEAD == head ? nullptr : "this rung takes heads of 128 elements only";
}
