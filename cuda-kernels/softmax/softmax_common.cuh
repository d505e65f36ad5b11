// Helpers for the softmax rungs: elements of two types, packs of 16 bytes, and the running state of a row.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

#include <cuda_bf16.h>
#include <math.h>

// Calls launch(T()), where T is the element type.
template <typename Launch>
cudaError_t klForType(const KlTask* p, Launch launch) {
  if (p->dtype == KL_BF16) launch(__nv_bfloat16());
  else launch(float());
  return cudaGetLastError();
}

// ---- Elements ----------------------------------------------------------------------------------

__device__ inline float klToFloat(float value) { return value; }
__device__ inline float klToFloat(__nv_bfloat16 value) { return __bfloat162float(value); }
template <typename T>
__device__ inline T klFromFloat(float value) {
  if constexpr (sizeof(T) == 2) return __float2bfloat16_rn(value);
  else return value;
}

// The number of elements in 16 bytes.
template <typename T>
constexpr int kPerPack = 16 / int(sizeof(T));

template <typename T>
struct alignas(16) KlPack {
  T elements[kPerPack<T>];

  __device__ float at(int i) const { return klToFloat(elements[i]); }
  __device__ void set(int i, float value) { elements[i] = klFromFloat<T>(value); }
  // Returns a pack that adds nothing to a row, because its exponentials are 0.
  __device__ static KlPack nothing() {
    KlPack pack;
#pragma unroll
    for (int i = 0; i < kPerPack<T>; ++i) pack.set(i, -INFINITY);
    return pack;
  }
};

template <typename T>
__device__ inline KlPack<T> klLoadPack(const KlPack<T>* from) {
  const uint4 bits = __ldcs(reinterpret_cast<const uint4*>(from));
  return *reinterpret_cast<const KlPack<T>*>(&bits);
}

template <typename T>
__device__ inline void klStorePack(KlPack<T>* to, const KlPack<T>& pack) {
  __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(&pack));
}

// Returns whether every row is a whole number of packs at a 16-byte aligned address.
template <typename T>
bool klPacked(const KlTask* p) {
  return p->COLS % kPerPack<T> == 0 && klAligned16(p->x) && klAligned16(p->y);
}

// Returns exp(value - largest), or 0 below 2^-126. exp2f() would take three more instructions to keep such small
// results. The subtraction comes first, because the rounding error of a product with log2(e) grows with the value.
__device__ inline float klExp(float value, float largest) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"((value - largest) * 1.4426950408889634f));
  return result;
}

// ---- A row -------------------------------------------------------------------------------------

// The state of a row: the largest element so far and the sum of exp(element - largest). The sum is NaN once an element
// is NaN.
struct KlRow {
  float largest = -INFINITY, sum = 0;

  // Returns the value to subtract in exponents. If all elements so far are -infinity, returns 0, because the difference
  // would be NaN.
  __device__ static float shiftOf(float largest) { return largest == -INFINITY ? 0 : largest; }

  __device__ void add(float value) {
    const float above = fmaxf(largest, value), shift = shiftOf(above);
    // One of the two values is the new maximum, so its exponential is 1. A NaN value makes the sum NaN.
    const bool grows = value > largest;
    const float other = klExp(grows ? largest : value, shift);
    sum = grows ? sum * other + 1 : sum + other;
    largest = above;
  }

  // Adds a pack of elements to the state and scales the sum only once.
  template <typename T>
  __device__ void add(const KlPack<T>& pack) {
    float above = largest;
#pragma unroll
    for (int i = 0; i < kPerPack<T>; ++i) above = fmaxf(above, pack.at(i));
    const float shift = shiftOf(above);
    sum *= klExp(largest, shift);
#pragma unroll
    for (int i = 0; i < kPerPack<T>; ++i) sum += klExp(pack.at(i), shift);
    largest = above;
  }

  __device__ KlRow with(KlRow other) const {
    KlRow both;
    both.largest = fmaxf(largest, other.largest);
    const float shift = shiftOf(both.largest);
    both.sum = sum * klExp(largest, shift) + other.sum * klExp(other.largest, shift);
    return both;
  }

