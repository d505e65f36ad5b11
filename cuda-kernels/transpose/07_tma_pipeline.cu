// @rung    07_tma_pipeline
// @title   Tiles through TMA
// @after   06_vector_tile
// @idea    resident blocks process tile after tile. One thread starts TMA copies that load the next tiles and store
//          finished tiles. Meanwhile, all threads transpose a tile within shared memory. Data stays in flight in both
//          directions without registers or address computation. TMA needs row lengths in multiples of 16 bytes. If ROWS
//          or COLS is not a multiple of 4, 64 x 64 tiles are moved element by element
// @expect  memoryInstructions down
// @param   TILE_COLS 64 {32,64,128}
// @param   TILE_ROWS 64 {32,64,128}
// @param   STAGES 4 {2,3,4,6,8}
// @param   BUFFERS 2 {2,3,4}
// @param   THREADS 256 {128,256,512}
// @param   BLOCKS_PER_SM 2 {1,2,3,4}
// @param   BAND 4 {1,2,4,8,16,32}
// @requires sm_90a
#include "transpose_common.cuh"
#include "kl_hopper.cuh"

#include <algorithm>

constexpr int kBoxCols = 32;  // columns per box; 128 bytes of each row
constexpr int kTileBytes = TILE_ROWS * TILE_COLS * int(sizeof(float));
constexpr int kSharedBytes = (STAGES + BUFFERS) * kTileBytes + 1024;  // boxes start at multiples of 1024 bytes
constexpr int kPatches = TILE_ROWS * TILE_COLS / 16 / THREADS;        // 4 x 4 patches per thread

static_assert(kPatches * THREADS * 16 == TILE_ROWS * TILE_COLS, "THREADS * 16 must divide TILE_ROWS * TILE_COLS");
static_assert((kSharedBytes + 2048) * BLOCKS_PER_SM <= 228 * 1024,
              "BLOCKS_PER_SM * (STAGES + BUFFERS) tiles must fit into the 228 KiB of an SM");

__device__ inline float4 loadShared(uint32_t address) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(address) : "memory");
  return v;
}

__device__ inline void storeShared(uint32_t address, float x, float y, float z, float w) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
}

// Returns the address of 16-byte chunk `chunk` in a 128-byte row, as swizzled by TMA.
__device__ inline uint32_t chunkAt(uint32_t box, int row, int chunk) {
  return box + row * 128 + ((chunk ^ row % 8) << 4);
}

// Moves a 4 x 4 patch from boxes of TILE_ROWS x 32 to boxes of TILE_COLS x 32. Eight adjacent threads process a
// diagonal of 8 x 8 patches. With the swizzle, the threads' loads cover all 32 banks, and so do their stores.
__device__ inline void movePatch(uint32_t from, uint32_t to, int patch) {
  const int square = patch / 64, colQuad = patch % 8, rowQuad = colQuad ^ patch / 8 % 8;
  const int down = square % (TILE_ROWS / 32), across = square / (TILE_ROWS / 32);
  const uint32_t source = from + across * TILE_ROWS * 128, target = to + down * TILE_COLS * 128;
  const int row = down * 32 + rowQuad * 4, col = across * 32 + colQuad * 4;
  const float4 a = loadShared(chunkAt(source, row, colQuad)), b = loadShared(chunkAt(source, row + 1, colQuad));
  const float4 c = loadShared(chunkAt(source, row + 2, colQuad)), d = loadShared(chunkAt(source, row + 3, colQuad));
  storeShared(chunkAt(target, col, rowQuad), a.x, b.x, c.x, d.x);
  storeShared(chunkAt(target, col + 1, rowQuad), a.y, b.y, c.y, d.y);
  storeShared(chunkAt(target, col + 2, rowQuad), a.z, b.z, c.z, d.z);
  storeShared(chunkAt(target, col + 3, rowQuad), a.w, b.w, c.w, d.w);
}

