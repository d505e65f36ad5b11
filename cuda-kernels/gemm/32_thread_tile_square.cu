// @rung    32_thread_tile_square
// @title   Square thread tile, 1024 threads
// @after   31_thread_tile_n
// @idea    each thread of a 32 x 32 block computes a THREAD_TILE x THREAD_TILE square. A wide load of B is now used for THREAD_TILE rows of FMAs instead of one row
// @expect  sharedLoads down, fmaUtilization up
// @param   THREAD_TILE 4 {2,4}
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int kTile = 32;                   // depth of a tile, and threads in each direction
constexpr int kSide = kTile * THREAD_TILE;  // rows and columns of C per block

__global__ void __launch_bounds__(kTile * kTile)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  __shared__ float aTile[kSide][kTile];
  __shared__ float bTile[kTile][kSide];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = klTileRow() * kSide + ty * THREAD_TILE;
  const int col = blockIdx.x * kSide + tx * THREAD_TILE;

  // Past M and K, the tiles get zeros, which add nothing. Past N, the last column is read. Out-of-range results are
  // never stored.
  const float* aNext = a + (long long)row * k + tx;
  const float* bNext = b + (long long)ty * n;
  const long long bStep = (long long)kTile * n;

  float sum[THREAD_TILE][THREAD_TILE] = {};
  for (int t = 0; t < k; t += kTile) {
#pragma unroll
    for (int i = 0; i < THREAD_TILE; ++i)
      aTile[ty * THREAD_TILE + i][tx] = row + i < m && t + tx < k ? aNext[(long long)i * k] : 0.0f;
    aNext += kTile;
    // Copies one column at a time. Neighboring threads are THREAD_TILE elements apart, so access is not coalesced.
#pragma unroll
    for (int j = 0; j < THREAD_TILE; ++j)
      bTile[ty][tx * THREAD_TILE + j] = t + ty < k ? bNext[min(col + j, n - 1)] : 0.0f;
    bNext += bStep;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < kTile; ++d)
#pragma unroll
      for (int i = 0; i < THREAD_TILE; ++i) {
        const float aValue = aTile[ty * THREAD_TILE + i][d];
#pragma unroll
        for (int j = 0; j < THREAD_TILE; ++j) sum[i][j] += aValue * bTile[d][tx * THREAD_TILE + j];
      }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

#pragma unroll
  for (int i = 0; i < THREAD_TILE; ++i) {
    if (row + i >= m) break;
    float* cRow = c + (long long)(row + i) * n;
#pragma unroll
    for (int j = 0; j < THREAD_TILE; ++j)
      if (col + j < n) klStore(&cRow[col + j], sum[i][j], alpha, beta);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klLaunch(gemm, klColumnsFirst<kSide, kSide>(p), dim3(kTile, kTile), p, stream);
}
