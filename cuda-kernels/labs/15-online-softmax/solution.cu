// @rung    15-online-softmax
// @title   Lab 15: softmax, online
// @after   02_block_per_row
// @idea    a thread keeps the maximum and the sum of what it has seen, and corrects the sum when the maximum grows: two
//          passes over the row in place of three, and pairs combine by shuffles

#include "kernel_ladder.h"

#include <math.h>

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// What is known of a part of a row: its largest element, and the sum of exp(element - largest).
struct Seen {
  float largest = -INFINITY, sum = 0;

  // Where nothing but -infinity was seen, the difference to itself would be NaN.
  __device__ static float scale(float from, float to) { return from == -INFINITY ? 0.0f : __expf(from - to); }

  // Of the old and the new element one is the maximum, whose exponential is 1: one exponential is left, without a branch.
  __device__ void add(float value) {
    const bool grows = value > largest;
    const float other = scale(grows ? largest : value, grows ? value : largest);
    sum = grows ? sum * other + 1 : sum + other;
    largest = grows ? value : largest;
  }

  __device__ Seen with(Seen other) const {
    Seen both;
    both.largest = fmaxf(largest, other.largest);
    both.sum = sum * scale(largest, both.largest) + other.sum * scale(other.largest, both.largest);
    return both;
  }
};

__device__ Seen acrossLanes(Seen seen) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    Seen other;
    other.largest = __shfl_xor_sync(~0u, seen.largest, lanes);
    other.sum = __shfl_xor_sync(~0u, seen.sum, lanes);
    seen = seen.with(other);
  }
  return seen;
}

__global__ void __launch_bounds__(kThreads) softmax(const float* __restrict__ x, float* __restrict__ y, long long cols) {
  __shared__ float largestOf[kWarps], sumOf[kWarps];
  const float* from = x + blockIdx.x * cols;
  float* to = y + blockIdx.x * cols;

  Seen seen;
  for (long long col = threadIdx.x; col < cols; col += kThreads) seen.add(from[col]);
  seen = acrossLanes(seen);
  const int lane = threadIdx.x % 32;
  if (lane == 0) {
    largestOf[threadIdx.x / 32] = seen.largest;
    sumOf[threadIdx.x / 32] = seen.sum;
  }
  __syncthreads();
  Seen row;
  if (lane < kWarps) {
    row.largest = largestOf[lane];
    row.sum = sumOf[lane];
  }
  row = acrossLanes(row);

  const float factor = 1 / row.sum;
  for (long long col = threadIdx.x; col < cols; col += kThreads) to[col] = __expf(from[col] - row.largest) * factor;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  softmax<<<unsigned(p->ROWS), kThreads, 0, stream>>>(static_cast<const float*>(p->x), static_cast<float*>(p->y),
                                                      p->COLS);
  return cudaGetLastError();
}
