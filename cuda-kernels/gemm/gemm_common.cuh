// Helpers for the FP32 rungs: the tiles of C, the epilogue and the dtype check.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

#include <math.h>
#include <stdint.h>

// Returns a grid with one block per tile of C, and blockIdx.x as the tile column.
inline dim3 klTileGrid(int tilesM, int tilesN) { return klGrid(tilesN, tilesM); }

// Returns the tile row of a block in a klTileGrid(). If C has more than 65535 tile rows, klGrid() adds blocks whose row
// is outside C. Blocks outside C must return.
__device__ inline int klTileRow() { return klGridRow(); }

// Stores alpha * sum + beta * C. With beta == 0, C is not read: it may hold NaN, and NaN * 0 is NaN.
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

inline const char* klRequireF32(const KlGemm* p) {
  return p->dtype == KL_F32 ? nullptr : "this rung takes f32 inputs only";
}

// Returns the activation's lower bound: 0 for ReLU, -infinity without an activation.
inline float klLeast(const KlGemm* p) { return p->activation == KL_RELU ? 0.0f : -INFINITY; }

// Applies ReLU if `least` is 0. A NaN stays a NaN, unlike with fmaxf, which would return a plausible 0.
__device__ inline float klAtLeast(float x, float least) { return x < least ? least : x; }
