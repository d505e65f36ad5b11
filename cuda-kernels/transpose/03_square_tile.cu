// @rung    03_square_tile
// @title   Tile in shared memory
// @after   02_column_reads
// @idea    a block reads a 32 x 32 tile into shared memory row by row. The block then writes the tile's columns as rows
//          of y. Global memory is read and written in whole lines. A column of the tile is in one bank, so the 32 lanes
//          that read the column are serialized
// @expect  globalLoadSectorsPerRequest down, globalStoreSectorsPerRequest same, sharedLoadBankConflicts up
// @param   HEIGHT 8 {4,8,16,32}
#include "transpose_common.cuh"

__global__ void __launch_bounds__(32 * HEIGHT)
transpose(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  __shared__ float tile[32][32];
  const long long row0 = (long long)klGridRow() * 32, col0 = (long long)blockIdx.x * 32;
  const int tx = threadIdx.x;
  if (row0 >= rows) return;
#pragma unroll
  for (int r = threadIdx.y; r < 32; r += HEIGHT)
    if (row0 + r < rows && col0 + tx < cols) tile[r][tx] = x[(row0 + r) * cols + col0 + tx];
  __syncthreads();
#pragma unroll
  for (int c = threadIdx.y; c < 32; c += HEIGHT)
    if (col0 + c < cols && row0 + tx < rows) y[(col0 + c) * rows + row0 + tx] = tile[tx][c];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  transpose<<<klTileGrid(p, 32, 32), dim3(32, HEIGHT), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}
