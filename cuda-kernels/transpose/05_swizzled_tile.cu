// @rung    05_swizzled_tile
// @title   XOR swizzle instead of padding
// @after   04_padded_tile
// @idea    column c of row r is stored in word c XOR r of the row. Rows and columns both span all 32 banks, and
//          no shared memory is wasted. Rows still start at multiples of 128 bytes, as wide accesses and TMA
//          require
// @expect  sharedLoadBankConflicts same, sharedLoads same
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
    if (row0 + r < rows && col0 + tx < cols) tile[r][tx ^ r] = x[(row0 + r) * cols + col0 + tx];
  __syncthreads();
#pragma unroll
  for (int c = threadIdx.y; c < 32; c += HEIGHT)
    if (col0 + c < cols && row0 + tx < rows) y[(col0 + c) * rows + row0 + tx] = tile[tx][c ^ tx];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  transpose<<<klTileGrid(p, 32, 32), dim3(32, HEIGHT), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}
