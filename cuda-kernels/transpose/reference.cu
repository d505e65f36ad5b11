// Reference for the transpose rungs: element by element, on the GPU.
#include "kl_reference.h"

namespace {

__global__ void transposeAll(KlReference p) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < p.ROWS * p.COLS; i += stride) {
    const long long col = i / p.ROWS, row = i - col * p.ROWS;
    p.y[i] = p.x[row * p.COLS + col];
  }
}

}  // namespace

extern "C" cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  transposeAll<<<4096, 256, 0, stream>>>(*p);
  return cudaGetLastError();
}

// Computes the reference result on the host, for emulation.
extern "C" void kl_reference_host(const KlReference* p) {
  for (long long row = 0; row < p->ROWS; ++row)
    for (long long col = 0; col < p->COLS; ++col) p->y[col * p->ROWS + row] = p->x[row * p->COLS + col];
}
