// @rung    14-transpose
// @title   Lab 14: a transpose without conflicts
// @after   01_column_writes
// @idea    a thread moves one element: a warp reads a row of x and writes a column of y

#include "transpose_common.cuh"

constexpr int kHeight = 8;  // rows that a block of 32 x 8 threads covers at once

// y[col][row] = x[row][col].
// TODO: neighboring lanes write elements that lie a whole row of y apart, each in a sector of its own.
//       Let the block carry a tile of 32 x 32 through shared memory, so that its warps read rows of x and write rows of y.
//       Then count the banks that a warp touches on either side of that tile.
__global__ void __launch_bounds__(32 * kHeight)
transpose(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  const long long row = (long long)klGridRow() * kHeight + threadIdx.y, col = (long long)blockIdx.x * 32 + threadIdx.x;
  if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  transpose<<<klTileGrid(p, kHeight, 32), dim3(32, kHeight), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}
