// The launch of an FP32 rung, and the loads and conditions that allow any shape.
#pragma once

#include "gemm_common.cuh"

#include <limits.h>

// Launches a kernel over the whole problem. A kernel must explicitly request more than 48 KiB of shared memory.
template <typename Kernel>
cudaError_t klLaunch(Kernel* kernel, dim3 grid, dim3 block, const KlGemm* p, cudaStream_t stream,
                     int sharedBytes = 0) {
  if (sharedBytes > 48 * 1024) {
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sharedBytes);
    if (error != cudaSuccess) return error;
  }
  kernel<<<grid, block, sharedBytes, stream>>>(
      int(p->m), int(p->n), int(p->k), p->alpha, static_cast<const float*>(p->a),
      static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}

// Returns a grid with one block per tile of C. With klColumnsFirst, blockIdx.x is the tile's column and klTileRow() its
// row, so adjacent blocks read the same rows of A. With klRowsFirst, which the first rungs use, blockIdx.x is the
// tile's row and klTileCol() its column, so adjacent blocks read the same columns of B.
template <int kBM, int kBN>
dim3 klColumnsFirst(const KlGemm* p) {
  return klTileGrid(ceilDiv(int(p->m), kBM), ceilDiv(int(p->n), kBN));
}
template <int kBM, int kBN>
dim3 klRowsFirst(const KlGemm* p) {
  return klGrid(ceilDiv(int(p->m), kBM), ceilDiv(int(p->n), kBN));
}
__device__ inline int klTileCol() { return klGridRow(); }

// Returns whether offsets into B fit in 32 bits. 64-bit address arithmetic takes issue slots from a short loop.
inline bool klFitsInt(const KlGemm* p) { return p->k * p->n <= INT_MAX; }

// Returns whether every row allows 128-bit access, which needs 16-byte aligned addresses.
inline bool klRowsAligned(const KlGemm* p) {
  return p->k % 4 == 0 && p->n % 4 == 0 && klAligned16(p->a) && klAligned16(p->b) && klAligned16(p->c);
}

// Returns whether rows are aligned and all tiles are whole, so no checks are needed.
template <int kBM, int kBN, int kBK>
bool klTilesWhole(const KlGemm* p) {
  return p->m % kBM == 0 && p->n % kBN == 0 && p->k % kBK == 0 && klRowsAligned(p);
}

// Boolean constants that are known at compile time.
struct KlTrue {
  __device__ constexpr operator bool() const { return true; }
};
struct KlFalse {
  __device__ constexpr operator bool() const { return false; }
};

// Compiles `copy` twice and calls one version. For a tile inside K, conditions that begin with `whole ||` are removed.
// The version for a tile that extends past K keeps these conditions.
template <typename Copy>
__device__ inline void klCopyTile(bool whole, Copy copy) {
  if (whole) copy(KlTrue());
  else copy(KlFalse());
}
