// Helpers for the gemm-nt rungs: types, pairs of results, and a slow path for shapes with unaligned rows.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <stdint.h>

#include <type_traits>

template <typename T>
constexpr bool kIsE4m3 = std::is_same<T, __nv_fp8_e4m3>::value;

// Calls `launch` with a value of the input type. Only the type of the value matters.
template <typename Launch>
cudaError_t klWithInputType(const KlGemmNt* p, Launch launch) {
  if (p->dtype == KL_E4M3) return launch(__nv_fp8_e4m3());
  return launch(__nv_bfloat16());
}

// Returns whether every row of A, B and C starts at a multiple of 16 bytes, as 128-bit copies require.
inline bool klRowsAligned(const KlGemmNt* p) {
  const int bytes = p->dtype == KL_E4M3 ? 1 : 2;
  return p->k * bytes % 16 == 0 && p->n % 8 == 0 && klAligned16(p->a) && klAligned16(p->b) && klAligned16(p->c);
}

// Returns the product of the two matrix scales: C is this product times A * B^T.
inline float klScale(const KlGemmNt* p) { return p->scale_a * p->scale_b; }

// Packs two adjacent elements of C, rounded to BF16, in memory order.
__device__ inline uint32_t klPair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const uint32_t&>(pair);
}

// ---- Any shape -------------------------------------------------------------------------------

// The slow path of the rungs that copy at least 16 bytes at a time. The slow path needs no row alignment. A block
// computes 64 x 64 elements with FP32 FMAs, 4 x 4 per thread.
constexpr int kAnyTile = 64, kAnyDepth = 16, kAnySide = 16;

template <typename T>
__global__ void __launch_bounds__(kAnySide* kAnySide)
gemmNtAnyShape(int m, int n, int k, float scale, const T* __restrict__ a, const T* __restrict__ b,
               __nv_bfloat16* __restrict__ c) {
  __shared__ float aTile[kAnyDepth][kAnyTile + 1], bTile[kAnyDepth][kAnyTile + 1];
  const int row0 = klGridRow() * kAnyTile, col0 = blockIdx.x * kAnyTile;
  if (row0 >= m) return;
  const int tx = threadIdx.x % kAnySide, ty = threadIdx.x / kAnySide;
  float sum[4][4] = {};
  for (int t = 0; t < k; t += kAnyDepth) {
    for (int e = threadIdx.x; e < kAnyTile * kAnyDepth; e += kAnySide * kAnySide) {
      const int row = e / kAnyDepth, d = e % kAnyDepth;
      const bool inside = t + d < k;
      aTile[d][row] = inside && row0 + row < m ? float(a[(long long)(row0 + row) * k + t + d]) : 0.0f;
      bTile[d][row] = inside && col0 + row < n ? float(b[(long long)(col0 + row) * k + t + d]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kAnyDepth; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += aTile[d][ty + kAnySide * i] * bTile[d][tx + kAnySide * j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty + kAnySide * i, col = col0 + tx + kAnySide * j;
      if (row < m && col < n) c[(long long)row * n + col] = __float2bfloat16(scale * sum[i][j]);
    }
}

template <typename T>
cudaError_t klLaunchAnyShape(const KlGemmNt* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  gemmNtAnyShape<T><<<klGrid(ceilDiv(n, kAnyTile), ceilDiv(m, kAnyTile)), kAnySide * kAnySide, 0, stream>>>(
      m, n, k, klScale(p), static_cast<const T*>(p->a), static_cast<const T*>(p->b),
      static_cast<__nv_bfloat16*>(p->c));
  return cudaGetLastError();
}
