// A thread's tile of C, held in registers: its operands from shared memory four at a time, the products, and the
// store. Its rows and columns come in groups of four neighbors, a stride apart.
#pragma once

#include "gemm_launch.cuh"

__device__ inline float4 klFour(const float* from) { return *reinterpret_cast<const float4*>(from); }

// Four neighboring floats of a row of `length`, from index i on; zeros past the end of the row. With kAligned the
// row is 16-byte aligned and its length a multiple of 4, so four neighbors are all inside or all outside.
template <bool kAligned>
__device__ inline float4 klFourWithin(const float* row, int i, int length) {
  if (kAligned) return i < length ? klFour(row + i) : float4{};
  return make_float4(i < length ? row[i] : 0.0f, i + 1 < length ? row[i + 1] : 0.0f,
                     i + 2 < length ? row[i + 2] : 0.0f, i + 3 < length ? row[i + 3] : 0.0f);
}

// The same of a row that has `left` more.
__device__ inline float4 klFourLeft(const float* from, int left) {
  return make_float4(left > 0 ? from[0] : 0.0f, left > 1 ? from[1] : 0.0f, left > 2 ? from[2] : 0.0f,
                     left > 3 ? from[3] : 0.0f);
}

// Groups of four from shared memory, `stride` floats apart.
template <int kCount>
__device__ inline void klReadFours(float (&values)[kCount], const float* from, int stride) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4)
    *reinterpret_cast<float4*>(&values[i]) = klFour(from + i / 4 * stride);
}

// sum += a bᵀ. With kSnake back and forth over the columns: each FMA shares an operand with the one before, and
// what was just read from the registers is at hand without another read.
template <bool kSnake = false, int kRows, int kCols>
__device__ inline void klOuterProduct(float (&sum)[kRows][kCols], const float (&a)[kRows],
                                      const float (&b)[kCols]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int step = 0; step < kCols; ++step) {
      const int j = kSnake && i % 2 ? kCols - 1 - step : step;
      sum[i][j] += a[i] * b[j];
    }
}

// The sums to C, from row and col on: with kFours four columns at a time, with kChecked only those inside C.
template <bool kFours, bool kChecked, int kRows, int kCols>
__device__ inline void klStoreTile(float* c, int m, int n, int row, int rowStride, int col, int colStride,
                                   const float (&sum)[kRows][kCols], float alpha, float beta) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int r = row + i / 4 * rowStride + i % 4;
    if (kChecked && r >= m) break;  // rows of a thread ascend
    float* cRow = c + (long long)r * n;
#pragma unroll
    for (int j = 0; j < kCols; j += 4) {
      const int s = col + j / 4 * colStride;
      if (kFours) {
        if (!kChecked || s < n)
          klStore(reinterpret_cast<float4*>(&cRow[s]),
                  make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]), alpha, beta);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l)
          if (s + l < n) klStore(&cRow[s + l], sum[i][j + l], alpha, beta);
      }
    }
  }
}
