// Helpers for the tensor-core rungs: types, WMMA tiles at the edge of a matrix, and a kernel for shapes that the fast
// path of a rung does not support.
#pragma once

#include "gemm_common.cuh"
#include "kl_hopper.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

#include <algorithm>

// ---- Types -----------------------------------------------------------------------------------

inline const char* klRequire16Bit(const KlGemm* p, int sm) {
  if (p->dtype == KL_F32) return "this rung takes f16 and bf16 inputs only";
  return p->dtype == KL_BF16 && sm < 80 ? "tensor cores take bf16 from compute capability 8.0 on" : nullptr;
}

// Calls `launch` with a value of the input type. Only the type of the value matters.
template <typename Launch>
cudaError_t klWithInputType(const KlGemm* p, Launch launch) {
  return p->dtype == KL_BF16 ? launch(__nv_bfloat16()) : launch(__half());
}

// True if the target architecture can multiply this type. If false, the kernel body is empty, and kl_unsupported()
// prevents its launch.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <typename T>
constexpr bool kMultiplies = !kIsBfloat<T>;
#else
template <typename T>
constexpr bool kMultiplies = true;
#endif

inline bool klAligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// Returns whether every row of A, B and C starts at a multiple of 16 bytes, as 128-bit copies require.
inline bool klRowsAligned(const KlGemm* p) {
  return p->k % 8 == 0 && p->n % 8 == 0 && klAligned(p->a, 16) && klAligned(p->b, 16) && klAligned(p->c, 16);
}

__device__ inline void klStore(float2* c, float2 sum, float alpha, float beta) {
  float2 result = make_float2(alpha * sum.x, alpha * sum.y);
  if (beta != 0.0f) {
    const float2 old = *c;
    result.x += beta * old.x;
    result.y += beta * old.y;
  }
  *c = result;
}

// ---- WMMA ------------------------------------------------------------------------------------

constexpr int kWmma = 16;  // rows, columns and depth of a WMMA tile

template <typename T>
using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, kWmma, kWmma, kWmma, T, nvcuda::wmma::row_major>;
template <typename T>
using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, kWmma, kWmma, kWmma, T, nvcuda::wmma::row_major>;
using FragmentC = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kWmma, kWmma, kWmma, float>;

// Returns whether WMMA can use tiles in place. WMMA accesses whole tiles at multiples of 32 bytes, with rows at
// multiples of 16 bytes.
inline bool klWmmaAligned(const KlGemm* p) {
  return klRowsAligned(p) && klAligned(p->a, 32) && klAligned(p->b, 32) && klAligned(p->c, 32);
}

// Loads a tile of a rows x cols matrix, with zeros outside the matrix. A tile that cannot be read in place is copied
// element by element to `scratch`, which holds one tile per warp.
template <typename Fragment, typename T>
__device__ void klLoadTile(Fragment& fragment, const T* matrix, int row, int col, int rows, int cols,
                           bool aligned, T* scratch) {
  const T* tile = matrix + (long long)row * cols + col;
  if (aligned && row + kWmma <= rows && col + kWmma <= cols) {
    nvcuda::wmma::load_matrix_sync(fragment, tile, cols);
    return;
  }
  __syncwarp();
  for (int e = threadIdx.x % 32; e < kWmma * kWmma; e += 32) {
    const int i = e / kWmma, j = e % kWmma;
    scratch[e] = row + i < rows && col + j < cols ? tile[(long long)i * cols + j] : T(0.0f);
  }
  __syncwarp();
  nvcuda::wmma::load_matrix_sync(fragment, scratch, kWmma);
}

// Computes C = alpha * sum + beta * C for one tile of an m x n matrix.
__device__ inline void klStoreTile(FragmentC& sum, float* c, int row, int col, int m, int n, float alpha,
                                   float beta, bool aligned, float* scratch) {
  float* tile = c + (long long)row * n + col;
  if (aligned && row + kWmma <= m && col + kWmma <= n) {
    FragmentC old;
    if (beta != 0.0f) nvcuda::wmma::load_matrix_sync(old, tile, n, nvcuda::wmma::mem_row_major);
#pragma unroll
    for (int i = 0; i < sum.num_elements; ++i)
      sum.x[i] = beta == 0.0f ? alpha * sum.x[i] : alpha * sum.x[i] + beta * old.x[i];
    nvcuda::wmma::store_matrix_sync(tile, sum, n, nvcuda::wmma::mem_row_major);
    return;
  }
  __syncwarp();
  nvcuda::wmma::store_matrix_sync(scratch, sum, kWmma, nvcuda::wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x % 32; e < kWmma * kWmma; e += 32) {
    const int i = e / kWmma, j = e % kWmma;
    if (row + i < m && col + j < n) klStore(&tile[(long long)i * n + j], scratch[e], alpha, beta);
  }
}

// ---- Any shape -------------------------------------------------------------------------------

// The slow path of the rungs that copy at least 16 bytes at a time. Every element is copied individually, so row
// lengths and pointers need no alignment. A block of four warps computes 64 x 64 elements of C, 32 x 32 elements per
// warp.
constexpr int kAnyTile = 64, kAnyDepth = 32, kAnyThreads = 128;

