// @rung    95_half_unfused
// @title   FP32 tiles, converted by a second kernel
// @idea    the product is written as FP32, and a second kernel converts it to FP16. Writing and reading the FP32 sums
//          costs eight bytes per element
// @dtype   f32
// @out     f16
#include "narrow_common.cuh"

using Input = float;
using Sum = KlNarrow<Input>::Sum;
using Result = KlNarrow<Input>::Result;

__global__ void __launch_bounds__(kThreads)
gemm(int m, int n, int k, const Input* __restrict__ a, const Input* __restrict__ b, Sum* __restrict__ sums) {
  const int row0 = klGridRow() * kTile, col0 = blockIdx.x * kTile;
  if (row0 >= m) return;
  Sum sum[4][4] = {};
  klTileSums(m, n, k, row0, col0, a, b, sum);
  const int row = row0 + threadIdx.x / kSide * 4, col = col0 + threadIdx.x % kSide * 4;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (row + i < m) klStoreFour(sums + (long long)(row + i) * n + col, sum[i], n - col, n % 4 == 0);
}

// Each thread converts four adjacent elements, regardless of row boundaries.
__global__ void __launch_bounds__(256)
narrow(long long count, float scale, const Sum* __restrict__ sums, Result* __restrict__ c) {
  const long long at = ((long long)blockIdx.x * 256 + threadIdx.x) * 4;
  const int left = int(count - at < 4 ? count - at : 4);
  Result four[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) four[i] = i < left ? klNarrow(sums[at + i], scale) : Result(0);
  if (left > 0) klStoreFour(c + at, four, left, true);
}

extern "C" size_t kl_workspace_bytes(const KlGemmNarrow* p) { return size_t(p->m) * p->n * sizeof(Sum); }

extern "C" cudaError_t kl_launch(const KlGemmNarrow* p, cudaStream_t stream) {
  Sum* const sums = static_cast<Sum*>(p->workspace);
  gemm<<<klTileGrid(p), kThreads, 0, stream>>>(int(p->m), int(p->n), int(p->k), static_cast<const Input*>(p->a),
                                               static_cast<const Input*>(p->b), sums);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return status;
  const long long count = p->m * p->n;
  narrow<<<unsigned((count + 1023) / 1024), 256, 0, stream>>>(count, p->scale, sums, static_cast<Result*>(p->c));
  return cudaGetLastError();
}
