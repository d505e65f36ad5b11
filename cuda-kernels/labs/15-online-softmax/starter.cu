// @rung    15-online-softmax
// @title   Lab 15: online softmax
// @after   02_block_per_row
// @idea    one block per row makes three passes: one for the maximum, one for the sum, and one for the results

#include "kernel_ladder.h"

#include <math.h>

constexpr int kThreads = 256;

// Combines one value from each thread of the block with a tree. Every thread gets the result.
template <typename Combine>
__device__ float reduce(float value, Combine combine) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = value;
  for (int threads = kThreads / 2; threads > 0; threads /= 2) {
    __syncthreads();
    if (threadIdx.x < threads) values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + threads]);
  }
  __syncthreads();
  value = values[0];
  __syncthreads();
  return value;
}

// TODO: the row is read three times, because this kernel computes the maximum of the whole row before the sum.
//       But a single factor corrects a partial sum that was computed with a smaller maximum. Keep a running maximum and
//       a running sum in each thread, correct the sum when the maximum grows, and read the row only twice.
//       Two such pairs can also be combined: by the lanes of a warp with shuffles, then by the warps of the block.
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
