// @rung    01_naive
// @title   Naive
// @idea    a typical first attempt uses one thread per element of C, with threadIdx.x as the row index. Every load of A by a warp therefore touches 32 rows and 32 sectors
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int TILE = 32;  // 32 x 32 threads: each warp computes one column of 32 rows

// Index is the type of offsets into B: int if the offsets fit, because 64-bit arithmetic takes more instructions.
template <typename Index>
__global__ void __launch_bounds__(TILE * TILE)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  // klRowsFirst makes blockIdx.x the tile's row and klTileCol() its column.
  const int row = blockIdx.x * TILE + threadIdx.x;
  const int col = klTileCol() * TILE + threadIdx.y;
  if (row >= m || col >= n) return;

  const float* aRow = a + (long long)row * k;
  const float* bCol = b + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    // Neighboring threads read elements of A that are k apart, and the same element of B.
    sum += aRow[i] * bCol[Index(i) * n];
  }
  klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const auto kernel = klFitsInt(p) ? gemm<int> : gemm<long long>;
  return klLaunch(kernel, klRowsFirst<TILE, TILE>(p), dim3(TILE, TILE), p, stream);
}
