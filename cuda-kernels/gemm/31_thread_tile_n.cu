// @rung    31_thread_tile_n
// @title   1D thread tile along N
// @after   03_shared_tile
// @idea    each thread of a 32 x 32 block computes TN adjacent columns of one row. An element of A read from shared memory is used for TN FMAs. One wide load reads TN elements of B
// @expect  sharedLoads down, fmaUtilization up, sharedStoreBankConflicts up
// @param   TN 4 {2,4,8}
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int kTile = 32;  // rows of C per block, depth of a tile, and threads in each direction
constexpr int kCols = kTile * TN;

__global__ void __launch_bounds__(kTile * kTile)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  __shared__ float aTile[kTile][kTile];
  __shared__ float bTile[kTile][kCols];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = klTileRow() * kTile + ty;
  const int col = blockIdx.x * kCols + tx * TN;

  // Past M or N, the last row or column is read instead. Out-of-range results are never stored, so the loop does not
  // check M or N.
  const float* aNext = a + (long long)min(row, m - 1) * k + tx;
  const float* bNext = b + (long long)ty * n;
  const long long bStep = (long long)kTile * n;

  float sum[TN] = {};
  for (int t = 0; t < k; t += kTile) {
    const bool whole = t + kTile <= k;  // false in the last tile, where zeros fill the part past K
    aTile[ty][tx] = whole || t + tx < k ? *aNext : 0.0f;
    // A thread copies the columns that it computes, one at a time. Neighboring threads are TN elements apart, so each
    // load touches TN times the sectors of a coalesced load.
#pragma unroll
    for (int j = 0; j < TN; ++j)
      bTile[ty][tx * TN + j] = whole || t + ty < k ? bNext[min(col + j, n - 1)] : 0.0f;
    aNext += kTile;
    bNext += bStep;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < kTile; ++d) {
      const float aValue = aTile[ty][d];
#pragma unroll
      for (int j = 0; j < TN; ++j) sum[j] += aValue * bTile[d][tx * TN + j];
    }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

  if (row >= m) return;
#pragma unroll
  for (int j = 0; j < TN; ++j)
    if (col + j < n) klStore(&c[(long long)row * n + col + j], sum[j], alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klLaunch(gemm, klColumnsFirst<kTile, kCols>(p), dim3(kTile, kTile), p, stream);
}
