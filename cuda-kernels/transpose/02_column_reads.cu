// @rung    02_column_reads
// @title   Column reads, row writes
// @after   01_column_writes
// @idea    conversely, a warp writes a line of y and reads 32 sectors of x. The block's other warps read the rest of
//          each sector from L1 shortly after. Partial writes, in contrast, are not combined before L2
// @expect  globalStoreSectorsPerRequest down, globalLoadSectorsPerRequest up
// @param   WIDTH 8 {4,8,16,32}
#include "transpose_common.cuh"

// Neighboring threads process neighboring elements in a column of x, which is a row of y.
__global__ void __launch_bounds__(32 * WIDTH)
transpose(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  const long long row = (long long)klGridRow() * 32 + threadIdx.x, col = (long long)blockIdx.x * WIDTH + threadIdx.y;
  if (row < rows && col < cols) y[col * rows + row] = x[row * cols + col];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  transpose<<<klTileGrid(p, 32, WIDTH), dim3(32, WIDTH), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}
