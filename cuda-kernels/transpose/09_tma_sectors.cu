// @rung    09_tma_sectors
// @title   Rows of any length through TMA
// @after   08_any_alignment
// @idea    TMA requires rows that start at multiples of 16 bytes. If ROWS or COLS is odd, every eighth row still starts
//          at the same offset within a sector. One TMA box therefore covers all rows of a tile whose row numbers are
//          equal modulo 8. As in 08_any_alignment, whole sectors of y are stored. Threads only transpose within shared
//          memory. The first block to finish takes the next tile. If x is smaller than a tile, elements move one by one
// @expect  memoryInstructions down, dramUtilization up
// @param   TILE_COLS 128 {64,96,128,160}
// @param   TILE_ROWS 64 {64,96,128}
// @param   STAGES 4 {2,3,4,5,6}
// @param   BUFFERS 2 {2,3,4}
// @param   THREADS 256 {128,256,512}
// @param   BLOCKS_PER_SM 1 {1,2,3}
// @requires sm_90a
#include "transpose_boxes.cuh"

constexpr int kPitch = (TILE_COLS + kChunk) * 4;        // bytes per row in shared memory
constexpr int kRowGroups = TILE_ROWS / kResidues, kColGroups = TILE_COLS / kResidues;
constexpr int kInBox = ((kRowGroups + 1) * kPitch + 127) / 128 * 128, kOutBox = kColGroups * TILE_ROWS * 4;
constexpr int kStageBytes = kResidues * kInBox, kBufferBytes = kResidues * kOutBox;
constexpr int kSharedBytes = STAGES * kStageBytes + BUFFERS * kBufferBytes + 128;
constexpr int kWarps = THREADS / 32, kUnits = TILE_COLS / 32 * kRowGroups;  // units of 8 rows x 32 columns

static_assert(TILE_COLS % 32 == 0 && TILE_ROWS % 32 == 0, "TILE_COLS and TILE_ROWS must be multiples of 32");
static_assert(kUnits % kWarps == 0, "THREADS * 8 must divide TILE_ROWS * TILE_COLS");
static_assert(BUFFERS >= 2, "BUFFERS must be at least 2: one is filled while another is stored");
static_assert((kSharedBytes + 1280) * BLOCKS_PER_SM <= 228 * 1024,
              "BLOCKS_PER_SM * (STAGES + BUFFERS) tiles must fit into the 228 KiB of an SM");

