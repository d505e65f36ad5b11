// @rung    15-online-softmax
// @title   Lab 15: softmax, online
// @after   02_block_per_row
// @idea    a block per row makes three passes over it: the maximum, the sum, the results

#include "kernel_ladder.h"

#include <math.h>

constexpr int kThreads = 256;

// Combines the values of all threads of the block in a tree; every thread gets the result.
template <typename Of>
__device__ float reduce(float value, Of of) {
  __shared__ float ofThread[kThreads];
  ofThread[threadIdx.x] = value;
  for (int threads = kThreads / 2; threads > 0; threads /= 2) {
    __syncthreads();
    if (threadIdx.x < threads) ofThread[threadIdx.x] = of(ofThread[threadIdx.x], ofThread[threadIdx.x + threads]);
  }
  __syncthreads();
  value = ofThread[0];
  __syncthreads();
  return value;
}

// TODO: the row is read three times, because the sum needs the maximum of the whole row first.
//       It does not: a sum that was begun with a smaller maximum is off by one factor. Keep the maximum and the sum of
//       what a thread has seen so far, correct the sum when the maximum grows, and read the row twice.
//       Two such pairs can be combined too: by the lanes of a warp with shuffles, then by the warps of the block.
__global__ void __launch_bounds__(kThreads) softmax(const float* x, float* y, long long cols) {
  const float* from = x + blockIdx.x * cols;
  float* to = y + blockIdx.x * cols;
  float largest = -INFINITY, sum = 0;
  for (long long col = threadIdx.x; col < cols; col += kThreads) largest = fmaxf(largest, from[col]);
  largest = reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  for (long long col = threadIdx.x; col < cols; col += kThreads) sum += __expf(from[col] - largest);
  sum = reduce(sum, [](float a, float b) { return a + b; });
  for (long long col = threadIdx.x; col < cols; col += kThreads) to[col] = __expf(from[col] - largest) / sum;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  softmax<<<unsigned(p->ROWS), kThreads, 0, stream>>>(static_cast<const float*>(p->x), static_cast<float*>(p->y),
                                                      p->COLS);
  return cudaGetLastError();
}