template <typename T>
__global__ void __launch_bounds__(kAnyThreads)
gemmAnyShape(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
             float* __restrict__ c) {
  if constexpr (kMultiplies<T>) {
    __shared__ __align__(32) T aTile[kAnyTile][kAnyDepth + 8], bTile[kAnyDepth][kAnyTile + 8];
    __shared__ __align__(32) float scratch[kAnyThreads / 32][kWmma * kWmma];

    const int row0 = klTileRow() * kAnyTile, col0 = blockIdx.x * kAnyTile;
    if (row0 >= m) return;
    const int warp = threadIdx.x / 32, warpRow = warp / 2 * 32, warpCol = warp % 2 * 32;

    FragmentC sum[2][2];
    for (auto& line : sum)
      for (FragmentC& tile : line) nvcuda::wmma::fill_fragment(tile, 0.0f);

    for (int t = 0; t < k; t += kAnyDepth) {
#pragma unroll 4
      for (int e = threadIdx.x; e < kAnyTile * kAnyDepth; e += kAnyThreads) {
        const int i = e / kAnyDepth, j = e % kAnyDepth;
        aTile[i][j] = row0 + i < m && t + j < k ? a[(long long)(row0 + i) * k + t + j] : T(0.0f);
      }
#pragma unroll 4
      for (int e = threadIdx.x; e < kAnyTile * kAnyDepth; e += kAnyThreads) {
        const int i = e / kAnyTile, j = e % kAnyTile;
        bTile[i][j] = t + i < k && col0 + j < n ? b[(long long)(t + i) * n + col0 + j] : T(0.0f);
      }
      __syncthreads();
#pragma unroll
      for (int d = 0; d < kAnyDepth; d += kWmma) {
        FragmentA<T> aPart[2];
        FragmentB<T> bPart[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          nvcuda::wmma::load_matrix_sync(aPart[i], &aTile[warpRow + i * kWmma][d], kAnyDepth + 8);
          nvcuda::wmma::load_matrix_sync(bPart[i], &bTile[d][warpCol + i * kWmma], kAnyTile + 8);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 2; ++j) nvcuda::wmma::mma_sync(sum[i][j], aPart[i], bPart[j], sum[i][j]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        klStoreTile(sum[i][j], c, row0 + warpRow + i * kWmma, col0 + warpCol + j * kWmma, m, n, alpha, beta,
                    false, scratch[warp]);
  }
}

template <typename T>
cudaError_t klLaunchAnyShape(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  gemmAnyShape<T><<<klTileGrid(ceilDiv(m, kAnyTile), ceilDiv(n, kAnyTile)), kAnyThreads, 0, stream>>>(
      m, n, k, p->alpha, static_cast<const T*>(p->a), static_cast<const T*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}

// ---- mma.sync --------------------------------------------------------------------------------

// Loads four 8 x 8 matrices. Each lane gets two adjacent elements of each matrix; `from` points to a matrix row.
__device__ inline void klLoadMatrices(uint32_t (&part)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(from)
               : "memory");
}

__device__ inline void klLoadMatricesTransposed(uint32_t (&part)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(from)
               : "memory");
}

#define KL_MMA(TYPE)                                                                                       \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                                      \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                      \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                            \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

// Computes d += a * b for 16 x 8 x 16.
template <typename T>
__device__ inline void klMmaSync(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (kIsBfloat<T>) KL_MMA("bf16");
  else KL_MMA("f16");
}
#undef KL_MMA

// Stores the sums of a warp: kRows x kCols tiles of 16 x 8 from row0 and col0. n is even, so two adjacent columns are
// either both inside C or both outside.
template <int kRows, int kCols>
__device__ inline void klStoreFragments(const float (&sum)[kRows][kCols][4], float* c, int row0, int col0, int m, int n,
                                        float alpha, float beta) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + i * 16 + half * 8 + lane / 4;
      if (row >= m) continue;
      float* line = c + (long long)row * n;
#pragma unroll
      for (int j = 0; j < kCols; ++j) {
        const int col = col0 + j * 8 + lane % 4 * 2;
        if (col < n)
          klStore(reinterpret_cast<float2*>(line + col), make_float2(sum[i][j][half * 2], sum[i][j][half * 2 + 1]), alpha,
                  beta);
      }
    }
}

// ---- WGMMA -----------------------------------------------------------------------------------

// Stores the klWgmma sums of a warpgroup: 64 rows from row0, 2 * kSums columns from col0. n is a multiple of 8, so two
// adjacent columns are either both inside C or both outside. The four threads that share a row write 32 bytes of the
// row, which are a whole sector.
template <int kSums>
__device__ inline void klStoreSums(const float (&sum)[kSums], float* c, int row0, int col0, int m, int n,
                                   float alpha, float beta) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row0 + warp * 16 + half * 8 + lane / 4;
    if (row >= m) continue;
    float* line = c + (long long)row * n;
#pragma unroll
    for (int j = 0; j < kSums / 4; ++j) {
      const int col = col0 + j * 8 + lane % 4 * 2;
      if (col >= n) break;
      klStore(reinterpret_cast<float2*>(line + col), make_float2(sum[j * 4 + half * 2], sum[j * 4 + half * 2 + 1]),
              alpha, beta);
    }
  }
}
