// Boxes that contain every eighth row, for rows of any length: tensor maps, and access to the boxes' data.
#pragma once

#include "kl_hopper.cuh"
#include "transpose_common.cuh"

#include <algorithm>

// A row of x is read from the 16-byte chunk in which the tile starts. A row of y is written from the first sector that
// starts in the tile, which requires up to 7 more rows of x.
constexpr int kResidues = 8, kChunk = 4, kSector = 8;  // elements

// Returns the distance of `element` from the preceding multiple of `of` elements.
__host__ __device__ inline int behind(const float* element, int of) {
  return int(reinterpret_cast<uintptr_t>(element) / sizeof(float) % of);
}

__device__ inline float loadShared(uint32_t address) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address) : "memory");
  return v;
}

__device__ inline void storeShared(uint32_t address, const float (&v)[4]) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]) : "memory");
}

// Rotates v: v[i] becomes the old v[(i - by) % 4].
__device__ inline void rotate(float (&v)[4], int by) {
  if (by & 1) {
    const float last = v[3];
    v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = last;
  }
  if (by & 2) {
    const float a = v[0], b = v[1];
    v[0] = v[2], v[1] = v[3], v[2] = a, v[3] = b;
  }
}

// Describes every eighth of `count` rows of `length` elements. Starts at `first`, aligned down to a multiple of `of`
// elements.
inline bool describe(CUtensorMap* map, const float* first, int of, long long length, long long count, bool toWrite, int boxRows,
                     int boxCols) {
  const auto encode = klTensorMapEncoder();
  if (!encode) return false;
  const long long end = behind(first, of) + length;
  // Nothing may be written beyond the end of a row, and TMA writes at least 16 bytes.
  const cuuint64_t size[2] = {cuuint64_t(toWrite ? end / kChunk * kChunk : end), cuuint64_t(ceilDiv(int(count), kResidues))};
  const cuuint64_t stride[1] = {cuuint64_t(kResidues * length * sizeof(float))};
  const cuuint32_t box[2] = {cuuint32_t(boxCols), cuuint32_t(boxRows)}, step[2] = {1, 1};
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(first - behind(first, of)), size, stride, box, step,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

// Tensor maps for every eighth row of x and of y. Map r starts at row r.
struct Boxes {
  CUtensorMap x[kResidues], y[kResidues];
  int xStart[kResidues];  // elements of the map before column 0
  int yStart[kResidues];  // the first sector that starts in the row
  int bytes;              // bytes that the boxes of a tile of x load

  // Creates all maps. Returns false if the driver rejects a map.
  bool describeAll(const KlTask* p, int tileRows, int tileCols) {
    const int rows = int(p->ROWS), cols = int(p->COLS), rowGroups = tileRows / kResidues;
    int ahead = 0;  // maximum number of rows that the tile above writes
    for (int r = 0; r < kResidues; ++r) ahead = std::max(ahead, (kSector - behind(p->y + (long long)r * rows, kSector)) % kSector);
    bytes = (kResidues * rowGroups + ahead) * (tileCols + kChunk) * int(sizeof(float));
    for (int r = 0; r < kResidues; ++r) {
      const float* const xRow = p->x + (long long)r * cols;
      const float* const yRow = p->y + (long long)r * rows;
      xStart[r] = behind(xRow, kChunk);
      yStart[r] = behind(yRow, kSector) ? kSector : 0;
      if (!describe(&x[r], xRow, kChunk, cols, rows - r, false, rowGroups + (r < ahead), tileCols + kChunk) ||
          !describe(&y[r], yRow, kSector, rows, cols - r, true, tileCols / kResidues, tileRows))
        return false;
    }
    return true;
  }
};