  // Combines the states of `kLanes` adjacent lanes.
  template <int kLanes = 32>
  __device__ KlRow acrossLanes() const {
    KlRow row = *this;
#pragma unroll
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2) {
      KlRow other;
      other.largest = __shfl_xor_sync(~0u, row.largest, lanes);
      other.sum = __shfl_xor_sync(~0u, row.sum, lanes);
      row = row.with(other);
    }
    return row;
  }

  // Combines the states of all threads in the block. `ofWarp` is in shared memory, with one entry per warp. No thread
  // may still be reading old values of `ofWarp`.
  template <int kThreads>
  __device__ KlRow acrossBlock(KlRow* ofWarp) const {
    constexpr int kWarps = kThreads / 32;
    const KlRow own = acrossLanes();
    const int lane = threadIdx.x % 32;
    if (lane == 0) ofWarp[threadIdx.x / 32] = own;
    __syncthreads();
    return (lane < kWarps ? ofWarp[lane] : KlRow()).acrossLanes();
  }
};

// Returns the maximum or the sum of a block's values. `ofWarp` is in shared memory, with one entry per warp. No thread
// may still be reading old values of `ofWarp`.
template <int kThreads, typename Of>
__device__ float klReduce(float value, float* ofWarp, float nothing, Of of) {
  constexpr int kWarps = kThreads / 32;
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value = of(value, __shfl_xor_sync(~0u, value, lanes));
  if (lane == 0) ofWarp[threadIdx.x / 32] = value;
  __syncthreads();
  value = lane < kWarps ? ofWarp[lane] : nothing;
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value = of(value, __shfl_xor_sync(~0u, value, lanes));
  return value;
}

template <int kThreads>
__device__ float klLargest(float value, float* ofWarp) {
  return klReduce<kThreads>(value, ofWarp, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
}

template <int kThreads>
__device__ float klSum(float value, float* ofWarp) {
  return klReduce<kThreads>(value, ofWarp, 0, [](float a, float b) { return a + b; });
}

// ---- A thread's part of a row, in registers -----------------------------------------------------

template <typename T, int kPacks>
struct KlPart {
  KlPack<T> packs[kPacks];

  __device__ float largest() const {
    float value = -INFINITY;
#pragma unroll
    for (int i = 0; i < kPacks; ++i)
#pragma unroll
      for (int j = 0; j < kPerPack<T>; ++j) value = fmaxf(value, packs[i].at(j));
    return value;
  }

  __device__ float sum(float largest) const {
    float value = 0;
#pragma unroll
    for (int i = 0; i < kPacks; ++i)
#pragma unroll
      for (int j = 0; j < kPerPack<T>; ++j) value += klExp(packs[i].at(j), largest);
    return value;
  }

  __device__ KlPack<T> result(int i, float largest, float factor) const {
    KlPack<T> out;
#pragma unroll
    for (int j = 0; j < kPerPack<T>; ++j) out.set(j, klExp(packs[i].at(j), largest) * factor);
    return out;
  }
};

// ---- Rows of any shape -------------------------------------------------------------------------

// Handles rows that are not a whole number of packs or are too long for a rung. Uses one block per row, single-element
// accesses, and two passes.
template <typename T, int kThreads>
__global__ void __launch_bounds__(kThreads) klSoftmaxAnyShape(const T* __restrict__ x, T* __restrict__ y, long long cols) {
  __shared__ KlRow ofWarp[kThreads / 32];
  const T* from = x + blockIdx.x * cols;
  T* to = y + blockIdx.x * cols;
  KlRow row;
  for (long long col = threadIdx.x; col < cols; col += kThreads) row.add(klToFloat(from[col]));
  row = row.acrossBlock<kThreads>(ofWarp);
  const float factor = 1 / row.sum;
  for (long long col = threadIdx.x; col < cols; col += kThreads)
    to[col] = klFromFloat<T>(klExp(klToFloat(from[col]), row.largest) * factor);
}

template <typename T>
void klLaunchAnyShape(const KlTask* p, cudaStream_t stream) {
  constexpr int kThreads = 512;
  klSoftmaxAnyShape<T, kThreads>
      <<<unsigned(p->ROWS), kThreads, 0, stream>>>(static_cast<const T*>(p->x), static_cast<T*>(p->y), p->COLS);
}