// A module's global variables are initially zero. atomicInc wraps to 0 after the last ticket of a launch.
__device__ unsigned tickets = 0;

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
transposeBoxes(const __grid_constant__ Boxes boxes, float* __restrict__ y, int rows, int cols, int tiles, int down,
               unsigned lastTicket) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[STAGES];  // completes a phase when a tile has arrived
  __shared__ int tileOf[STAGES];     // tile number of each stage; a number beyond the last tile ends the work
  const uint32_t stages = (klSharedAddress(shared) + 127) & ~127u, buffers = stages + STAGES * kStageBytes;

  // Tiles are ordered along the rows of y. TMA reads zeros beyond the end of a row of x and below the last row.
  const auto fetch = [&](int tile, int stage) {
    tileOf[stage] = tile;
    if (tile >= tiles) {
      klBarrierArrive(&full[stage]);
      return;
    }
    klBarrierExpect(&full[stage], boxes.bytes);
    const int col = tile / down, row = tile - col * down;
#pragma unroll
    for (int r = 0; r < kResidues; ++r)
      klTmaLoad(stages + stage * kStageBytes + r * kInBox, &boxes.x[r], row * kRowGroups, col * TILE_COLS, &full[stage]);
  };

  unsigned ticket = 0;  // the next tile to fetch, drawn one tile ahead; used only by the first thread
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) klBarrierInit(&full[stage], 1);
    klBarrierInitFence();
    for (int stage = 0; stage < STAGES; ++stage) fetch(blockIdx.x + stage * gridDim.x, stage);
    ticket = atomicInc(&tickets, lastTicket);
  }
  __syncthreads();

  // Each lane moves eight rows of its column at a time, as two 16-byte stores to y. Eight adjacent lanes store to
  // different banks. Four adjacent lanes load in different orders, so at most two lanes share a bank.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int skipped = (kSector - behind(y + (long long)(lane % kResidues) * rows, kSector)) % kSector;
  uint32_t source[2][4], target[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int quad = half ^ lane % 2;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = skipped + quad * 4 + (i + lane) % 4;
      source[half][i] = r % kResidues * kInBox + r / kResidues * kPitch + (lane + boxes.xStart[r % kResidues]) * 4;
    }
    target[half] = lane % kResidues * kOutBox + lane / kResidues * TILE_ROWS * 4 + quad * 16;
  }

  int stage = 0, buffer = 0;
  uint32_t phase = 0;
  for (;;) {
    const uint32_t from = stages + stage * kStageBytes, to = buffers + buffer * kBufferBytes;
    klBarrierWait(&full[stage], phase);
    const int tile = tileOf[stage];
    if (tile >= tiles) break;
    const int row0 = tile % down * TILE_ROWS, col0 = tile / down * TILE_COLS;
#pragma unroll 2
    for (int unit = warp; unit < kUnits; unit += kWarps) {
      const int block = unit / kRowGroups, group = unit % kRowGroups ^ lane / 2 % 4;
      float v[2][4];
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int i = 0; i < 4; ++i) v[half][i] = loadShared(from + block * 128 + group * kPitch + source[half][i]);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        rotate(v[half], lane % 4);
        storeShared(to + block * (32 / kResidues * TILE_ROWS * 4) + group * (kResidues * 4) + target[half], v[half]);
      }
    }
    // Stores the parts of a row of y that no box covers: those before the first sector and after the last 16 bytes.
    if (row0 == 0 || row0 + TILE_ROWS > rows - kChunk)
      for (int c = threadIdx.x; c < TILE_COLS && col0 + c < cols; c += THREADS) {
        float* const row = y + (long long)(col0 + c) * rows;
        const auto store = [&](int r) {
          const int in = (r - row0) % kResidues;
          row[r] = loadShared(from + in * kInBox + (r - row0) / kResidues * kPitch + (c + boxes.xStart[in]) * 4);
        };
        if (row0 == 0)
          for (int r = 0; r < skipped; ++r) store(r);
        for (int r = max(row0, rows - behind(row + rows, kChunk)); r < min(rows, row0 + TILE_ROWS); ++r) store(r);
      }
    klAsyncProxyFence();
    // The next buffer was stored BUFFERS - 1 tiles ago. No thread passes the barrier before TMA has read this buffer.
    if (threadIdx.x == 0) klTmaStoreWaitRead<BUFFERS - 2>();
    __syncthreads();
    if (threadIdx.x == 0) {
      const int next = int(STAGES * gridDim.x + ticket);
      fetch(next, stage);
      if (next < tiles) ticket = atomicInc(&tickets, lastTicket);
#pragma unroll
      for (int r = 0; r < kResidues; ++r)
        klTmaStore(&boxes.y[r], to + r * kOutBox, col0 / kResidues, row0 + boxes.yStart[r]);
      klTmaStoreCommit();
    }
    if (++stage == STAGES) stage = 0, phase ^= 1;
    if (++buffer == BUFFERS) buffer = 0;
  }
  if (threadIdx.x == 0) klTmaStoreWaitRead<0>();  // stores must have read shared memory before the block ends
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const int rows = int(p->ROWS), cols = int(p->COLS);
  if (rows < TILE_ROWS || cols < TILE_COLS) return klLaunchAnyShape(p, stream);
  Boxes boxes;
  if (!boxes.describeAll(p, TILE_ROWS, TILE_COLS)) return cudaErrorNotSupported;
  cudaError_t status = cudaFuncSetAttribute(transposeBoxes, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  int device = 0, smCount = 0;
  if (status == cudaSuccess) status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
  const int down = ceilDiv(rows, TILE_ROWS), tiles = down * ceilDiv(cols, TILE_COLS);
  const int blocks = std::min(tiles, std::max(1, smCount) * BLOCKS_PER_SM);
  // A block starts with STAGES tiles and takes tickets until a ticket is beyond the last tile.
  const int drawn = std::max(0, tiles - STAGES * blocks) + blocks;
  transposeBoxes<<<blocks, THREADS, kSharedBytes, stream>>>(boxes, p->y, rows, cols, tiles, down, unsigned(drawn - 1));
  return cudaGetLastError();
}
