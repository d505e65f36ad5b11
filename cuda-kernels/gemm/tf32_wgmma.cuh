// TF32 WGMMA for tiles of 128-byte rows: element positions, asynchronous copies, products, and the store of the sums.
#pragma once

#include "tensor_common.cuh"
#include "tf32_common.cuh"

// Returns the position of four elements along K in a tile of 128-byte rows, permuted by the row number modulo 8.
__device__ inline uint32_t place(int row, int four) { return row * 128 + ((four ^ (row & 7)) << 4); }

// Enqueues d += a * b for 64 x 128 x 8, with A from registers.
__device__ inline void multiplyTf32(float (&d)[64], const uint32_t (&a)[4], uint64_t b) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {" KL_NAMES_64
               "}, {%64, %65, %66, %67}, %68, p, 1, 1;\n}\n"
               : KL_SUMS_64(0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

template <int kWide>
__device__ inline void copyAsync(uint32_t to, const float* from, bool inside) {
  if constexpr (kWide == 4)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(inside ? 4 : 0) : "memory");
}

// Stores alpha * sum + beta * C for the sums of one lane, whose first row of C is row0. Column 4 l + j of the matrix
// was row 32 j + l of the tile of B, so a lane has four adjacent columns.
template <int kWide>
__device__ inline void klStoreTransposedB(const float (&sum)[64], float* __restrict__ c, int row0, int col0, int m, int n,
                                          float alpha, float beta) {
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row0 + half * 8;
    if (row >= m) continue;
    float* line = c + (long long)row * n;
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        // Row j * 8 + 2 t + e of the tile and the rows 32, 64 and 96 rows below it are four adjacent columns of C.
        const int col = col0 + (j * 8 + t * 2 + e) * 4, i = j * 4 + half * 2 + e;
        const float four[4] = {sum[i], sum[i + 16], sum[i + 32], sum[i + 48]};
        if constexpr (kWide == 4) {
          if (col < n) klStore(reinterpret_cast<float4*>(line + col), make_float4(four[0], four[1], four[2], four[3]), alpha, beta);
        } else {
#pragma unroll
          for (int x = 0; x < 4; ++x)
            if (col + x < n) klStore(&line[col + x], four[x], alpha, beta);
        }
      }
  }
}
