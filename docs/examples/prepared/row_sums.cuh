#pragma once

#include "kernel_ladder.h"

// Sums one row per block.
static __global__ void sumRows(const float* x, float* y, long long cols) {
  __shared__ float sums[8];
  const float* row = x + blockIdx.x * cols;
  float sum = 0;
  for (long long i = threadIdx.x; i < cols; i += blockDim.x) sum += row[i];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < 8; ++warp) sum += sums[warp];
    y[blockIdx.x] = sum;
  }
}

static void sumRowsOf(const KlTask* p, long long from, long long to, cudaStream_t stream) {
  if (to > from) sumRows<<<unsigned(to - from), 256, 0, stream>>>(p->x + from * p->COLS, p->y + from, p->COLS);
}
