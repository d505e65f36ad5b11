// Computes the softmax of each row of x. REFERENCE builds the reference in host memory. FAULT selects the fault of a rung.
#include "kl_abi.h"

#include <math.h>
#include <unistd.h>

#ifdef REFERENCE

struct KlReference {
  long long rows, cols;
  const float* x;
  double* y;
  void (*progress)(double fraction);
};

extern "C" KL_EXPORT void kl_reference(const KlReference* p) {
  for (long long r = 0; r < p->rows; ++r) {
    const float* x = p->x + r * p->cols;
    double most = -INFINITY, sum = 0;
    for (long long i = 0; i < p->cols; ++i) most = fmax(most, x[i]);
    for (long long i = 0; i < p->cols; ++i) sum += exp(x[i] - most);
    for (long long i = 0; i < p->cols; ++i) p->y[r * p->cols + i] = exp(x[i] - most) / sum;
#ifdef SLOW
    usleep(20000);
#endif
    p->progress(double(r + 1) / double(p->rows));
  }
}

#else

#ifndef FAULT
#define FAULT 0
#endif
enum { kRight, kReadsPoison, kFails };

struct KlTask {
  long long rows, cols;
  const float* x;
  float* y;
};

__global__ void softmax(KlTask p) {
  __shared__ float part[256];
  const float* x = p.x + blockIdx.x * p.cols;
  float* y = p.y + blockIdx.x * p.cols;
  const auto reduce = [&](float value, bool add) {
    __syncthreads();
    part[threadIdx.x] = value;
    for (int half = 128; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half)
        part[threadIdx.x] =
            add ? part[threadIdx.x] + part[threadIdx.x + half] : fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    return part[0];
  };
  float most = -INFINITY, sum = 0;
  for (long long i = threadIdx.x; i < p.cols; i += 256) most = fmaxf(most, x[i]);
  most = reduce(most, false);
  for (long long i = threadIdx.x; i < p.cols; i += 256) sum += expf(x[i] - most);
  sum = reduce(sum, true);
  for (long long i = threadIdx.x; i < p.cols; i += 256)
    y[i] = expf(x[i] - most) / sum + (FAULT == kReadsPoison ? 0 * y[i] : 0);
}

extern "C" KL_EXPORT cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const int threads = FAULT == kFails ? 4096 : 256;
  softmax<<<unsigned(p->rows), threads, 0, stream>>>(*p);
  return cudaGetLastError();
}

#endif
