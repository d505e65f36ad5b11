// @rung    01-coalescing
// @title   Lab 1: coalescing
// @after   01_naive
// @idea    each thread computes one element of C. The mapping of threads to elements determines how many sectors each load of a warp touches
// @dtype   f32

#include "gemm_common.cuh"

#include <limits.h>

constexpr int kBlock = 32;  // a block has 32 x 32 threads and computes 32 x 32 elements of C

// Index is the type of offsets into B: 32 bits if all offsets fit, otherwise 64 bits.
template <typename Index>
__global__ void __launch_bounds__(kBlock * kBlock)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c) {
  // The 32 threads of a warp have the same threadIdx.y, and threadIdx.x from 0 to 31.
  // TODO: write down the addresses that these 32 threads access in one load of A and in one load of B.
  //       How many different 32-byte sectors does each of the two loads touch?
  const int row = klTileRow() * kBlock + threadIdx.x;
  const int col = blockIdx.x * kBlock + threadIdx.y;
  if (row >= m || col >= n) return;

  const float* aRow = a + (long long)row * k;
  const float* bCol = b + col;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += aRow[i] * bCol[Index(i) * n];

  // TODO: how many sectors does this store touch?
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
