// @rung    90_int8_naive
// @title   One thread per element, byte by byte
// @idea    each thread multiplies a row of A by a row of B, one byte at a time. To convert its INT32 sum to INT8, the
//          thread scales the sum by a float, rounds it, and saturates it
// @dtype   i8
// @out     i8
#include "narrow_common.cuh"

__global__ void __launch_bounds__(256)
gemm(int m, int n, int k, float scale, const signed char* __restrict__ a, const signed char* __restrict__ b,
     signed char* __restrict__ c) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = klGridRow() * 8 + threadIdx.y;
  if (row >= m || col >= n) return;
  int sum = 0;
  for (int d = 0; d < k; ++d) sum += a[(long long)row * k + d] * b[(long long)col * k + d];
  c[(long long)row * n + col] = klNarrow(sum, scale);
}

extern "C" cudaError_t kl_launch(const KlGemmNarrow* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  gemm<<<klGrid(ceilDiv(n, 32), ceilDiv(m, 8)), dim3(32, 8), 0, stream>>>(
      m, n, k, p->scale, static_cast<const signed char*>(p->a), static_cast<const signed char*>(p->b),
      static_cast<signed char*>(p->c));
  return cudaGetLastError();
}
