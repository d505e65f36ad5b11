// @rung    60_tf32x3
// @title   Three TF32 products
// @after   00_cublas
// @idea    each FP32 value is split into two TF32 values. Three products of these parts give FP32 accuracy, which a single TF32 product cannot reach. The tensor cores do three times as many multiplications, but at a much higher rate
// @expect  fmaUtilization down, tensorUtilization up
// @dtype   f32
// @requires sm_80

#include "tf32_common.cuh"

// A block of 8 warps computes 128 x 128 elements of C; each warp computes 32 x 64 of these elements.
constexpr int kTile = 128, kDepth = 16, kThreads = 256;
constexpr int kWarpRows = 32, kWarpCols = 64, kWarpsN = kTile / kWarpCols;
constexpr int kStrideA = kDepth + 4, kStrideB = kTile + 8;  // in elements; see klLoadPartA

// N and K can have any value. Elements are copied one by one, with zeros outside the matrix.
__global__ void __launch_bounds__(kThreads, 2)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b, float beta,
           float* __restrict__ c) {
  __shared__ float aTile[kTile * kStrideA], bTile[kDepth * kStrideB];

  const int row0 = klTileRow() * kTile, col0 = blockIdx.x * kTile;
  if (row0 >= m) return;
  const int warp = threadIdx.x / 32;
  const int warpRow = warp / kWarpsN * kWarpRows, warpCol = warp % kWarpsN * kWarpCols;

  const int aRow = threadIdx.x / kDepth, aCol = threadIdx.x % kDepth;  // where this thread's first copy starts
  const int bRow = threadIdx.x / kTile, bCol = threadIdx.x % kTile;
  constexpr int kStepA = kThreads / kDepth, kStepB = kThreads / kTile;
  const bool colInside = col0 + bCol < n;

  float sum[kWarpRows / 16][kWarpCols / 8][4] = {};
  for (int t = 0; t < k; t += kDepth) {
#pragma unroll
    for (int i = 0; i < kTile; i += kStepA) {
      const int row = row0 + aRow + i;
      aTile[(aRow + i) * kStrideA + aCol] = row < m && t + aCol < k ? a[(long long)row * k + t + aCol] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kDepth; i += kStepB) {
      const int row = t + bRow + i;
      bTile[(bRow + i) * kStrideB + bCol] = row < k && colInside ? b[(long long)row * n + col0 + bCol] : 0.0f;
    }
    __syncthreads();

#pragma unroll
    for (int d = 0; d < kDepth; d += 8) {
      Tf32PartB bPart[kWarpCols / 8];
#pragma unroll
      for (int j = 0; j < kWarpCols / 8; ++j) bPart[j] = klLoadPartB(&bTile[d * kStrideB + warpCol + j * 8], kStrideB);
#pragma unroll
      for (int i = 0; i < kWarpRows / 16; ++i)
        klMultiplyThree(sum[i], klLoadPartA(&aTile[(warpRow + i * 16) * kStrideA + d], kStrideA), bPart);
    }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }
  klStoreTf32(sum, c, row0 + warpRow, col0 + warpCol, m, n, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  gemm<<<klTileGrid(ceilDiv(m, kTile), ceilDiv(n, kTile)), kThreads, 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
