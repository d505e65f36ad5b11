// @rung    39_coarsen
// @title   Thread coarsening
// @after   03_shared_tile
// @idea    the tile stays 16 x 16, and each thread computes STRIDE elements of one column, 16 / STRIDE rows apart. An element of B read from shared memory is used for STRIDE FMAs. However, the block shrinks to 256 / STRIDE threads, which lowers occupancy
// @expect  sharedLoads down, fmaUtilization up
// @param   STRIDE 2 {1,2,4,8,16}
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int kTile = 16;
constexpr int kRows = kTile / STRIDE;  // rows of threads, and distance between two elements of a thread

// With a STRIDE of 16, the block is half a warp, and the other 16 lanes of every instruction are idle.
__global__ void __launch_bounds__(kTile * kRows)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  __shared__ float aTile[kTile][kTile];
  __shared__ float bTile[kTile][kTile];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = klTileRow() * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  // A thread outside C still copies tile elements, so it cannot return. Past M and K, the tiles get zeros, which add
  // nothing. Past N, the last column is read. Out-of-range results are never stored.
  const float* aNext = a + (long long)row * k + tx;
  const float* bNext = b + (long long)ty * n + min(col, n - 1);

  float sum[STRIDE] = {};
  for (int t = 0; t < k; t += kTile) {
#pragma unroll
    for (int s = 0; s < STRIDE; ++s) {
      const int r = ty + s * kRows;
      aTile[r][tx] = row + s * kRows < m && t + tx < k ? aNext[(long long)(s * kRows) * k] : 0.0f;
      bTile[r][tx] = t + r < k ? bNext[(long long)(s * kRows) * n] : 0.0f;
    }
    aNext += kTile;
    bNext += (long long)kTile * n;
    __syncthreads();

    // For 16 steps along K, a warp issues 16 loads of B, plus 4 loads of A per element that a thread computes. nvcc
    // merges four adjacent elements of A into one load.
#pragma unroll
    for (int d = 0; d < kTile; ++d) {
      const float bValue = bTile[d][tx];
#pragma unroll
      for (int s = 0; s < STRIDE; ++s) sum[s] += aTile[ty + s * kRows][d] * bValue;
    }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

  if (col >= n) return;
#pragma unroll
  for (int s = 0; s < STRIDE; ++s) {
    const int r = row + s * kRows;
    if (r < m) klStore(&c[(long long)r * n + col], sum[s], alpha, beta);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klLaunch(gemm, klColumnsFirst<kTile, kTile>(p), dim3(kTile, kRows), p, stream);
}
