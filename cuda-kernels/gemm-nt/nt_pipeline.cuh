// Helpers for warp-specialized kernels: shared-memory layout, copies to several blocks, TMA stores, and launch. One
// thread copies, and each of two warpgroups multiplies 64 x BN.
#pragma once

#include "nt_wgmma.cuh"

#include <algorithm>

// The launch options of a rung. A rung derives from this struct and overrides the values that it changes.
struct NtDesign {
  static constexpr int kWidest = 256;         // columns of a tile if there is enough work: 256 or 128
  static constexpr bool kPersistent = false;  // whether each block computes several tiles
  static constexpr int kClusterRows = 1;      // blocks in a column that fetch their tile of B together
  static constexpr int kBuffers = 0;          // 64 x 64 result buffers per warpgroup; 0 stores from registers
  static constexpr bool kEarlyLaunch = false; // whether the next kernel may start once this kernel's first blocks end
};

constexpr int BM = 128, kConsumers = 2, kThreads = (1 + kConsumers) * 128;
constexpr int kBufferBytes = 64 * kRowBytes;  // 64 rows of 64 results in BF16

// Shared-memory layout of a block for tiles of 128 x BN.
template <class Design, int BN>
struct NtPlan {
  static constexpr int bytesA = BM * kRowBytes, bytesB = BN * kRowBytes, stageBytes = bytesA + bytesB;
  static constexpr int stagingBytes = kConsumers * Design::kBuffers * kBufferBytes;
  static constexpr int room = 226 * 1024 - stagingBytes - 1024;
  static constexpr int stages = room / stageBytes < 8 ? room / stageBytes : 8;
  static constexpr int sharedBytes = stages * stageBytes + stagingBytes + 1024;
};

__device__ inline void storeMatrices(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

constexpr int kPartPairs = 16;  // pairs per thread for 64 columns of a warpgroup's 64 rows

// Packs a part of a warpgroup's sums in the order of C, as pairs of adjacent elements.
__device__ inline void packPart(uint32_t* pairs, const float* sum, float scale) {
#pragma unroll
  for (int i = 0; i < kPartPairs; ++i) pairs[i] = klPair(scale * sum[2 * i], scale * sum[2 * i + 1]);
}

// Stores part `part` of a warpgroup's results (64 rows and 64 columns) through shared memory and TMA. Cycles through
// kBuffers buffers: one is filled while TMA reads the others.
template <int kBuffers>
__device__ inline void storePart(const uint32_t* pairs, int part, const CUtensorMap* cMap, uint32_t staging, int group, int row0,
                                 int col0) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const bool leader = threadIdx.x % 128 == 0;
  // Each lane addresses one row of four 8 x 8 matrices: upper half, lower half, then the same halves 8 columns to the
  // right.
  const int row = warp * 16 + lane / 8 % 2 * 8 + lane % 8;
  const uint32_t buffer = staging + part % kBuffers * kBufferBytes;
  if (leader) klTmaStoreWaitRead<kBuffers - 1>();
  klWarpgroupSync(1 + group);
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    const uint32_t* p = &pairs[j * 2];
    const int sixteen = (j + lane / 16) ^ (row & 7);
    storeMatrices(buffer + row * kRowBytes + sixteen * 16, p[0], p[1], p[2], p[3]);
  }
  klAsyncProxyFence();
  klWarpgroupSync(1 + group);
  if (leader) {
    klTmaStore(cMap, buffer, row0, col0 + part * 64);
    klTmaStoreCommit();
  }
}

// Copies a tile whose first row is `row`. kPolicy is the L2 policy, a value of CUTLASS's CacheHintSm90.
constexpr uint64_t kEvictNormally = 0x1000000000000000, kEvictLast = 0x14f0000000000000;
template <uint64_t kPolicy = kEvictNormally>
__device__ inline void copyTile(uint32_t tile, const CUtensorMap* map, int row, int depth, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(tile),
      "l"(map), "r"(klSharedAddress(barrier)), "r"(depth), "r"(row), "l"(kPolicy)
      : "memory");
}

// The position of a block in a cluster whose columns have kRows blocks.
template <int kRows>
struct NtCluster {
  int row, col;

