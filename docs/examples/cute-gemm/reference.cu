// Computes C = A Bᵀ in FP64. The error scale is |A| |B|ᵀ.
#include "kl_reference.h"

__global__ void product(const __half* a, const __half* b, double* c, double* scale, long long m, long long n,
                        long long k) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  double sum = 0, size = 0;
  for (long long at = 0; at < k; ++at) {
    const double term = double(__half2float(a[i / n * k + at])) * double(__half2float(b[i % n * k + at]));
    sum += term;
    size += fabs(term);
  }
  c[i] = sum;
  scale[i] = size;
}

extern "C" cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  const long long threads = p->M * p->N;
  product<<<unsigned((threads + 255) / 256), 256, 0, stream>>>((const __half*)p->a, (const __half*)p->b, p->c,
                                                               p->c_scale, p->M, p->N, p->K);
  return cudaGetLastError();
}
