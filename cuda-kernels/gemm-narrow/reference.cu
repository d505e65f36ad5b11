// Computes the expected result for the gemm-narrow rungs. INT8 results are INT32 sums, scaled, rounded and saturated in
// FP32, which is exact. FP16 results are FP64 sums, compared with a tolerance.
#include "kl_reference.h"

#include <math.h>

namespace {

__host__ __device__ inline void element(const KlReference& p, long long row, long long col) {
  const long long i = row * p.n + col;
  if (p.dtype == KL_I8) {
    const signed char* a = static_cast<const signed char*>(p.a) + row * p.k;
    const signed char* b = static_cast<const signed char*>(p.b) + col * p.k;
    int sum = 0;
    for (long long d = 0; d < p.k; ++d) sum += int(a[d]) * int(b[d]);
    p.c[i] = fmin(127.0, fmax(-128.0, rint(double(p.scale * float(sum)))));
    p.c_scale[i] = 1;
    return;
  }
  const float* a = static_cast<const float*>(p.a) + row * p.k;
  const float* b = static_cast<const float*>(p.b) + col * p.k;
  double sum = 0, sumAbs = 0;
  for (long long d = 0; d < p.k; ++d) {
    const double term = double(a[d]) * double(b[d]);
    sum += term;
    sumAbs += fabs(term);
  }
  const double scaled = double(p.scale) * sum;
  p.c[i] = fmin(65504.0, fmax(-65504.0, scaled));
  p.c_scale[i] = fabs(p.c[i]) + ldexp(1.0, -14) + sqrt(double(p.k)) * ldexp(fabs(double(p.scale)) * sumAbs, -11);
}

__global__ void rows(KlReference p, long long first, long long end) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = first + (long long)blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride)
    element(p, i / p.n, i % p.n);
}

}  // namespace

// Splits the work into launches short enough for a GPU that also drives a display.
extern "C" cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  const long long all = p->m * p->n, chunk = 1 + (1LL << 33) / p->k;
  for (long long first = 0; first < all; first += chunk) {
    const long long end = first + chunk < all ? first + chunk : all;
    rows<<<32 * p->smCount, 256, 0, stream>>>(*p, first, end);
    if (const cudaError_t error = cudaGetLastError()) return error;
    if (const cudaError_t error = cudaStreamSynchronize(stream)) return error;
    p->progress(double(end) / double(all));
  }
  return cudaSuccess;
}

// Computes the reference result on the host, for emulation.
extern "C" void kl_reference_host(const KlReference* p) {
  for (long long row = 0; row < p->m; ++row)
    for (long long col = 0; col < p->n; ++col) element(*p, row, col);
}
