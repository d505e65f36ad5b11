// @rung    02_tile
// @title   Tile in shared memory
// @after   01_naive
// @idea    a block transposes a 32x32 tile in shared memory, so reads and writes both cover whole sectors. Each column
//          of the tile is in a single bank, so the 32 lanes that read it are serialized
// @expect  sharedLoads up, sharedLoadBankConflicts up
#include "kernel_ladder.h"

__global__ void __launch_bounds__(256) transpose(const float* x, float* y, long long rows, long long cols) {
  __shared__ float tile[32][32];
  const long long col0 = (long long)blockIdx.x * 32, row0 = (long long)blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += 8)
    if (row0 + i < rows && col0 + threadIdx.x < cols)
      tile[i][threadIdx.x] = x[(row0 + i) * cols + col0 + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8)
    if (col0 + i < cols && row0 + threadIdx.x < rows)
      y[(col0 + i) * rows + row0 + threadIdx.x] = tile[threadIdx.x][i];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const dim3 grid(unsigned((p->COLS + 31) / 32), unsigned((p->ROWS + 31) / 32));
  transpose<<<grid, dim3(32, 8), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}

extern "C" const char* kl_unsupported(const KlTask* p, int) {
  return p->ROWS > 65535LL * 32 ? "ROWS must be at most 2097120" : nullptr;
}
