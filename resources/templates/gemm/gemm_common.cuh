// What every FP32 rung would otherwise repeat: the tiles of C, the epilogue and the dtype check.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

#include <math.h>
#include <stdint.h>

// One block for each tile of C, along the columns first: blockIdx.x is the tile's column.
inline dim3 klTileGrid(int tilesM, int tilesN) { return klGrid(tilesN, tilesM); }

__device__ inline int klTileRow() { return klGridRow(); }

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

inline const char* klRequireF32(const KlGemm* p) {
  return p->dtype == KL_F32 ? nullptr : "this rung takes f32 inputs only";
}

// Below this nothing comes out of the activation: 0 with ReLU, without an activation no bound.
inline float klLeast(const KlGemm* p) { return p->activation == KL_RELU ? 0.0f : -INFINITY; }

// ReLU, where `least` is 0. A NaN stays one: fmaxf would turn it into a 0 that looks right.
__device__ inline float klAtLeast(float x, float least) { return x < least ? least : x; }
