// @rung    02_coalesced
// @title   Coalesced global access
// @after   01_naive
// @idea    threadIdx.x runs along a row of C: a warp reads 32 neighbouring elements of B in 4 sectors and one broadcast element of A, where it read 32 scattered sectors
// @expect  fmaUtilization up, sharedLoads same
// @dtype   f32

#include "gemm_common.cuh"

#include <limits.h>

constexpr int kBlock = 32;  // 32 x 32 threads: each warp is one row of 32 columns

// Index is the type of an offset into B: 32 bits where they reach, since 64-bit address arithmetic
// takes issue slots from a loop this short.
template <typename Index>
__global__ void __launch_bounds__(kBlock * kBlock)
gemmCoalesced(int m, int n, int k, float alpha, const float* __restrict__ a,
              const float* __restrict__ b, float beta, float* __restrict__ c) {
  const int row = blockIdx.x * kBlock + threadIdx.y;
  const int col = klGridRow() * kBlock + threadIdx.x;
  if (row >= m || col >= n) return;

  const float* aRow = a + (long long)row * k;
  const float* bCol = b + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    // Neighbouring threads read neighbouring elements of B, and the same element of A.
    sum += aRow[i] * bCol[Index(i) * n];
  }
  klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  // Down the rows first: blocks that run at one time read the same columns of B.
  const dim3 grid = klGrid(ceilDiv(m, kBlock), ceilDiv(n, kBlock));
  const auto kernel = p->k * p->n <= INT_MAX ? gemmCoalesced<int> : gemmCoalesced<long long>;
  kernel<<<grid, dim3(kBlock, kBlock), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
