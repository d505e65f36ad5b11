// @rung    30_naive_16
// @title   Naive, blocks of 16 × 16
// @idea    each thread computes one element of C, with threadIdx.x as the column index, so access is coalesced from the start. Each half-warp computes part of one row. Blocks of 256 threads are small enough to fill every SM
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int TILE = 16;  // 16 x 16 threads: each warp computes two rows of 16 columns

// Index is the type of offsets into B: int if the offsets fit, because 64-bit arithmetic takes more instructions.
template <typename Index>
__global__ void __launch_bounds__(TILE * TILE)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  const int row = klTileRow() * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  if (row >= m || col >= n) return;

  const float* aRow = a + (long long)row * k;
  const float* bCol = b + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    // A warp reads 16 adjacent elements of B, each for two rows, and two elements of A.
    sum += aRow[i] * bCol[Index(i) * n];
  }
  klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const auto kernel = klFitsInt(p) ? gemm<int> : gemm<long long>;
  return klLaunch(kernel, klColumnsFirst<TILE, TILE>(p), dim3(TILE, TILE), p, stream);
}
