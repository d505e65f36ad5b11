// @rung    30_naive_16
// @title   Naive, blocks of 16 × 16
// @idea    one thread per element of C with threadIdx.x along its row, so that access is coalesced from the start; each half of a warp covers one of two rows, and a block of 256 threads is small enough to fill every SM
// @dtype   f32

#include "gemm_common.cuh"

#include <limits.h>

constexpr int kBlock = 16;  // 16 x 16 threads: each warp is two rows of 16 columns

// Index is the type of an offset into B: 32 bits where they reach, since 64-bit address arithmetic
// takes issue slots from a loop this short.
template <typename Index>
__global__ void __launch_bounds__(kBlock * kBlock)
gemmNaive16(int m, int n, int k, float alpha, const float* __restrict__ a,
            const float* __restrict__ b, float beta, float* __restrict__ c) {
  const int row = klTileRow() * kBlock + threadIdx.y;
  const int col = blockIdx.x * kBlock + threadIdx.x;
  if (row >= m || col >= n) return;

  const float* aRow = a + (long long)row * k;
  const float* bCol = b + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    // A warp reads 16 neighboring elements of B, each for two rows, and two elements of A.
    sum += aRow[i] * bCol[Index(i) * n];
  }
  klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, kBlock), ceilDiv(n, kBlock));
  const auto kernel = p->k * p->n <= INT_MAX ? gemmNaive16<int> : gemmNaive16<long long>;
  kernel<<<grid, dim3(kBlock, kBlock), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
