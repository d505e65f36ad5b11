// Copies x of any type to y. This task tests fills and the exact check. REFERENCE builds the
// reference in host memory. FAULT flips the lowest bit of element 5.
#include "kl_abi.h"

#include <string.h>

#ifdef REFERENCE

struct KlReference {
  long long count, elementBytes;
  const void* x;
  void* y;
};

extern "C" KL_EXPORT void kl_reference(const KlReference* p) { memcpy(p->y, p->x, p->count * p->elementBytes); }

#else

struct KlTask {
  long long count, elementBytes;
  const char* x;
  char* y;
};

__global__ void copyBytes(KlTask p) {
  const long long stride = (long long)gridDim.x * blockDim.x, bytes = p.count * p.elementBytes;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += stride) {
#ifdef FAULT
    p.y[i] = p.x[i] ^ (i == 5 * p.elementBytes);
#else
    p.y[i] = p.x[i];
#endif
  }
}

extern "C" KL_EXPORT cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  copyBytes<<<64, 256, 0, stream>>>(*p);
  return cudaGetLastError();
}

#endif
