// @rung    03_shared_tile
// @title   Shared-memory tile
// @after   02_coalesced
// @idea    a block copies a tile of A and of B into shared memory and every element is then reused TILE times from there, which divides the traffic to L1 and L2 by TILE
// @expect  sharedLoads up, fmaUtilization up, sharedLoadBankConflicts same
// @param   TILE 32 {16,32}
// @dtype   f32

#include "gemm_common.cuh"

static_assert(TILE == 16 || TILE == 32, "TILE must be 16 or 32: a block has TILE * TILE threads");

__global__ void __launch_bounds__(TILE * TILE)
gemmSharedTile(int m, int n, int k, float alpha, const float* __restrict__ a,
               const float* __restrict__ b, float beta, float* __restrict__ c) {
  __shared__ float aTile[TILE][TILE];
  __shared__ float bTile[TILE][TILE];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = klTileRow() * TILE + ty;
  const int col = blockIdx.x * TILE + tx;

  // A thread outside C still helps to copy, so it cannot return. It reads the last row or column
  // instead of nothing: what it sums up is never stored, and the loop needs no check of M or N.
  const float* aNext = a + (long long)min(row, m - 1) * k + tx;
  const float* bNext = b + (long long)ty * n + min(col, n - 1);
  const long long bStep = (long long)TILE * n;

  float sum = 0.0f;
  for (int t = 0; t < k; t += TILE) {
    if (t + TILE <= k) {
      aTile[ty][tx] = *aNext;
      bTile[ty][tx] = *bNext;
    } else {  // the rest of K: zeros add nothing
      aTile[ty][tx] = t + tx < k ? *aNext : 0.0f;
      bTile[ty][tx] = t + ty < k ? *bNext : 0.0f;
    }
    aNext += TILE;
    bNext += bStep;
    __syncthreads();

#pragma unroll
    for (int i = 0; i < TILE; ++i) sum += aTile[ty][i] * bTile[i][tx];
    __syncthreads();  // nobody overwrites a tile that another warp still reads
  }

  if (row < m && col < n) klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, TILE), ceilDiv(n, TILE));
  gemmSharedTile<<<grid, dim3(TILE, TILE), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
