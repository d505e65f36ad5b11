// @rung    04_padded_tile
// @title   Padded tile
// @after   03_square_tile
// @idea    a row of the tile is 33 words long, so a column spans
//          all 32 banks. A warp reads a column in one pass
// @expect  sharedLoadBankConflicts down, sharedLoads same
// @param   HEIGHT 8 {4,8,16,32}
#include "transpose_common.cuh"

__global__ void __launch_bounds__(32 * HEIGHT)
transpose(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  __shared__ float tile[32][33];
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
