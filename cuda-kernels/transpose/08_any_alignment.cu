// @rung    08_any_alignment
// @title   16-byte accesses at any alignment
// @after   06_vector_tile
// @idea    if ROWS or COLS is odd, rows start at different offsets within 16 bytes. A block reads each row of x from
//          the last 16-byte boundary before its tile. This window shifts by up to 3 elements from row to row. A block
//          writes the sectors of y that start in its tile. For the last sector, it reads up to 7 more rows of x. All
//          accesses are 16 bytes wide, and every sector is written whole
// @expect  memoryInstructions down, l2Bytes down
// @param   TILE_ROWS 128 {64,128}
// @param   THREADS 512 {128,256,512}
// @param   ROWS_FIRST 1 {0,1}
#include "transpose_common.cuh"

constexpr int kQuads = 16, kWindow = kQuads * 4, kTileCols = kWindow - 3;  // elements read per row; tile columns
constexpr int kSector = 8, kRows = TILE_ROWS + kSector;                    // in elements; rows that a block may need
constexpr int kLoads = ceilDiv(kRows * kQuads, THREADS);

// Returns the position of element `at` in the window of row r. If the windows of four adjacent rows start at different
// elements, the XOR avoids bank conflicts. A warp can then access 32 adjacent rows of a column, or four sets of eight
// rows that are 4 rows apart.
__device__ inline int placeOf(int r, int at) { return r * kWindow + ((at / 4 ^ r / 4 % 8) * 4 | at % 4); }

// Returns the distance of `element` from the preceding multiple of `of` elements.
__device__ inline int behind(const float* element, int of) { return int(reinterpret_cast<uintptr_t>(element) / sizeof(float) % of); }

__global__ void __launch_bounds__(THREADS)
transposeAligned(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
  __shared__ __align__(16) float tile[kRows * kWindow];
  const int tileRow = ROWS_FIRST ? blockIdx.x : klGridRow(), tileCol = ROWS_FIRST ? klGridRow() : blockIdx.x;
  const long long row0 = (long long)tileRow * TILE_ROWS, col0 = (long long)tileCol * kTileCols;
  if (row0 >= rows || col0 >= cols) return;
  const float* const corner = x + row0 * cols + col0;
  const int loads = int(min((long long)kRows, rows - row0)), wide = int(min((long long)kTileCols, cols - col0));

  const int quad = threadIdx.x % kQuads, firstRow = threadIdx.x / kQuads;
  float4 loaded[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int r = firstRow + i * (THREADS / kQuads);
    const float* row = corner + r * cols;
    const float* from = row - behind(row, 4) + quad * 4;
    // Elements of other rows, or beyond the end of x, are loaded into the window but not used.
    const long long left = x + rows * cols - from;
    if (r >= loads || from >= row + wide) continue;
    if (left >= 4) loaded[i] = __ldcs(reinterpret_cast<const float4*>(from));
    else loaded[i] = make_float4(from[0], left > 1 ? from[1] : 0, left > 2 ? from[2] : 0, 0);
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const int r = firstRow + i * (THREADS / kQuads);
    if (r < kRows) *reinterpret_cast<float4*>(&tile[placeOf(r, quad * 4)]) = loaded[i];
  }
  __syncthreads();

  constexpr int kPerCol = TILE_ROWS / 4;  // threads with four rows each
  const int turn = threadIdx.x / 8 % 4;
  for (int c = threadIdx.x / kPerCol; c < wide; c += THREADS / kPerCol) {
    float* to = y + (col0 + c) * rows + row0;
    // Skips to the first sector that starts in this tile. The skipped rows belong to the block above, if there is one.
    const int skipped = (kSector - behind(to, kSector)) % kSector;
    const auto at = [&](int r) { return tile[placeOf(r, c + behind(corner + r * cols, 4))]; };
    if (row0 == 0)
      for (int r = threadIdx.x % kPerCol; r < skipped && r < rows; r += kPerCol) to[r] = at(r);
    const int first = skipped + threadIdx.x % kPerCol * 4;
    // Each thread stores four rows. Groups of eight threads start with different rows, because equal rows would cause
    // bank conflicts.
    float v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = first + (i + turn) % 4;
      v[i] = row0 + r < rows ? at(r) : 0;
    }
    if (turn & 1) {
      const float last = v[3];
      v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = last;
    }
    if (turn & 2) {
      const float a = v[0], b = v[1];
      v[0] = v[2], v[1] = v[3], v[2] = a, v[3] = b;
    }
    if (row0 + first + 4 <= rows) *reinterpret_cast<float4*>(to + first) = make_float4(v[0], v[1], v[2], v[3]);
    else
      for (int i = 0; i < 4; ++i)
        if (row0 + first + i < rows) to[first + i] = v[i];
  }
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const int across = ceilDiv(int(p->COLS), kTileCols), down = ceilDiv(int(p->ROWS), TILE_ROWS);
  transposeAligned<<<ROWS_FIRST ? klGrid(down, across) : klGrid(across, down), THREADS, 0, stream>>>(p->x, p->y, p->ROWS, p->COLS);
  return cudaGetLastError();
}
