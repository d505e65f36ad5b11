// The kernel for shapes that wide accesses cannot take.
#pragma once

#include "transpose_common.cuh"

// Rows of x and of y all begin at a multiple of 16 bytes.
inline bool klRowsAligned(const KlTask* p) { return p->ROWS % 4 == 0 && p->COLS % 4 == 0; }

constexpr int kAnyTile = 64, kAnyRows = 4;  // threads: 64 x 4

// Transposes any shape, an element at a time. A thread loads 16 elements before it stores the first of them. A column
// of the tile is XORed with the row, so that neither rows nor columns have bank conflicts.
__global__ void __launch_bounds__(kAnyTile * kAnyRows)
transposeAnyShape(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  constexpr int kPerThread = kAnyTile / kAnyRows;
  __shared__ float tile[kAnyTile][kAnyTile];
  const long long row0 = (long long)klGridRow() * kAnyTile, col0 = (long long)blockIdx.x * kAnyTile;
  const int tx = threadIdx.x, ty = threadIdx.y;
  if (row0 >= rows) return;
  float loaded[kPerThread];
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const long long row = row0 + ty + i * kAnyRows;
    loaded[i] = row < rows && col0 + tx < cols ? __ldcs(&x[row * cols + col0 + tx]) : 0;
  }
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int r = ty + i * kAnyRows;
    tile[r][tx ^ r % 32] = loaded[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int c = ty + i * kAnyRows;
    if (col0 + c < cols && row0 + tx < rows) y[(col0 + c) * rows + row0 + tx] = tile[tx][c ^ tx % 32];
  }
}

inline cudaError_t klLaunchAnyShape(const KlTask* p, cudaStream_t stream) {
  transposeAnyShape<<<klTileGrid(p, kAnyTile, kAnyTile), dim3(kAnyTile, kAnyRows), 0, stream>>>(p->x, p->y, p->ROWS,
                                                                                                p->COLS);
  return cudaGetLastError();
}
