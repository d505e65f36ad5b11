// Helpers for the transpose rungs.
#pragma once

#include "kernel_ladder.h"
#include "kl_common.cuh"

// Returns a grid of tileRows x tileCols tiles over x. Consecutive blocks are adjacent along a row of x. klGridRow()
// returns the row of tiles.
inline dim3 klTileGrid(const KlTask* p, int tileRows, int tileCols) {
  return klGrid(ceilDiv(int(p->COLS), tileCols), ceilDiv(int(p->ROWS), tileRows));
}

// Returns whether all rows of x and y start at a multiple of 16 bytes.
inline bool klRowsAligned(const KlTask* p) { return p->ROWS % 4 == 0 && p->COLS % 4 == 0; }

// Transposes single elements, for shapes that do not allow wide accesses. A thread loads kTile / kHeight elements
// before storing the first one. The column in the tile is XORed with the row, so rows and columns have no bank
// conflicts.
template <int kTile, int kHeight>
__global__ void __launch_bounds__(kTile * kHeight)
transposeAnyShape(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  constexpr int kPerThread = kTile / kHeight;
  __shared__ float tile[kTile][kTile];
  const long long row0 = (long long)klGridRow() * kTile, col0 = (long long)blockIdx.x * kTile;
  const int tx = threadIdx.x, ty = threadIdx.y;
  if (row0 >= rows) return;
  float loaded[kPerThread];
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const long long row = row0 + ty + i * kHeight;
    loaded[i] = row < rows && col0 + tx < cols ? __ldcs(&x[row * cols + col0 + tx]) : 0;
  }
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int r = ty + i * kHeight;
    tile[r][tx ^ r % 32] = loaded[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
    const int c = ty + i * kHeight;
    if (col0 + c < cols && row0 + tx < rows) y[(col0 + c) * rows + row0 + tx] = tile[tx][c ^ tx % 32];
  }
}

// This function is a template, so only rungs that call it contain the kernel.
template <int kTile = 64, int kHeight = 4>
cudaError_t klLaunchAnyShape(const KlTask* p, cudaStream_t stream) {
  transposeAnyShape<kTile, kHeight><<<klTileGrid(p, kTile, kTile), dim3(kTile, kHeight), 0, stream>>>(p->x, p->y, p->ROWS,
                                                                                                    p->COLS);
  return cudaGetLastError();
}
