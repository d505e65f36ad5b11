// Helpers for the gemm-narrow rungs: conversions to a narrow type, a tile of sums per block, and the second kernel
// of the rungs that convert separately.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

#include <cuda_fp16.h>

// Converts an INT32 sum to INT8: scaled, rounded to nearest even, and saturated.
__device__ inline signed char klNarrow(int sum, float scale) {
  const float scaled = rintf(scale * float(sum));
  return static_cast<signed char>(fminf(fmaxf(scaled, -128.0f), 127.0f));
}

// Converts an FP32 sum to FP16 with saturation, because numbers above the FP16 range would become infinite.
__device__ inline __half klNarrow(float sum, float scale) {
  return __float2half_rn(fminf(fmaxf(scale * sum, -65504.0f), 65504.0f));
}

// The types of the sums and results for an input type.
template <typename T>
struct KlNarrow;
template <>
struct KlNarrow<signed char> {
  using Sum = int;
  using Result = signed char;
};
template <>
struct KlNarrow<float> {
  using Sum = float;
  using Result = __half;
};

// ---- A tile of sums ----------------------------------------------------------------------------

// A block of 16 x 16 threads computes 64 x 64 sums, 4 x 4 per thread. Shared memory holds 16 words along K for 64 rows
// of A and of B: 16 elements of FP32, or 64 of INT8.
constexpr int kTile = 64, kWords = 16, kSide = 16, kThreads = kSide * kSide;

__device__ inline int klMultiplyAdd(uint32_t a, uint32_t b, int sum) { return __dp4a(int(a), int(b), sum); }
__device__ inline float klMultiplyAdd(uint32_t a, uint32_t b, float sum) {
  return fmaf(__uint_as_float(a), __uint_as_float(b), sum);
}

// Returns a word of a `k`-element row, with zeros past the row's end. Reads whole words if the row length allows it.
template <typename T>
__device__ inline uint32_t klWord(const T* row, int at, int k) {
  constexpr int kPerWord = 4 / sizeof(T);
  const int d = at * kPerWord;
  if (k % kPerWord == 0) return d < k ? reinterpret_cast<const uint32_t*>(row)[at] : 0;
  uint32_t word = 0;
  for (int i = 0; i < kPerWord; ++i)
    if (d + i < k) word |= uint32_t(reinterpret_cast<const unsigned char*>(row)[d + i]) << (8 * i);
  return word;
}

// Computes a thread's sums. sum[i][j] belongs to row row0 + 4 * (threadIdx.x / 16) + i and to
// column col0 + 4 * (threadIdx.x % 16) + j.
template <typename T>
__device__ inline void klTileSums(int m, int n, int k, int row0, int col0, const T* a, const T* b,
                                  typename KlNarrow<T>::Sum (&sum)[4][4]) {
  __shared__ __align__(16) uint32_t aTile[kWords][kTile + 4], bTile[kWords][kTile + 4];
  constexpr int kPerWord = 4 / sizeof(T);
  const int words = ceilDiv(k, kPerWord);
  const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
  for (int t = 0; t < words; t += kWords) {
    for (int e = threadIdx.x; e < kTile * kWords; e += kThreads) {
      const int row = e / kWords, w = e % kWords;
      aTile[w][row] = row0 + row < m ? klWord(a + (long long)(row0 + row) * k, t + w, k) : 0;
      bTile[w][row] = col0 + row < n ? klWord(b + (long long)(col0 + row) * k, t + w, k) : 0;
    }
    __syncthreads();
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint4 aWords = *reinterpret_cast<const uint4*>(&aTile[w][ty * 4]);
      const uint4 bWords = *reinterpret_cast<const uint4*>(&bTile[w][tx * 4]);
      const uint32_t as[4] = {aWords.x, aWords.y, aWords.z, aWords.w};
      const uint32_t bs[4] = {bWords.x, bWords.y, bWords.z, bWords.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = klMultiplyAdd(as[i], bs[j], sum[i][j]);
    }
    __syncthreads();
  }
}

// Four adjacent elements of a row, stored together if the row length is a multiple of four.
template <typename R>
struct alignas(4 * sizeof(R)) KlFour {
  R of[4];
};
template <typename R>
__device__ inline void klStoreFour(R* to, const R (&four)[4], int colsLeft, bool whole) {
  if (whole && colsLeft >= 4) {
    *reinterpret_cast<KlFour<R>*>(to) = *reinterpret_cast<const KlFour<R>*>(four);
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (j < colsLeft) to[j] = four[j];
}

inline dim3 klTileGrid(const KlGemmNarrow* p) {
  return klGrid(ceilDiv(int(p->n), kTile), ceilDiv(int(p->m), kTile));
}
