// @rung    03_shared_tile
// @title   Shared-memory tile
// @after   02_coalesced
// @idea    a block copies a tile of A and of B into shared memory and reuses every element TILE times from there, which divides the traffic to L1 and L2 by TILE; tiles twice as deep as wide (STEPS 2) halve the number of barriers
// @expect  sharedLoads up
// @param   TILE 32 {16,32}
// @param   STEPS 2 {1,2}
// @dtype   f32

#include "gemm_common.cuh"

static_assert(TILE == 16 || TILE == 32, "TILE must be 16 or 32: a block has TILE * TILE threads");
static_assert(STEPS == 1 || STEPS == 2, "STEPS must be 1 or 2: a thread copies that many elements of each tile");

constexpr int kDepth = STEPS * TILE;

__global__ void __launch_bounds__(TILE * TILE)
gemmSharedTile(int m, int n, int k, float alpha, const float* __restrict__ a,
               const float* __restrict__ b, float beta, float* __restrict__ c) {
  __shared__ float aTile[TILE][kDepth];
  __shared__ float bTile[kDepth][TILE];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.x * TILE + ty;
  const int col = klGridRow() * TILE + tx;

  // A thread outside C still helps to copy, so it cannot return. It reads the last row or column
  // instead of nothing: what it sums up is never stored, and the loop needs no check of M or N.
  const float* aNext = a + (long long)min(row, m - 1) * k + tx;
  const float* bNext = b + (long long)ty * n + min(col, n - 1);
  const long long bStep = (long long)TILE * n;

  float sum = 0.0f;
  for (int t = 0; t < k; t += kDepth) {
    if (t + kDepth <= k) {
#pragma unroll
      for (int s = 0; s < STEPS; ++s) {
        aTile[ty][tx + s * TILE] = aNext[s * TILE];
        bTile[ty + s * TILE][tx] = bNext[s * bStep];
      }
    } else {  // the rest of K: zeros add nothing
#pragma unroll
      for (int s = 0; s < STEPS; ++s) {
        aTile[ty][tx + s * TILE] = t + s * TILE + tx < k ? aNext[s * TILE] : 0.0f;
        bTile[ty + s * TILE][tx] = t + s * TILE + ty < k ? bNext[s * bStep] : 0.0f;
      }
    }
    aNext += kDepth;
    bNext += STEPS * bStep;
    __syncthreads();

#pragma unroll
    for (int i = 0; i < kDepth; ++i) sum += aTile[ty][i] * bTile[i][tx];
    __syncthreads();  // nobody overwrites a tile that another warp still reads
  }

  if (row < m && col < n) klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  // Down the rows first: blocks that run concurrently read the same columns of B.
  const dim3 grid = klGrid(ceilDiv(m, TILE), ceilDiv(n, TILE));
  gemmSharedTile<<<grid, dim3(TILE, TILE), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
