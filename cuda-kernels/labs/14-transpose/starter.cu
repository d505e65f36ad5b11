// @rung    14-transpose
// @title   Lab 14: a transpose without conflicts
// @after   01_column_writes
// @idea    each thread moves one element, so a warp reads 32 elements of a row of x and writes 32 elements of a column of y

#include "transpose_common.cuh"

constexpr int kHeight = 8;  // rows that a block of 32 x 8 threads covers

// Computes y[col][row] = x[row][col].
// TODO: neighboring lanes write elements that are a whole row of y apart, each in its own sector.
//       Let the block pass a 32 x 32 tile through shared memory, so that its warps read rows of x and write rows of y.
//       Then count the banks that a warp uses when it writes to the tile and when it reads from the tile.
__global__ void __launch_bounds__(32 * kHeight)
transpose(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  const long long row = (long long)klGridRow() * kHeight + threadIdx.y, col = (long long)blockIdx.x * 32 + threadIdx.x;
  if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  transpose<<<klTileGrid(p, kHeight, 32), dim3(32, kHeight), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}
