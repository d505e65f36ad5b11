// @rung    03_shared_tile
// @title   Shared-memory tile
// @after   02_coalesced
// @idea    a block copies tiles of A and B into shared memory and reads each element TILE times. Global loads decrease by a factor of TILE. With STEPS 2, tiles are twice as deep as wide, which halves the number of barriers
// @expect  sharedLoads up
// @param   TILE 32 {16,32}
// @param   STEPS 2 {1,2}
// @dtype   f32

// L1 traffic falls, but L2 traffic does not: in the previous rung, L1 already served the repeated loads. FMA
// utilization falls although the kernel is faster. The previous rung also used the FMA pipe for the integer
// multiplications that compute the address of every load.

#include "gemm_launch.cuh"

static_assert(TILE == 16 || TILE == 32, "TILE must be 16 or 32: a block has TILE * TILE threads");
static_assert(STEPS == 1 || STEPS == 2, "STEPS must be 1 or 2: a thread copies that many elements of each tile");

constexpr int BK = STEPS * TILE;

__global__ void __launch_bounds__(TILE * TILE)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  __shared__ float aTile[TILE][BK];
  __shared__ float bTile[BK][TILE];

  const int tx = threadIdx.x, ty = threadIdx.y;
  // klRowsFirst makes blockIdx.x the tile's row and klTileCol() its column.
  const int row = blockIdx.x * TILE + ty;
  const int col = klTileCol() * TILE + tx;

  // A thread outside C still copies tile elements, so it cannot return. Past M or N, the last row or column is copied.
  const float* aNext = a + (long long)min(row, m - 1) * k + tx;
  const float* bNext = b + (long long)ty * n + min(col, n - 1);

  float sum = 0.0f;
  for (int t = 0; t < k; t += BK) {
    // klCopyTile compiles this copy twice. `whole` is true for tiles inside K, which need no checks.
    klCopyTile(t + BK <= k, [&](auto whole) {
#pragma unroll
      for (int s = 0; s < BK; s += TILE) {
        aTile[ty][tx + s] = whole || t + s + tx < k ? aNext[s] : 0.0f;
        bTile[ty + s][tx] = whole || t + s + ty < k ? bNext[(long long)s * n] : 0.0f;
      }
    });
    aNext += BK;
    bNext += (long long)BK * n;
    __syncthreads();

#pragma unroll
    for (int i = 0; i < BK; ++i) sum += aTile[ty][i] * bTile[i][tx];
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

  if (row < m && col < n) klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klLaunch(gemm, klRowsFirst<TILE, TILE>(p), dim3(TILE, TILE), p, stream);
}
