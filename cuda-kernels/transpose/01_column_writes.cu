// @rung    01_column_writes
// @title   Row reads, column writes
// @idea    each thread moves one element of x. A warp reads 32 adjacent elements, one line of 128 bytes, and writes
//          them to 32 rows of y. The write touches 32 sectors, with only 4 bytes in each
// @param   HEIGHT 8 {4,8,16,32}
#include "transpose_common.cuh"

__global__ void __launch_bounds__(32 * HEIGHT)
transpose(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  const long long row = (long long)klGridRow() * HEIGHT + threadIdx.y, col = (long long)blockIdx.x * 32 + threadIdx.x;
  if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  transpose<<<klTileGrid(p, HEIGHT, 32), dim3(32, HEIGHT), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}
