// Counts byte values exactly, starting at zero: counts[values[i]] += 1. REFERENCE builds the host-memory reference.
#include "kl_abi.h"

#ifdef REFERENCE

struct KlReference {
  long long n;
  const unsigned char* values;
  const unsigned* counts_in;
  unsigned* counts;
};

extern "C" KL_EXPORT void kl_reference(const KlReference* p) {
  for (int bin = 0; bin < 256; ++bin) p->counts[bin] = p->counts_in[bin];
  for (long long i = 0; i < p->n; ++i) ++p->counts[p->values[i]];
}

#else

struct KlTask {
  long long n;
  const unsigned char* values;
  unsigned* counts;
  void* workspace;
  size_t workspaceBytes;
};

// FAULT counts one value in the neighboring bin.
__global__ void countBytes(KlTask p) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += stride) {
    unsigned bin = p.values[i];
#ifdef FAULT
    if (i == 1000) bin ^= 1;
#endif
    atomicAdd(&p.counts[bin], 1u);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *static_cast<int*>(p.workspace) = 1;
}

extern "C" KL_EXPORT size_t kl_workspace_bytes(const KlTask*) { return 4; }

extern "C" KL_EXPORT cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  if (p->workspaceBytes != 4) return cudaErrorInvalidValue;
  countBytes<<<256, 256, 0, stream>>>(*p);
  return cudaGetLastError();
}

#endif
