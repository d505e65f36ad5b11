// @rung    92_int8_fused
// @title   Converted in the epilogue
// @after   91_int8_unfused
// @idea    the sums are scaled, rounded, and saturated while they are still in registers. Fusion saves one launch and,
//          per element, a 4-byte write and a 4-byte read
// @expect  dramBytes down, l2Bytes down
// @dtype   i8
// @out     i8
#include "narrow_common.cuh"

using Input = signed char;
using Sum = KlNarrow<Input>::Sum;
using Result = KlNarrow<Input>::Result;

__global__ void __launch_bounds__(kThreads)
gemm(int m, int n, int k, float scale, const Input* __restrict__ a, const Input* __restrict__ b, Result* __restrict__ c) {
  const int row0 = klGridRow() * kTile, col0 = blockIdx.x * kTile;
  if (row0 >= m) return;
  Sum sum[4][4] = {};
  klTileSums(m, n, k, row0, col0, a, b, sum);
  const int row = row0 + threadIdx.x / kSide * 4, col = col0 + threadIdx.x % kSide * 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    Result four[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) four[j] = klNarrow(sum[i][j], scale);
    if (row + i < m) klStoreFour(c + (long long)(row + i) * n + col, four, n - col, n % 4 == 0);
  }
}

extern "C" cudaError_t kl_launch(const KlGemmNarrow* p, cudaStream_t stream) {
  gemm<<<klTileGrid(p), kThreads, 0, stream>>>(int(p->m), int(p->n), int(p->k), p->scale, static_cast<const Input*>(p->a),
                                               static_cast<const Input*>(p->b), static_cast<Result*>(p->c));
  return cudaGetLastError();
}
