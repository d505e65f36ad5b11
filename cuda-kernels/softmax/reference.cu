// Reference for the softmax rungs: one block per row, in FP64 on the GPU.
#include "kl_reference.h"

#include <cuda_bf16.h>
#include <math.h>

namespace {

constexpr int kThreads = 256;

__host__ __device__ double load(const KlReference& p, long long i) {
  if (p.dtype == KL_BF16) return __bfloat162float(static_cast<const __nv_bfloat16*>(p.x)[i]);
  return static_cast<const float*>(p.x)[i];
}

template <typename Of>
__device__ double reduce(double value, Of of) {
  __shared__ double ofThread[kThreads];
  ofThread[threadIdx.x] = value;
  for (int threads = kThreads / 2; threads > 0; threads /= 2) {
    __syncthreads();
    if (threadIdx.x < threads) ofThread[threadIdx.x] = of(ofThread[threadIdx.x], ofThread[threadIdx.x + threads]);
  }
  __syncthreads();
  value = ofThread[0];
  __syncthreads();
  return value;
}

__global__ void __launch_bounds__(kThreads) softmaxRows(KlReference p) {
  for (long long row = blockIdx.x; row < p.ROWS; row += gridDim.x) {
    const long long first = row * p.COLS;
    double largest = -INFINITY, sum = 0;
    for (long long col = threadIdx.x; col < p.COLS; col += kThreads) largest = fmax(largest, load(p, first + col));
    largest = reduce(largest, [](double a, double b) { return fmax(a, b); });
    for (long long col = threadIdx.x; col < p.COLS; col += kThreads) sum += exp(load(p, first + col) - largest);
    sum = reduce(sum, [](double a, double b) { return a + b; });
    for (long long col = threadIdx.x; col < p.COLS; col += kThreads)
      p.y[first + col] = exp(load(p, first + col) - largest) / sum;
  }
}

}  // namespace

extern "C" cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  softmaxRows<<<4096, kThreads, 0, stream>>>(*p);
  return cudaGetLastError();
}

// Computes the reference result on the host, for emulation.
extern "C" void kl_reference_host(const KlReference* p) {
  for (long long row = 0; row < p->ROWS; ++row) {
    const long long first = row * p->COLS, end = first + p->COLS;
    double largest = -INFINITY, sum = 0;
    for (long long i = first; i < end; ++i) largest = fmax(largest, load(*p, i));
    for (long long i = first; i < end; ++i) sum += p->y[i] = exp(load(*p, i) - largest);
    for (long long i = first; i < end; ++i) p->y[i] /= sum;
  }
}
