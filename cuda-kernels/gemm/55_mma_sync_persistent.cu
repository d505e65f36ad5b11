// @rung    55_mma_sync_persistent
// @title   mma.sync in persistent blocks
// @after   54_mma_sync
// @idea    TMA fills the stages. Each warp waits for a stage on its own instead of waiting for the slowest warp at a block-wide barrier. Blocks are persistent. While TMA stores a tile's results, the first stages of the next tile arrive and are loaded into registers
// @expect  tensorUtilization up
// @param   GROUP 8 {4,8,16}
// @dtype   bf16 f16
// @requires sm_90a

#include "tensor_store.cuh"

constexpr int BM = 256, BN = 128, kDepth = 64;
constexpr int kWarpRows = 64, kWarpCols = 64;  // the part of C in a warp's registers
constexpr int kParts = kWarpRows / 16, kWarpsN = BN / kWarpCols;
constexpr int kWarps = BM / kWarpRows * kWarpsN, kThreads = 128 + kWarps * 32;
constexpr int kBytesA = BM * kDepth * 2, kBytesB = kDepth * BN * 2, kStageBytes = kBytesA + kBytesB;
constexpr int kStagingBytes = 32 * 32 * sizeof(float);  // staging memory for a warp's results
constexpr int kStages = 4;
constexpr int kSharedBytes = kStages * kStageBytes + kWarps * kStagingBytes + 1024;  // for 1024-byte alignment

static_assert(kParts == kWarpCols / 16, "there must be as many fragments of B as of A");
static_assert(GROUP >= 1, "GROUP must be at least 1");

template <typename T>
__global__ void __launch_bounds__(kThreads, 1)
gemm(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap,
                      const __grid_constant__ CUtensorMap cMap, int m, int n, int k, float alpha, float beta,
                      float* __restrict__ c) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[kStages];   // completes a phase when a stage has arrived
  __shared__ uint64_t empty[kStages];  // completes a phase when all warps have loaded their fragments of a stage
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u;

  const int steps = (k + kDepth - 1) / kDepth;
  const KlTileOrder<GROUP> order{ceilDiv(m, BM), ceilDiv(n, BN)};

  if (threadIdx.x == 0) {
    klTmaPrefetch(&aMap);
    klTmaPrefetch(&bMap);
    for (int s = 0; s < kStages; ++s) {
      klBarrierInit(&full[s], 1);
      klBarrierInit(&empty[s], kWarps);
    }
    klBarrierInitFence();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    klRegistersDown<24>();
    if (threadIdx.x != 0) return;
    int s = 0, phase = 0;
    for (int tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
      int row, col;
      order.at(tile, row, col);
      for (int step = 0; step < steps; ++step) {
        klBarrierWait(&empty[s], phase ^ 1);
        const uint32_t aTile = stages + s * kStageBytes, bTile = aTile + kBytesA;
        klBarrierExpect(&full[s], kStageBytes);
        klTmaLoad(aTile, &aMap, row * BM, step * kDepth, &full[s]);
#pragma unroll
        for (int j = 0; j < BN / kTmaCols; ++j)
          klTmaLoad(bTile + j * kDepth * 128, &bMap, step * kDepth, col * BN + j * kTmaCols, &full[s]);
        if (++s == kStages) s = 0, phase ^= 1;
      }
    }
    return;
  }

  klRegistersUp<240>();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 - 4;
  const int warpRow = warp / kWarpsN * kWarpRows, warpCol = warp % kWarpsN * kWarpCols;
  const uint32_t staging = stages + kStages * kStageBytes + warp * kStagingBytes;

  // The positions in a stage of the rows that hold a lane's first fragments. TMA XORs the position within 128 bytes
  // with the row, so another XOR gives the position 16 elements farther along the row.
  const uint32_t swizzled = (lane / 16 ^ (lane & 7)) << 4;
  const uint32_t aLane = (warpRow + lane % 16) * 128 + swizzled;
  const uint32_t bLane = kBytesA + warpCol * kDepth * 2 + lane % 16 * 128 + swizzled;

  // Fragments of two steps of 16 along K: one step is multiplied while the next one loads.
  uint32_t aPart[2][kParts][4], bPart[2][kParts][4];
  float sum[kParts][kWarpCols / 8][4];
  // Loads a quarter of the fragments: 16 rows of A and 16 columns of B.
  const auto loadPart = [&](int buffer, uint32_t stage, int d, int i) {
    klLoadMatrices(aPart[buffer][i], stage + (aLane ^ d * 32) + i * 16 * 128);
    klLoadMatricesTransposed(bPart[buffer][i], stage + (bLane ^ i * 32) + d * 16 * 128);
  };

  int s = 0, phase = 0;
  klBarrierWait(&full[0], 0);
