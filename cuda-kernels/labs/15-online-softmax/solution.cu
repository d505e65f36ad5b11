// @rung    15-online-softmax
// @title   Lab 15: online softmax
// @after   02_block_per_row
// @idea    each thread keeps a running maximum and a running sum, and corrects the sum when the maximum grows. The kernel needs
//          two passes over the row instead of three. Shuffles combine the pairs of different lanes

#include "kernel_ladder.h"

#include <math.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// The state for a part of a row: its largest element, and the sum of exp(element - largest).
struct Partial {
  float largest = -INFINITY, sum = 0;

  // Returns exp(from - to). Returns 0 if `from` is -infinity, because from - to could then be NaN.
  __device__ static float scale(float from, float to) { return from == -INFINITY ? 0.0f : __expf(from - to); }

  // Either `largest` or `value` is the new maximum, with an exponential of 1. One __expf without a branch is enough.
  __device__ void add(float value) {
    const bool grows = value > largest;
    const float other = scale(grows ? largest : value, grows ? value : largest);
    sum = grows ? sum * other + 1 : sum + other;
    largest = grows ? value : largest;
  }

  __device__ Partial combine(Partial other) const {
    Partial result;
    result.largest = fmaxf(largest, other.largest);
    result.sum = sum * scale(largest, result.largest) + other.sum * scale(other.largest, result.largest);
    return result;
  }
};

__device__ Partial combineLanes(Partial partial) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    Partial other;
    other.largest = __shfl_xor_sync(~0u, partial.largest, lanes);
    other.sum = __shfl_xor_sync(~0u, partial.sum, lanes);
    partial = partial.combine(other);
  }
  return partial;
}

__global__ void __launch_bounds__(kThreads) softmax(const float* __restrict__ x, float* __restrict__ y, long long cols) {
  __shared__ float warpLargest[kWarps], warpSum[kWarps];
  const float* from = x + blockIdx.x * cols;
  float* to = y + blockIdx.x * cols;

  Partial partial;
  for (long long col = threadIdx.x; col < cols; col += kThreads) partial.add(from[col]);
  partial = combineLanes(partial);
  const int lane = threadIdx.x % 32;
  if (lane == 0) {
    warpLargest[threadIdx.x / 32] = partial.largest;
    warpSum[threadIdx.x / 32] = partial.sum;
  }
  __syncthreads();
  Partial row;
  if (lane < kWarps) {
    row.largest = warpLargest[lane];
    row.sum = warpSum[lane];
  }
  row = combineLanes(row);

  const float factor = 1 / row.sum;
  for (long long col = threadIdx.x; col < cols; col += kThreads) to[col] = __expf(from[col] - row.largest) * factor;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  softmax<<<unsigned(p->ROWS), kThreads, 0, stream>>>(static_cast<const float*>(p->x), static_cast<float*>(p->y),
                                                      p->COLS);
  return cudaGetLastError();
}
