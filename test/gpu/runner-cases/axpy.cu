// Computes y = alpha * x + y in place, for x and y of rows × cols. REFERENCE builds the host-memory reference. With
// ONES, every x is 1. With LEAVES, the last element is skipped. FAULT selects the fault of a rung.
#include "kl_abi.h"

#ifdef REFERENCE

struct KlReference {
  long long rows, cols;
  float alpha;
  const float* x;
  const float* y_in;
  double* y;
};

extern "C" KL_EXPORT void kl_reference(const KlReference* p) {
#ifdef LEAVES
  const long long n = p->rows * p->cols - 1;
#else
  const long long n = p->rows * p->cols;
#endif
  for (long long i = 0; i < n; ++i) {
#ifdef ONES
    const double x = 1;
#else
    const double x = p->x[i];
#endif
    p->y[i] = double(p->alpha) * x + double(p->y_in[i]);
  }
}

#else

#ifndef FAULT
#define FAULT 0
#endif
enum { kRight, kBeyond, kBefore, kWritesInput, kWrongAtOne, kReadsBeyond, kBreaksContext, kLazy, kReplays };

struct KlTask {
  long long rows, cols;
  float alpha;
  float* x;
  float* y;
};

// The number of launches and the first results, which cheating rungs store between launches.
__device__ long long launches;
__device__ float kept[64 * 64];

__global__ void countLaunch() { ++launches; }

// Kernel of cheating rungs, which are correct only in the first launches or with the first inputs.
__global__ void cheat(KlTask p) {
  const long long n = p.rows * p.cols, stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (launches <= 3) p.y[i] = kept[i] = p.y[i] + p.alpha * p.x[i];
    else if (FAULT == kReplays) p.y[i] = kept[i];
  }
}

__global__ void axpy(KlTask p) {
  const long long n = p.rows * p.cols, stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    p.y[i] += p.alpha * p.x[i + (FAULT == kReadsBeyond && i == n - 1 ? 5 : 0)];
    if (i != 0) continue;
    if (FAULT == kBeyond) p.y[n + 3] = 1;
    if (FAULT == kBefore) p.x[-1] = 1;
    if (FAULT == kWritesInput) p.x[n / 2] = 7;
    if (FAULT == kBreaksContext) *reinterpret_cast<volatile int*>(8) = 1;
  }
  if (FAULT == kWrongAtOne && blockIdx.x == 0 && threadIdx.x == 0)
    p.y[3 * p.cols + 5] = 1234.5f;  // an element of the first block
}

extern "C" KL_EXPORT cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  if (FAULT == kLazy || FAULT == kReplays) {
    countLaunch<<<1, 1, 0, stream>>>();
    cheat<<<64, 256, 0, stream>>>(*p);
    return cudaGetLastError();
  }
  // kWrongAtOne requires a single thread, because the order of its writes matters.
  axpy<<<FAULT == kWrongAtOne ? 1 : 64, FAULT == kWrongAtOne ? 1 : 256, 0, stream>>>(*p);
  return cudaGetLastError();
}

#endif
