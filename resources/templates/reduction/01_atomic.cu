// @rung    01_atomic
// @title   One atomic per element
// @idea    every thread adds its element to the sum. The N atomic additions to one address are serialized
#include "kernel_ladder.h"

__global__ void add(const float* x, double* sum, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, double(x[i]));
}

// The runner calls this function, which enqueues the work and returns without waiting. Several
// launches on the stream are timed together.
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  if (const cudaError_t error = cudaMemsetAsync(p->sum, 0, sizeof(double), stream)) return error;
  add<<<unsigned((p->N + 255) / 256), 256, 0, stream>>>(p->x, p->sum, p->N);
  return cudaGetLastError();
}
