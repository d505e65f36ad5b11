// @rung    01-coalescing
// @title   Lab 1: coalescing
// @after   01_naive
// @idea    threadIdx.x runs along a row of C, so a warp reads one element of A and 32 adjacent elements of B: 1 + 4 sectors instead of 32 + 1
// @expect  globalLoadSectorsPerRequest down, globalStoreSectorsPerRequest down, fmaUtilization up
// @dtype   f32

#include "gemm_common.cuh"

#include <limits.h>

constexpr int kBlock = 32;  // a block has 32 x 32 threads and computes 32 x 32 elements of C

// Index is the type of offsets into B: 32 bits if all offsets fit, otherwise 64 bits.
template <typename Index>
__global__ void __launch_bounds__(kBlock * kBlock)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  // If threadIdx.x selected the row, the lanes of a warp would read elements of A that are k apart. With
  // threadIdx.x as the column, the lanes share an element of A and access adjacent elements of B and C.
  const int row = klTileRow() * kBlock + threadIdx.y;
  const int col = blockIdx.x * kBlock + threadIdx.x;
  if (row >= m || col >= n) return;

  const float* aRow = a + (long long)row * k;
  const float* bCol = b + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += aRow[i] * bCol[Index(i) * n];

  klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, kBlock), ceilDiv(n, kBlock));
  const auto kernel = p->k * p->n <= INT_MAX ? gemmLab<int> : gemmLab<long long>;
  kernel<<<grid, dim3(kBlock, kBlock), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