  __device__ explicit NtCluster(int rank) : row(rank % kRows), col(rank / kRows) {}
  // Returns a mask with one bit per block in this column.
  __device__ uint16_t column() const { return uint16_t(((1 << kRows) - 1) << col * kRows); }
  // Returns whether the block with rank `rank` copies to this block.
  __device__ bool sharesWith(int rank) const {
    return rank % kRows == row || rank / kRows == col;
  }
};

// Copies share `share` of a tile of kTileRows rows to all kRows blocks that need the tile.
template <int kTileRows, int kRows, uint64_t kPolicy = kEvictNormally>
__device__ inline void copyShare(uint32_t tile, const CUtensorMap* map, int row, int depth, uint64_t* barrier,
                                 int share, uint16_t blocks) {
  constexpr int kShare = kTileRows / kRows;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
      "[%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(tile + share * kShare * kRowBytes),
      "l"(map), "r"(klSharedAddress(barrier)), "h"(blocks), "r"(depth), "r"(row + share * kShare),
      "l"(kPolicy)
      : "memory");
}

// Initializes the barriers in one thread. `full` completes when a stage has arrived, and `empty` when `warps` warps are
// done with the stage.
template <int kStages>
__device__ inline void initStages(uint64_t (&full)[kStages], uint64_t (&empty)[kStages], int warps) {
  for (int s = 0; s < kStages; ++s) {
    klBarrierInit(&full[s], 1);
    klBarrierInit(&empty[s], warps);
  }
  klBarrierInitFence();
}

template <int kColumns>
using NtWidth = std::integral_constant<int, kColumns>;

using NtKernel = void(CUtensorMap, CUtensorMap, CUtensorMap, int, int, int, float, __nv_bfloat16*);

template <class Design, typename T, int BN>
cudaError_t launchNt(NtKernel* kernel, const KlGemmNt* p, int smCount, cudaStream_t stream) {
  using P = NtPlan<Design, BN>;
  constexpr int kCluster = Design::kClusterRows;
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  CUtensorMap aMap, bMap, cMap;
  cudaError_t status = klRowMap<T>(&aMap, p->a, m, k, BM);
  if (status == cudaSuccess) status = klRowMap<T>(&bMap, p->b, n, k, BN / kCluster);
  if (status == cudaSuccess) status = klRowMap<__nv_bfloat16>(&cMap, p->c, m, n, 64);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::sharedBytes);
  if (status != cudaSuccess) return status;
  const int tiles = ceilDiv(m, BM * kCluster) * ceilDiv(n, BN);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(tiles * kCluster);
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = P::sharedBytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = Design::kEarlyLaunch;
  if (Design::kPersistent) {
    // Launches only as many clusters as the number of rounds requires, so all clusters finish at the same time.
    int resident = smCount / kCluster;
    if (kCluster > 2) status = cudaOccupancyMaxActiveClusters(&resident, kernel, &config);
    if (status != cudaSuccess) return status;
    config.gridDim = dim3(ceilDiv(tiles, ceilDiv(tiles, std::max(1, resident))) * kCluster);
  }
  return cudaLaunchKernelEx(&config, kernel, aMap, bMap, cMap, m, n, k, klScale(p), static_cast<__nv_bfloat16*>(p->c));
}

// Launches a rung. `kernelOf` returns the kernel for a value of the input type and a tile width.
template <class Design, typename KernelOf>
cudaError_t klLaunchNt(const KlGemmNt* p, cudaStream_t stream, KernelOf kernelOf) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    // TMA needs aligned rows; other shapes use the slow kernel.
    if (!klRowsAligned(p)) return klLaunchAnyShape<T>(p, stream);
    int device = 0, smCount = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;
    const auto launch = [&](auto width) {
      return launchNt<Design, T, width>(kernelOf(type, width), p, smCount, stream);
    };
    // With few wide tiles, most of the GPU would be idle. In that case, use narrower tiles, provided that all of them
    // can run at the same time.
    const long long rows = ceilDiv(int(p->m), BM * Design::kClusterRows) * Design::kClusterRows;
    if (rows * ceilDiv(int(p->n), 64) <= smCount) return launch(NtWidth<64>());
    if (Design::kWidest == 128 || rows * ceilDiv(int(p->n), 128) <= smCount) return launch(NtWidth<128>());
    return launch(NtWidth<Design::kWidest>());
  });
}
