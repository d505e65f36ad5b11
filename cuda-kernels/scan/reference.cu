// Reference for the scan rungs: running sums in FP64 on the GPU, and the largest magnitude of any running sum so far.
// This magnitude is the scale of the rounding errors. The kernels store intermediate values in the result buffers. The
// order of additions is the same on every GPU.
#include "kl_reference.h"

#include <math.h>

namespace {

constexpr long long kChunk = 1024;  // elements per thread

struct Chunk {
  long long begin, end;
  __device__ Chunk(long long chunk, long long n) : begin(chunk * kChunk), end(min(begin + kChunk, n)) {}
};

__device__ long long ownChunk() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

// Computes y[i] within each chunk.
__global__ void sumWithin(KlReference p) {
  const Chunk chunk(ownChunk(), p.N);
  double sum = 0;
  for (long long i = chunk.begin; i < chunk.end; ++i) p.y[i] = sum += p.x[i];
}

// Stores the sum of all preceding chunks in the first y_scale element of each chunk.
__global__ void carrySums(KlReference p) {
  double carry = 0;
  for (long long c = 0; c * kChunk < p.N; ++c) {
    const Chunk chunk(c, p.N);
    p.y_scale[chunk.begin] = carry;
    carry += p.y[chunk.end - 1];
  }
}

// Computes the running sums, and the largest magnitude so far within each chunk.
__global__ void addCarry(KlReference p) {
  const Chunk chunk(ownChunk(), p.N);
  if (chunk.begin >= p.N) return;
  const double carry = p.y_scale[chunk.begin];
  double largest = 0;
  for (long long i = chunk.begin; i < chunk.end; ++i) {
    p.y[i] += carry;
    p.y_scale[i] = largest = fmax(largest, fabs(p.y[i]));
  }
}

// Stores the largest magnitude of all preceding elements in the first y_scale element of each chunk.
__global__ void carryLargest(KlReference p) {
  double carry = 0;
  for (long long c = 0; c * kChunk < p.N; ++c) {
    const Chunk chunk(c, p.N);
    const double largest = p.y_scale[chunk.end - 1];
    p.y_scale[chunk.begin] = fmax(carry, p.y_scale[chunk.begin]);
    carry = fmax(carry, largest);
  }
}

__global__ void raiseScales(KlReference p) {
  const Chunk chunk(ownChunk(), p.N);
  for (long long i = chunk.begin + 1; i < chunk.end; ++i) p.y_scale[i] = fmax(p.y_scale[i], p.y_scale[chunk.begin]);
}

}  // namespace

extern "C" cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  const long long chunks = (p->N + kChunk - 1) / kChunk;
  const unsigned blocks = unsigned((chunks + 63) / 64);
  sumWithin<<<blocks, 64, 0, stream>>>(*p);
  carrySums<<<1, 1, 0, stream>>>(*p);
  addCarry<<<blocks, 64, 0, stream>>>(*p);
  carryLargest<<<1, 1, 0, stream>>>(*p);
  raiseScales<<<blocks, 64, 0, stream>>>(*p);
  return cudaGetLastError();
}

// Computes the reference result on the host, for emulation.
extern "C" void kl_reference_host(const KlReference* p) {
  double sum = 0, largest = 0;
  for (long long i = 0; i < p->N; ++i) {
    p->y[i] = sum += p->x[i];
    p->y_scale[i] = largest = fmax(largest, fabs(sum));
  }
}
