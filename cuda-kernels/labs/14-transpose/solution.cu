// @rung    14-transpose
// @title   Lab 14: a transpose without conflicts
// @after   01_column_writes
// @idea    tiles pass through shared memory, so warps read and write whole rows of a tile. Each row of the tile is
//          rotated, so the elements of a column are in 32 different banks

#include "transpose_common.cuh"

constexpr int kTile = 32;
constexpr int kHeight = 8;  // a block of 32 x 8 threads copies the tile in four steps

// Returns the rotated position of column c in row r of the tile, which is also its bank.
__device__ inline int bankOf(int r, int c) { return (r + c) % kTile; }

__global__ void __launch_bounds__(kTile * kHeight)
transpose(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  __shared__ float tile[kTile][kTile];
  const long long row0 = (long long)klGridRow() * kTile, col0 = (long long)blockIdx.x * kTile;
  if (row0 >= rows) return;
  const int lane = threadIdx.x;
#pragma unroll
  for (int r = threadIdx.y; r < kTile; r += kHeight)
    if (row0 + r < rows && col0 + lane < cols) tile[r][bankOf(r, lane)] = x[(row0 + r) * cols + col0 + lane];
  __syncthreads();
#pragma unroll
  for (int c = threadIdx.y; c < kTile; c += kHeight)
    if (col0 + c < cols && row0 + lane < rows) y[(col0 + c) * rows + row0 + lane] = tile[lane][bankOf(lane, c)];
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  transpose<<<klTileGrid(p, kTile, kTile), dim3(kTile, kHeight), 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}
