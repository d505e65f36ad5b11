// Reference for the rungs of reduction/: the sum in FP64 on the GPU. The sum of the absolute values is the scale of the
// rounding errors.
#include "kl_reference.h"

#include <math.h>

namespace {

constexpr int kThreads = 512;

__device__ double blockSum(double value) {
  __shared__ double ofThread[kThreads];
  ofThread[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) ofThread[threadIdx.x] += ofThread[threadIdx.x + half];
    __syncthreads();
  }
  const double sum = ofThread[0];
  __syncthreads();
  return sum;
}

// Uses one block, so the order of additions is the same on every GPU.
__global__ void __launch_bounds__(kThreads) sumAll(KlReference p) {
  double sum = 0, scale = 0;
  for (long long i = threadIdx.x; i < p.N; i += kThreads) {
    sum += p.x[i];
    scale += fabs(double(p.x[i]));
  }
  sum = blockSum(sum);
  scale = blockSum(scale);
  if (threadIdx.x == 0) {
    p.y[0] = sum;
    p.y_scale[0] = scale;
  }
}

}  // namespace

extern "C" cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  sumAll<<<1, kThreads, 0, stream>>>(*p);
  return cudaGetLastError();
}

// Computes the reference result on the host, for emulation.
extern "C" void kl_reference_host(const KlReference* p) {
  double sum = 0, scale = 0;
  for (long long i = 0; i < p->N; ++i) {
    sum += p->x[i];
    scale += fabs(double(p->x[i]));
  }
  p->y[0] = sum;
  p->y_scale[0] = scale;
}