// The position of tile number `tile` in x. Tiles are ordered in bands of BAND tile rows, column by column in each band,
// so that concurrent tiles are close together in both x and y.
struct Corner {
  int row, col;
  __device__ Corner(int tile, int across, int down) {
    const int band = tile / (BAND * across), inBand = tile - band * BAND * across;
    const int bandRows = min(BAND, down - band * BAND);
    col = inBand / bandRows;
    row = (band * BAND + inBand - col * bandRows) * TILE_ROWS;
    col *= TILE_COLS;
  }
};

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
transposeTma(const __grid_constant__ CUtensorMap xMap, const __grid_constant__ CUtensorMap yMap, int across, int down) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[STAGES];  // completes a phase when a tile has arrived
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u, buffers = stages + STAGES * kTileBytes;
  const int tiles = across * down, stride = gridDim.x;


  // TMA writes zeros beyond the edges of x, and writes nothing beyond the edges of y.
  const auto fetch = [&](int tile, int stage) {
    klBarrierExpect(&full[stage], kTileBytes);
    const uint32_t to = stages + stage * kTileBytes;
    const Corner at(tile, across, down);
#pragma unroll
    for (int box = 0; box < TILE_COLS / kBoxCols; ++box)
      klTmaLoad(to + box * TILE_ROWS * 128, &xMap, at.row, at.col + box * kBoxCols, &full[stage]);
  };

  if (threadIdx.x == 0) {
    klTmaPrefetch(&xMap);
    klTmaPrefetch(&yMap);
    for (int stage = 0; stage < STAGES; ++stage) klBarrierInit(&full[stage], 1);
    klBarrierInitFence();
    for (int stage = 0, tile = blockIdx.x; stage < STAGES && tile < tiles; ++stage, tile += stride) fetch(tile, stage);
  }
  __syncthreads();

  int stage = 0, buffer = 0;
  uint32_t phase = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += stride) {
    const uint32_t from = stages + stage * kTileBytes, to = buffers + buffer * kTileBytes;
    klBarrierWait(&full[stage], phase);
#pragma unroll
    for (int i = 0; i < kPatches; ++i) movePatch(from, to, threadIdx.x + i * THREADS);
    klAsyncProxyFence();
    // The next buffer was stored BUFFERS - 1 tiles ago. No thread passes the barrier before TMA has read this buffer.
    if (threadIdx.x == 0) klTmaStoreWaitRead<BUFFERS - 2>();
    __syncthreads();
    if (threadIdx.x == 0) {
      if (tile + STAGES * stride < tiles) fetch(tile + STAGES * stride, stage);
      const Corner at(tile, across, down);
#pragma unroll
      for (int box = 0; box < TILE_ROWS / kBoxCols; ++box)
        klTmaStore(&yMap, to + box * TILE_COLS * 128, at.col, at.row + box * kBoxCols);
      klTmaStoreCommit();
    }
    if (++stage == STAGES) stage = 0, phase ^= 1;
    if (++buffer == BUFFERS) buffer = 0;
  }
  if (threadIdx.x == 0) klTmaStoreWaitRead<0>();
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  if (!klRowsAligned(p)) return klLaunchAnyShape(p, stream);
  const int rows = int(p->ROWS), cols = int(p->COLS), across = ceilDiv(cols, TILE_COLS), down = ceilDiv(rows, TILE_ROWS);
  CUtensorMap xMap, yMap;
  cudaError_t status = klTensorMap(&xMap, p->x, rows, cols, TILE_ROWS, kBoxCols);
  if (status == cudaSuccess) status = klTensorMap(&yMap, static_cast<const float*>(p->y), cols, rows, TILE_COLS, kBoxCols);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(transposeTma, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  int device = 0, smCount = 0;
  if (status == cudaSuccess) status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
  // Launches only as many blocks as the number of rounds requires, so all blocks finish at the same time.
  const int tiles = across * down, rounds = ceilDiv(tiles, std::max(1, smCount * BLOCKS_PER_SM));
  transposeTma<<<ceilDiv(tiles, rounds), THREADS, kSharedBytes, stream>>>(xMap, yMap, across, down);
  return cudaGetLastError();
}
