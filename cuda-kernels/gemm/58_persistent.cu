// @rung    58_persistent
// @title   Persistent clusters
// @after   57_warp_specialized
// @idea    persistent blocks compute tile after tile in an order that improves L2 reuse. Clusters of two blocks share every tile of B by multicast. TMA stores the results. The last part of a tile is stored during the next tile's products
// @param   GROUP 8 {1,2,4,8,16,32}
// @param   CLUSTER 2 {1,2}
// @param   BUFFERS 2 {2,4}
// @param   HELD 0 {0,2,4}
// @param   APART 2 {1,2,3,4,6,8}
// @dtype   bf16 f16
// @requires sm_90a

#include "tensor_store.cuh"

constexpr int BM = 128, kDepth = 64;
constexpr int kConsumers = 2, kThreads = (1 + kConsumers) * 128, kCluster = CLUSTER;
constexpr int kStagingBytes = kConsumers * BUFFERS * kStoreBytes;

static_assert(GROUP >= 1, "GROUP must be at least 1");
// A cluster of two blocks fits on the two SMs of a TPC, so such clusters can fill the GPU. On an H200, clusters
// of four left some SMs idle, because too few of them fit into its GPCs.
static_assert(CLUSTER == 1 || CLUSTER == 2, "CLUSTER must be 1 or 2: a tile of B is fetched in halves");
static_assert(HELD >= 0 && HELD <= 4, "HELD must be at most 4: registers hold half of a tile's results and the next sums");
static_assert(APART >= 1, "APART, the stages of the next tile between two stored parts, must be at least 1");
static_assert(BUFFERS >= 2, "BUFFERS must be at least 2: one is filled while another is read");

// The shared memory of a block for tiles of 128 x BN.
template <int BN>
struct Plan {
  static constexpr int bytesA = BM * kDepth * 2, bytesB = kDepth * BN * 2, stageBytes = bytesA + bytesB;
  static constexpr int room = 226 * 1024 - kStagingBytes - 1024;
  static constexpr int stages = room / stageBytes < 8 ? room / stageBytes : 8;
  static constexpr int sharedBytes = stages * stageBytes + kStagingBytes + 1024;
  static constexpr int stores = BN / kStoreCols;
  static constexpr int held = HELD < stores / 2 ? HELD : stores / 2;  // parts stored while the next tile is multiplied
};

