// @rung    93_int8_mma
// @title   INT8 tensor cores
// @after   92_int8_fused
// @idea    one mma.sync of a warp multiplies 16 x 32 by 32 x 8 bytes and adds to INT32 sums. The epilogue differs only
//          in that a lane stores two adjacent elements of a row instead of four
// @expect  tensorUtilization up, sharedLoads down
// @dtype   i8
// @out     i8
// @requires sm_80
#include "narrow_mma.cuh"

__global__ void __launch_bounds__(kMmaThreads)
gemm(int m, int n, int k, float scale, const signed char* __restrict__ a, const signed char* __restrict__ b,
     signed char* __restrict__ c) {
  const int row0 = klGridRow() * kMmaTile, col0 = blockIdx.x * kMmaTile;
  if (row0 >= m) return;
  __shared__ __align__(16) uint32_t aTile[kMmaTile][kMmaStride], bTile[kMmaTile][kMmaStride];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warpRow = warp / 2 * 64 + lane / 4, warpCol = warp % 2 * 64 + lane / 4;

  int sum[4][8][4] = {};  // 64 x 64 sums per warp, in tiles of 16 x 8
  for (int depth = 0; depth < k; depth += kMmaDepth) {
    klCopyTile(aTile, a, row0, m, depth, k);
    klCopyTile(bTile, b, col0, n, depth, k);
    __syncthreads();
#pragma unroll
    for (int w = lane % 4; w < kMmaDepth / 4; w += 8) {  // the words of each 32-byte step along K
      uint32_t bPart[8][2];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        bPart[j][0] = bTile[warpCol + j * 8][w];
        bPart[j][1] = bTile[warpCol + j * 8][w + 4];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = warpRow + i * 16;
        const uint32_t aPart[4] = {aTile[row][w], aTile[row + 8][w], aTile[row][w + 4], aTile[row + 8][w + 4]};
#pragma unroll
        for (int j = 0; j < 8; ++j) klMma(sum[i][j], aPart, bPart[j]);
      }
    }
    __syncthreads();
  }

  const int col = col0 + warp % 2 * 64 + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + warpRow + i * 16 + half * 8;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const char2 pair = make_char2(klNarrow(sum[i][j][half * 2], scale), klNarrow(sum[i][j][half * 2 + 1], scale));
        if (row < m) klStorePair(c + (long long)row * n + col + j * 8, pair, n - col - j * 8, n % 2 == 0);
      }
    }
}

extern "C" cudaError_t kl_launch(const KlGemmNarrow* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  gemm<<<klGrid(ceilDiv(n, kMmaTile), ceilDiv(m, kMmaTile)), kMmaThreads, 0, stream>>>(
      m, n, k, p->scale, static_cast<const signed char*>(p->a), static_cast<const signed char*>(p->b),
      static_cast<signed char*>(p->c));
  return cudaGetLastError();
}
