// @rung    02_block_per_row
// @title   One block per row
// @after   01_naive
// @idea    neighboring threads read neighboring elements, so a warp's load covers whole sectors. Thousands of blocks
//          keep every SM busy. The row is still read three times
// @expect  achievedOccupancy up
// @param   THREADS 256 {128,256,512}
#include "kernel_ladder.h"

#include <math.h>

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Block-wide reduction, first within each warp and then across warps. Every thread gets the result.
template <typename Of>
__device__ float reduce(float value, Of of) {
  __shared__ float ofWarp[THREADS / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) value = of(value, __shfl_xor_sync(~0u, value, lanes));
  __syncthreads();  // the previous result has been read
  if (threadIdx.x % 32 == 0) ofWarp[threadIdx.x / 32] = value;
  __syncthreads();
  value = ofWarp[0];
  for (int warp = 1; warp < THREADS / 32; ++warp) value = of(value, ofWarp[warp]);
  return value;
}

__global__ void __launch_bounds__(THREADS) softmax(const float* x, float* y, long long cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float largest = -INFINITY, sum = 0;
  for (long long col = threadIdx.x; col < cols; col += THREADS) largest = fmaxf(largest, x[col]);
  largest = reduce(largest, Largest());
  for (long long col = threadIdx.x; col < cols; col += THREADS) sum += expf(x[col] - largest);
  sum = reduce(sum, Sum());
  for (long long col = threadIdx.x; col < cols; col += THREADS) y[col] = expf(x[col] - largest) / sum;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  softmax<<<unsigned(p->ROWS), THREADS, 0, stream>>>(p->x, p->y, p->COLS);
  return cudaGetLastError();
}