template <typename T, int BN>
__global__ void __cluster_dims__(kCluster, 1, 1) __launch_bounds__(kThreads, 1)
gemm(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap,
               const __grid_constant__ CUtensorMap cMap, int m, int n, int k, float alpha, float beta,
               float* __restrict__ c) {
  using P = Plan<BN>;
  constexpr int kStages = P::stages;
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[kStages];   // completes a phase when a stage has arrived
  __shared__ uint64_t empty[kStages];  // completes a phase when the consumers of both blocks are done
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u, staging = stages + kStages * P::stageBytes;

  const int rank = klClusterRank();
  const int steps = (k + kDepth - 1) / kDepth;
  const KlTileOrder<GROUP> order{ceilDiv(m, BM * kCluster), ceilDiv(n, BN)};
  const int first = blockIdx.x / kCluster, stride = gridDim.x / kCluster;

  if (threadIdx.x == 0) {
    klTmaPrefetch(&aMap);
    klTmaPrefetch(&bMap);
    for (int s = 0; s < kStages; ++s) {
      klBarrierInit(&full[s], 1);
      klBarrierInit(&empty[s], kCluster * kConsumers * 4);  // each consumer warp arrives
    }
    klBarrierInitFence();
  }
  klClusterSync();

  if (threadIdx.x < 128) {
    klRegistersDown<40>();
    if (threadIdx.x == 0) {
      int s = 0, phase = 0;
      for (int tile = first; tile < order.count(); tile += stride) {
        int row, col;
        order.at(tile, row, col);
        const int row0 = (row * kCluster + rank) * BM, col0 = col * BN;
        // Alternates the direction along K. The next tile starts with the columns of A or rows of B that this tile
        // reads last, because they are still in L2.
        const bool back = (tile - first) / stride % 2;
        for (int i = 0; i < steps; ++i) {
          const int step = back ? steps - 1 - i : i;
          // Both blocks must be done with the stage, because half of the data in each block comes from the other block.
          klBarrierWait(&empty[s], phase ^ 1);
          const uint32_t aTile = stages + s * P::stageBytes, bTile = aTile + P::bytesA;
          klBarrierExpect(&full[s], P::stageBytes);
          klTmaLoad(aTile, &aMap, row0, step * kDepth, &full[s]);
          // Both blocks use the same tile of B. If the tile has enough columns, each block fetches half of them for
          // both blocks.
          constexpr int kBoxes = BN / kTmaCols, kShares = kBoxes >= kCluster ? kCluster : 1, kOwn = kBoxes / kShares;
#pragma unroll
          for (int j = 0; j < kOwn; ++j) {
            const int box = rank % kShares * kOwn + j;
            const uint32_t to = bTile + box * kDepth * 128;
            if constexpr (kShares == 1)
              klTmaLoad(to, &bMap, step * kDepth, col0 + box * kTmaCols, &full[s]);
            else
              klTmaLoadMulticast(to, &bMap, step * kDepth, col0 + box * kTmaCols, &full[s], (1 << kCluster) - 1);
          }
          if (++s == kStages) s = 0, phase ^= 1;
        }
      }
    }
  } else {
    klRegistersUp<232>();
    const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
    float sum[BN / 2];
    int s = 0, phase = 0;
    const auto release = [&](int stage) {
      if (lane < kCluster) klBarrierArriveAt(&empty[stage], lane);
    };
    const auto multiplyStage = [&](int step) {
      klBarrierWait(&full[s], phase);
      const uint32_t aTile = stages + s * P::stageBytes, bTile = aTile + P::bytesA;
      klWgmmaStage<T, kDepth>(sum, aTile + group * 64 * 128, bTile, step != 0);
    };
    const auto finishStage = [&](int step) {
      // This stage's products stay in flight; the previous stage's products are done.
      klWgmmaWait<1>();
      if (step > 0) release(s == 0 ? kStages - 1 : s - 1);
      if (++s == kStages) s = 0, phase ^= 1;
    };

    // Keeps the last kHeld parts of a tile's results in registers and stores them during the next tile, one part per
    // APART stages. The tensor cores stay busy during the stores, and the SMs do not all store at the same time.
    constexpr int kHeld = P::held, kNow = P::stores - kHeld;
    float held[kHeld ? kHeld * 16 : 1];
    bool holding = false;
    int row0 = 0, col0 = 0;
    const auto store = [&](const float* part, int number, float scale) {
      klStorePart<BUFFERS>(part, &cMap, staging + (group * BUFFERS + number % BUFFERS) * kStoreBytes, group, row0,
                col0 + number * kStoreCols, scale);
    };

    for (int tile = first; tile < order.count(); tile += stride) {
      int step = 0;
      const auto multiplyUntil = [&](int end) {
        for (; step < end; ++step) {
          multiplyStage(step);
          finishStage(step);
        }
      };
#pragma unroll
      for (int part = 0; part < kHeld; ++part) {
        const bool left = step < steps;
        if (left) multiplyStage(step);
        if (holding) store(&held[part * 16], kNow + part, 1);
        if (left) finishStage(step++);
        multiplyUntil(min((part + 1) * APART, steps));
      }
      multiplyUntil(steps);
      klWgmmaWait<0>();
      release(s == 0 ? kStages - 1 : s - 1);

      int row, col;
      order.at(tile, row, col);
      row0 = (row * kCluster + rank) * BM + group * 64, col0 = col * BN;
      if (beta != 0.0f) {
        klStoreSums(sum, c, row0, col0, m, n, alpha, beta);
        continue;
      }
#pragma unroll
      for (int part = 0; part < kNow; ++part) store(&sum[part * 16], part, alpha);
#pragma unroll
      for (int i = 0; i < kHeld * 16; ++i) held[i] = alpha * sum[kNow * 16 + i];
      holding = kHeld > 0;
    }
#pragma unroll
    for (int part = 0; part < kHeld; ++part)
      if (holding) store(&held[part * 16], kNow + part, 1);
    if (threadIdx.x % 128 == 0) klTmaStoreWaitRead<0>();
  }
  __syncwarp();     // waits for the lanes that issued copies
  klClusterSync();  // keeps the block alive until the other block has sent all its data
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRequire16Bit(p, sm); }

template <typename T, int BN>
cudaError_t launchPersistent(const KlGemm* p, int smCount, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  CUtensorMap aMap, bMap, cMap;
  cudaError_t status = klTensorMap(&aMap, static_cast<const T*>(p->a), m, k, BM, kTmaCols);
  if (status == cudaSuccess) status = klTensorMap(&bMap, static_cast<const T*>(p->b), k, n, kDepth, kTmaCols);
  if (status == cudaSuccess) status = klTensorMap(&cMap, p->c, m, n, 64, kStoreCols);
  const auto kernel = gemm<T, BN>;
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Plan<BN>::sharedBytes);
  if (status != cudaSuccess) return status;
  // Launches only as many clusters as the number of rounds requires, so all clusters finish at the same time.
  const int tiles = ceilDiv(m, BM * kCluster) * ceilDiv(n, BN);
  const int clusters = ceilDiv(tiles, ceilDiv(tiles, std::max(1, smCount / kCluster)));
  kernel<<<clusters * kCluster, kThreads, Plan<BN>::sharedBytes, stream>>>(aMap, bMap, cMap, m, n, k, p->alpha,
                                                                           p->beta, p->c);
  return cudaGetLastError();
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    // TMA needs aligned rows; other shapes use the slow kernel.
    if (!klRowsAligned(p)) return klLaunchAnyShape<T>(p, stream);
    int device = 0, smCount = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;

    // Use narrower tiles if all of them can run at the same time, because too few tiles would leave most of the GPU
    // idle.
    const long long rows = ceilDiv(int(p->m), BM * kCluster) * kCluster;
    if (rows * ceilDiv(int(p->n), 64) <= smCount) return launchPersistent<T, 64>(p, smCount, stream);
    if (rows * ceilDiv(int(p->n), 128) <= smCount) return launchPersistent<T, 128>(p, smCount, stream);
    return launchPersistent<T, 256>(p, smCount, stream);
  });
}
