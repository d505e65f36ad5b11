// @rung    06_vector_tile
// @title   16-byte accesses on both sides
// @after   05_swizzled_tile
// @idea    each thread loads a 4 x 4 patch with four 16-byte loads and transposes it by renaming registers. Columns of
//          four elements then move through shared memory. This takes a quarter of the instructions and puts 64 bytes in
//          flight per thread. If ROWS or COLS is not a multiple of 4, 64 x 64 tiles are moved element by element
// @expect  memoryInstructions down, sharedLoads down
// @param   TILE_COLS 64 {32,64,128}
// @param   TILE_ROWS 64 {32,64,128}
// @param   ROWS_FIRST 1 {0,1}
#include "transpose_common.cuh"

constexpr int kColQuads = TILE_COLS / 4, kRowQuads = TILE_ROWS / 4, kThreads = kColQuads * kRowQuads;

static_assert(kThreads <= 1024, "TILE_COLS * TILE_ROWS / 16 threads must fit into a block of at most 1024 threads");

// Returns the position of four rows of column `col`, in units of 16 bytes. Eight adjacent storing threads differ in the
// column quad, and eight adjacent loading threads differ in the row quad. The XOR gives each group of eight threads
// different positions.
__device__ inline int placeOf(int col, int rowQuad) { return col * kRowQuads + (rowQuad ^ col / 4 % 8); }

__global__ void __launch_bounds__(kThreads)
transposeWide(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  __shared__ float4 tile[TILE_COLS * kRowQuads];
  const int tileRow = ROWS_FIRST ? blockIdx.x : klGridRow(), tileCol = ROWS_FIRST ? klGridRow() : blockIdx.x;
  const long long row0 = (long long)tileRow * TILE_ROWS, col0 = (long long)tileCol * TILE_COLS;
  if (row0 >= rows || col0 >= cols) return;

  {
    const int colQuad = threadIdx.x % kColQuads, rowQuad = threadIdx.x / kColQuads;
    const long long row = row0 + rowQuad * 4, col = col0 + colQuad * 4;
    float4 loaded[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (row + i < rows && col < cols) loaded[i] = __ldcs(reinterpret_cast<const float4*>(&x[(row + i) * cols + col]));
    const int c = colQuad * 4;
    tile[placeOf(c + 0, rowQuad)] = make_float4(loaded[0].x, loaded[1].x, loaded[2].x, loaded[3].x);
    tile[placeOf(c + 1, rowQuad)] = make_float4(loaded[0].y, loaded[1].y, loaded[2].y, loaded[3].y);
    tile[placeOf(c + 2, rowQuad)] = make_float4(loaded[0].z, loaded[1].z, loaded[2].z, loaded[3].z);
    tile[placeOf(c + 3, rowQuad)] = make_float4(loaded[0].w, loaded[1].w, loaded[2].w, loaded[3].w);
  }
  __syncthreads();
  const int rowQuad = threadIdx.x % kRowQuads, firstCol = threadIdx.x / kRowQuads;
  const long long row = row0 + rowQuad * 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int c = firstCol + i * kColQuads;
    if (col0 + c < cols && row < rows)
      *reinterpret_cast<float4*>(&y[(col0 + c) * rows + row]) = tile[placeOf(c, rowQuad)];
  }
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  if (!klRowsAligned(p)) return klLaunchAnyShape(p, stream);
  const int across = ceilDiv(int(p->COLS), TILE_COLS), down = ceilDiv(int(p->ROWS), TILE_ROWS);
  transposeWide<<<ROWS_FIRST ? klGrid(down, across) : klGrid(across, down), kThreads, 0, stream>>>(p->x, p->y, p->ROWS,
                                                                                                  p->COLS);
  return cudaGetLastError();
}
