// What every FP32 rung would otherwise repeat: the grid, the epilogue and the dtype check.
#pragma once

#include "kernel_ladder.h"

#include <math.h>
#include <stdint.h>

__host__ __device__ constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// Threads that an SM holds, for the second argument of __launch_bounds__, which caps registers so
// that this many blocks fit; ptxas warns where they could not.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int kThreadsPerSm = 1024;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && \
    __CUDA_ARCH__ != 1000 && __CUDA_ARCH__ != 1030
constexpr int kThreadsPerSm = 1536;
#else
constexpr int kThreadsPerSm = 2048;
#endif

// A grid of `fast` x `slow` blocks, neighbours in launch order along `fast`, which lies on grid.x, whose
// limit is 2^31 - 1. `slow` lies on grid.y, which stops at 65535, and goes on in grid.z: the last layer
// can hold surplus blocks, which see klGridRow() beyond `slow` and return.
inline dim3 klGrid(int fast, int slow) {
  constexpr int kMaxGridY = 65535;
  const int layers = ceilDiv(slow, kMaxGridY);
  return dim3(fast, layers == 1 ? slow : kMaxGridY, layers);
}

__device__ inline int klGridRow() { return blockIdx.z * gridDim.y + blockIdx.y; }

// One block for each tile of C, along the columns first: blockIdx.x is the tile's column.
inline dim3 klTileGrid(int tilesM, int tilesN) { return klGrid(tilesN, tilesM); }

__device__ inline int klTileRow() { return klGridRow(); }

// Where a pointer into shared memory points, as PTX takes it.
__device__ inline uint32_t klSharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// beta == 0 must not read C: it may hold NaN, and NaN * 0 is NaN.
__device__ inline void klStore(float* c, float sum, float alpha, float beta) {
  *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
}

__device__ inline void klStore(float4* c, float4 sum, float alpha, float beta) {
  float4 result = make_float4(alpha * sum.x, alpha * sum.y, alpha * sum.z, alpha * sum.w);
  if (beta != 0.0f) {
    const float4 old = *c;
    result.x += beta * old.x;
    result.y += beta * old.y;
    result.z += beta * old.z;
    result.w += beta * old.w;
  }
  *c = result;
}

inline bool klAligned16(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }

inline const char* klRequireF32(const KlGemm* p) {
  return p->dtype == KL_F32 ? nullptr : "this rung takes f32 inputs only";
}

// Below this nothing comes out of the activation: 0 with ReLU, without an activation no bound.
inline float klLeast(const KlGemm* p) { return p->activation == KL_RELU ? 0.0f : -INFINITY; }

// ReLU, where `least` is 0. A NaN stays one: fmaxf would turn it into a 0 that looks right.
__device__ inline float klAtLeast(float x, float least) { return x < least ? least : x; }
