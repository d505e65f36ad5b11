// @rung    01_naive
// @title   Naive
// @idea    each thread moves one element. A warp reads 32 adjacent elements and writes them to 32 rows, one sector each
#include "kernel_ladder.h"

__global__ void transpose(const float* x, float* y, long long rows, long long cols) {
  const long long col = (long long)blockIdx.x * 32 + threadIdx.x;
  const long long row = (long long)blockIdx.y * 8 + threadIdx.y;
  if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
}

// The runner calls this function, which enqueues the work and returns without waiting.
extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const dim3 grid(unsigned((p->COLS + 31) / 32), unsigned((p->ROWS + 7) / 8));
  transpose<<<grid, dim3(32, 8), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}

// Grids are limited to 65535 blocks along y. A rung that cannot run a problem reports the reason. This does
// not count as a failure.
extern "C" const char* kl_unsupported(const KlTask* p, int) {
  return p->ROWS > 65535LL * 8 ? "ROWS must be at most 524280" : nullptr;
}