#pragma unroll
  for (int i = 0; i < kParts; ++i) loadPart(0, stages, 0, i);
  for (int tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
#pragma unroll
    for (auto& line : sum)
      for (auto& part : line)
        for (float& x : part) x = 0;
    const bool last = tile + gridDim.x >= order.count();
    for (int step = 0; step < steps; ++step) {
      const int used = s;
      const uint32_t stage = stages + used * kStageBytes;
      uint32_t next = stage;
#pragma unroll
      for (int d = 0; d < kDepth / 16; ++d) {
        const bool leaving = d == kDepth / 16 - 1;
        // Loads the first fragments of the next tile before this tile's results are stored. After the very last stage,
        // the fragments are loaded from that stage again and not used. No copy overwrites it.
        if (leaving && (step + 1 < steps || !last)) {
          if (++s == kStages) s = 0, phase ^= 1;
          next = stages + s * kStageBytes;
          klBarrierWait(&full[s], phase);
        }
#pragma unroll
        for (int i = 0; i < kParts; ++i) {
          // Loads alternate with products, so neither waits for the other.
          loadPart((d + 1) % 2, leaving ? next : stage, (d + 1) % (kDepth / 16), i);
#pragma unroll
          for (int j = 0; j < kWarpCols / 8; ++j)
            klMmaSync<T>(sum[i][j], aPart[d % 2][i], bPart[d % 2][j / 2][j % 2 * 2], bPart[d % 2][j / 2][j % 2 * 2 + 1]);
          if (leaving && i == 1) {  // all fragments of the stage are already in registers
            __syncwarp();
            if (lane == 0) klBarrierArrive(&empty[used]);
          }
        }
      }
    }
    int row, col;
    order.at(tile, row, col);
    const int row0 = row * BM + warpRow, col0 = col * BN + warpCol;
    if (beta == 0.0f) klStoreFragmentsByTma(sum, &cMap, staging, row0, col0, alpha);
    else klStoreFragments(sum, c, row0, col0, m, n, alpha, beta);
  }
  if (lane == 0) klTmaStoreWaitRead<0>();
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRequire16Bit(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    // TMA needs aligned rows; other shapes use the slow kernel.
    if (!klRowsAligned(p)) return klLaunchAnyShape<T>(p, stream);
    int device = 0, smCount = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;

    const int m = int(p->m), n = int(p->n), k = int(p->k);
    CUtensorMap aMap, bMap, cMap;
    status = klTensorMap(&aMap, static_cast<const T*>(p->a), m, k, BM, kTmaCols);
    if (status == cudaSuccess) status = klTensorMap(&bMap, static_cast<const T*>(p->b), k, n, kDepth, kTmaCols);
    if (status == cudaSuccess) status = klTensorMap(&cMap, p->c, m, n, 32, 32);
    const auto kernel = gemm<T>;
    if (status == cudaSuccess)
      status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (status != cudaSuccess) return status;
    // Launches only as many blocks as the number of rounds requires, so all blocks finish at the same time.
    const int tiles = ceilDiv(m, BM) * ceilDiv(n, BN);
    const int blocks = ceilDiv(tiles, ceilDiv(tiles, std::max(1, smCount)));
    kernel<<<blocks, kThreads, kSharedBytes, stream>>>(aMap, bMap, cMap, m, n, k, p->alpha, p->beta, p->c);
    return cudaGetLastError();
  });
}
