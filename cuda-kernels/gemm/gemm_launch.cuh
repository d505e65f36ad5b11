// The launch of an FP32 rung, and the loads and conditions that let it take any shape.
#pragma once

#include "gemm_common.cuh"

#include <limits.h>

// A kernel over the whole problem. More than 48 KiB of shared memory is granted only to a kernel that requests it.
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

// One block per tile of C, along the columns first or, as the first rungs go, down the rows first: blocks that
// run concurrently then read the same columns of B.
template <int kBM, int kBN>
dim3 klColumnsFirst(const KlGemm* p) {
  return klTileGrid(ceilDiv(int(p->m), kBM), ceilDiv(int(p->n), kBN));
}
template <int kBM, int kBN>
dim3 klRowsFirst(const KlGemm* p) {
  return klGrid(ceilDiv(int(p->m), kBM), ceilDiv(int(p->n), kBN));
}

// Whether offsets into B fit in 32 bits: 64-bit address arithmetic takes issue slots from a short loop.
inline bool klFitsInt(const KlGemm* p) { return p->k * p->n <= INT_MAX; }

// Whether every row can be accessed four floats at a time: a 128-bit access needs a 16-byte aligned address.
inline bool klRowsAligned(const KlGemm* p) {
  return p->k % 4 == 0 && p->n % 4 == 0 && klAligned16(p->a) && klAligned16(p->b) && klAligned16(p->c);
}

// Whether that holds and all tiles are whole, so that nothing needs a check.
template <int kBM, int kBN, int kBK>
bool klTilesWhole(const KlGemm* p) {
  return p->m % kBM == 0 && p->n % kBN == 0 && p->k % kBK == 0 && klRowsAligned(p);
}

// Constants that decide at compile time.
struct KlTrue {
  __device__ constexpr operator bool() const { return true; }
};
struct KlFalse {
  __device__ constexpr operator bool() const { return false; }
};

// Compiles `copy` twice and calls it once: for a tile that lies within K, where conditions that begin with `whole ||`
// vanish, or for the rest of K.
template <typename Copy>
__device__ inline void klCopyTile(bool whole, Copy copy) {
  if (whole) copy(KlTrue());
  else copy(KlFalse());
}
