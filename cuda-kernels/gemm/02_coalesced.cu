// @rung    02_coalesced
// @title   Coalesced global access
// @after   01_naive
// @idea    threadIdx.x is now the column index of C. A warp reads 32 adjacent elements of B in 4 sectors. Each load of A reads one broadcast element instead of 32 scattered sectors
// @expect  fmaUtilization up, sharedLoads same
// @dtype   f32

#include "gemm_launch.cuh"

constexpr int TILE = 32;  // 32 x 32 threads: each warp computes one row of 32 columns

// Index is the type of offsets into B: int if the offsets fit, because 64-bit arithmetic takes more instructions.
template <typename Index>
__global__ void __launch_bounds__(TILE * TILE)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  // klRowsFirst makes blockIdx.x the tile's row and klTileCol() its column.
  const int row = blockIdx.x * TILE + threadIdx.y;
  const int col = klTileCol() * TILE + threadIdx.x;
  if (row >= m || col >= n) return;

  const float* aRow = a + (long long)row * k;
  const float* bCol = b + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    // Neighboring threads read neighboring elements of B and the same element of A.
    sum += aRow[i] * bCol[Index(i) * n];
  }
  klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const auto kernel = klFitsInt(p) ? gemm<int> : gemm<long long>;
  return klLaunch(kernel, klRowsFirst<TILE, TILE>(p), dim3(TILE, TILE), p, stream);
}
