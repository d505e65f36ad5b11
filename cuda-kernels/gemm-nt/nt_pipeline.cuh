// The kernel of the warp-specialized rungs: one thread copies, two warpgroups multiply 64 x BN each. What a rung adds to the one
// before it is a constant of its design.
#pragma once

#include "nt_wgmma.cuh"

#include <algorithm>

// A rung's choices: it derives from this and overrides what it changes.
struct NtDesign {
  static constexpr int kWidest = 256;         // columns of a tile where there is work enough: 256 or 128
  static constexpr bool kPersistent = false;  // blocks stay for tile after tile
  static constexpr int kGroup = 1;            // rows of tiles in a band; see KlTileOrder
  static constexpr bool kTurning = false;     // every other band runs back
  static constexpr bool kKeepInputs = false;  // L2 evicts A and B last
  static constexpr int kClusterRows = 1;      // blocks, one below the other, that fetch their tile of B together
  static constexpr int kClusterCols = 1;      // blocks side by side that fetch their tile of A together
  static constexpr int kBuffers = 0;          // of 64 x 64 results a warpgroup, read by the copy engine; 0: stored from registers
  static constexpr int kLead = 0;             // steps of K that the first warpgroup is ahead of the second
  static constexpr bool kEarlyLaunch = false; // the next kernel may start when the first blocks of this one end
  static constexpr int kDeferred = 0;         // steps of the next tile for each part of the results; 0: stored before it
  static constexpr int kPromote = 0;          // steps of K after which the tensor cores' sums are added up in FP32; 0: at the end
};

constexpr int BM = 128, kConsumers = 2, kThreads = (1 + kConsumers) * 128;
constexpr int kBufferBytes = 64 * kRowBytes;  // 64 rows of 64 results in BF16

// How the shared memory of a block is used for tiles of 128 x BN.
template <class Design, int BN>
struct NtPlan {
  static constexpr int bytesA = BM * kRowBytes, bytesB = BN * kRowBytes, stageBytes = bytesA + bytesB;
  static constexpr int stagingBytes = kConsumers * Design::kBuffers * kBufferBytes;
  static constexpr int room = 226 * 1024 - stagingBytes - 1024;
  static constexpr int stages = room / stageBytes < 8 ? room / stageBytes : 8;
  static constexpr int sharedBytes = stages * stageBytes + stagingBytes + 1024;
  static_assert(Design::kLead < stages, "a lead of as many steps as there are stages would wait for itself");
};

__device__ inline void storeMatrices(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

constexpr int kPartPairs = 16;  // of a thread: 64 columns of a warpgroup's 64 rows

// Packs a part of a warpgroup's sums as they lie in C: pairs of neighbors.
__device__ inline void packPart(uint32_t* pairs, const float* sum, float scale) {
#pragma unroll
  for (int i = 0; i < kPartPairs; ++i) pairs[i] = klPair(scale * sum[2 * i], scale * sum[2 * i + 1]);
}

// Stores part `part` of a warpgroup's results, 64 columns of its 64 rows, through shared memory and the copy engine, in kBuffers
// buffers in turn: one is filled while the engine reads the others.
template <int kBuffers>
__device__ inline void storePart(const uint32_t* pairs, int part, const CUtensorMap* cMap, uint32_t staging, int group, int row0,
                                 int col0) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const bool leader = threadIdx.x % 128 == 0;
  // Of four 8 x 8 matrices a lane has the address of one row: rows of the upper and the lower half, then 8 columns further.
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

// Copies this block's share of a tile of kRows rows, which kBlocks blocks of the cluster need, to all of them. L2 treats it as
// kPolicy says, one of CUTLASS's CacheHintSm90.
constexpr uint64_t kEvictNormally = 0x1000000000000000, kEvictLast = 0x14f0000000000000;
template <int kRows, int kBlocks, uint64_t kPolicy>
__device__ inline void copyShare(uint32_t tile, const CUtensorMap* map, int row, int depth, uint64_t* barrier, int share,
                                 uint16_t blocks) {
  if constexpr (kBlocks == 1) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(tile),
        "l"(map), "r"(klSharedAddress(barrier)), "r"(depth), "r"(row), "l"(kPolicy)
        : "memory");
  } else {
    constexpr int kShare = kRows / kBlocks;
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
        "[%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(tile + share * kShare * kRowBytes),
        "l"(map), "r"(klSharedAddress(barrier)), "h"(blocks), "r"(depth), "r"(row + share * kShare), "l"(kPolicy)
        : "memory");
  }
}

template <class Design, typename T, int BN>
__global__ void __cluster_dims__(Design::kClusterRows* Design::kClusterCols, 1, 1) __launch_bounds__(kThreads, 1)
gemmNtPipeline(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap,
               const __grid_constant__ CUtensorMap cMap, int m, int n, int k, float scale, __nv_bfloat16* __restrict__ c) {
  using P = NtPlan<Design, BN>;
  constexpr int kStages = P::stages, kDepth = kStageDepth<T>;
  constexpr int kRows = Design::kClusterRows, kCols = Design::kClusterCols, kCluster = kRows * kCols;
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[kStages];   // turns when a stage has arrived
  __shared__ uint64_t empty[kStages];  // turns when the consumers of all blocks that this one copies to are done with it
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u, staging = stages + kStages * P::stageBytes;

  const int rank = kCluster > 1 ? klClusterRank() : 0;
  const int steps = (k + kDepth - 1) / kDepth;
  const int rankRow = rank % kRows, rankCol = rank / kRows;
  const KlTileOrder<Design::kGroup, Design::kTurning> order{ceilDiv(m, BM * kRows), ceilDiv(n, BN * kCols)};
  const int first = blockIdx.x / kCluster, stride = gridDim.x / kCluster;

  if (threadIdx.x == 0) {
    klTmaPrefetch(&aMap);
    klTmaPrefetch(&bMap);
    if (Design::kBuffers) klTmaPrefetch(&cMap);
    for (int s = 0; s < kStages; ++s) {
      klBarrierInit(&full[s], 1);
      klBarrierInit(&empty[s], (kRows + kCols - 1) * kConsumers * 4);  // each warp of the consumers arrives
    }
    klBarrierInitFence();
  }
  if constexpr (kCluster > 1) klClusterSync();
  else __syncthreads();
  if (Design::kEarlyLaunch) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");

  if (threadIdx.x < 128) {
    klRegistersDown<40>();
    if (threadIdx.x == 0) {
      if (Design::kEarlyLaunch) asm volatile("griddepcontrol.wait;" ::: "memory");
      const auto blocksOfRow = uint16_t(((1 << kCluster) - 1) / ((1 << kRows) - 1) << rankRow);
      const auto blocksOfCol = uint16_t(((1 << kRows) - 1) << rankCol * kRows);
      int s = 0, phase = 0;
      // Back and forth along K: a tile starts with the columns that the one before it ends with, which are in L2.
      bool back = false;
      for (int tile = first; tile < order.count(); tile += stride, back = !back) {
        int row, col;
        order.at(tile, row, col);
        const int row0 = (row * kRows + rankRow) * BM, col0 = (col * kCols + rankCol) * BN;
        for (int i = 0; i < steps; ++i) {
          const int depth = (back ? steps - 1 - i : i) * kDepth;
          // All blocks must have left the stage: what lands in each comes from all of them.
          klBarrierWait(&empty[s], phase ^ 1);
          const uint32_t aTile = stages + s * P::stageBytes, bTile = aTile + P::bytesA;
          klBarrierExpect(&full[s], P::stageBytes);
          constexpr uint64_t kPolicy = Design::kKeepInputs ? kEvictLast : kEvictNormally;
          copyShare<BM, kCols, kPolicy>(aTile, &aMap, row0, depth, &full[s], rankCol, blocksOfRow);
          copyShare<BN, kRows, kPolicy>(bTile, &bMap, col0, depth, &full[s], rankRow, blocksOfCol);
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
      if constexpr (kCluster == 1) {
        if (lane == 0) klBarrierArrive(&empty[stage]);
      } else {
        // To every block that copies to this one: those of its row and of its column.
        if (lane < kCluster && (lane % kRows == rankRow || lane / kRows == rankCol)) klBarrierArriveAt(&empty[stage], lane);
      }
    };
    // Once, at the start: the second warpgroup waits until the first has enqueued kLead steps. From there on one stores its
    // results while the other multiplies, and the tensor cores have work all the time.
    int ahead = Design::kLead;
    if (Design::kLead && group == 1) asm volatile("bar.sync 3, 256;" ::: "memory");
    const auto multiplyStage = [&](int step) {
      klBarrierWait(&full[s], phase);
      const uint32_t aTile = stages + s * P::stageBytes, bTile = aTile + P::bytesA;
      klWgmmaNtStage<T>(sum, aTile + group * 64 * kRowBytes, bTile, step != 0);
      if (Design::kLead && group == 0 && ahead > 0 && (--ahead == 0 || step == steps - 1)) {
        asm volatile("bar.arrive 3, 256;" ::: "memory");
        ahead = 0;
      }
    };
    const auto finishStage = [&](int step) {
      // This stage's products stay in flight; those of the stage before are done.
      klWgmmaWait<1>();
      if (step > 0) release(s == 0 ? kStages - 1 : s - 1);
      if (++s == kStages) s = 0, phase ^= 1;
    };

    // A tile's results as BF16. Where they are deferred, they are stored under products of the next tile: they leave while the
    // tensor cores have work, and not all at the moment at which every SM ends a tile.
    constexpr int kParts = BN / 64;
    uint32_t held[Design::kDeferred ? BN / 4 : 1];
    bool holding = false;
    int row0 = 0, col0 = 0;
    const auto store = [&](const uint32_t* pairs, int part) {
      storePart<Design::kBuffers>(pairs, part, &cMap, staging + group * Design::kBuffers * kBufferBytes, group, row0, col0);
    };

    for (int tile = first; tile < order.count(); tile += stride) {
      if constexpr (Design::kPromote == 0) {
        int step = 0;
        const auto multiplyUntil = [&](int end) {
          for (; step < end; ++step) {
            multiplyStage(step);
            finishStage(step);
          }
        };
        if constexpr (Design::kDeferred > 0)
#pragma unroll
          for (int part = 0; part < kParts; ++part) {
            const bool left = step < steps;
            if (left) multiplyStage(step);
            if (holding) store(&held[part * kPartPairs], part);
            if (left) finishStage(step++);
            multiplyUntil(min((part + 1) * Design::kDeferred, steps));
          }
        multiplyUntil(steps);
        klWgmmaWait<0>();
        release(s == 0 ? kStages - 1 : s - 1);
      } else {
        float part[BN / 2];
#pragma unroll
        for (float& x : sum) x = 0;
        for (int step = 0; step < steps; step += Design::kPromote) {
          const int end = min(step + Design::kPromote, steps);
          for (int i = step; i < end; ++i) {
            klBarrierWait(&full[s], phase);
            const uint32_t aTile = stages + s * P::stageBytes, bTile = aTile + P::bytesA;
            klWgmmaNtStage<T>(part, aTile + group * 64 * kRowBytes, bTile, i != step);
            klWgmmaWait<1>();
            if (i > step) release(s == 0 ? kStages - 1 : s - 1);
            if (++s == kStages) s = 0, phase ^= 1;
          }
          klWgmmaWait<0>();
          release(s == 0 ? kStages - 1 : s - 1);
#pragma unroll
          for (int j = 0; j < BN / 2; ++j) sum[j] += part[j];
        }
      }

      int row, col;
      order.at(tile, row, col);
      row0 = (row * kRows + rankRow) * BM + group * 64, col0 = (col * kCols + rankCol) * BN;
      if constexpr (Design::kBuffers > 0) {
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          const float* own = &sum[part * kPartPairs * 2];
          if constexpr (Design::kDeferred > 0) {
            packPart(&held[part * kPartPairs], own, scale);
          } else {
            uint32_t pairs[kPartPairs];
            packPart(pairs, own, scale);
            store(pairs, part);
          }
        }
        holding = Design::kDeferred > 0;
      } else {
        klStoreNt(sum, c, row0, col0, m, n, scale);
      }
    }
    if constexpr (Design::kDeferred > 0)
#pragma unroll
      for (int part = 0; part < kParts; ++part) store(&held[part * kPartPairs], part);
    if (Design::kBuffers && threadIdx.x % 128 == 0) klTmaStoreWaitRead<0>();
  }
  if constexpr (kCluster > 1) {
    __syncwarp();     // the threads that copied are late
    klClusterSync();  // a block stays until the other has sent it all it will send
  }
}

template <class Design, typename T, int BN>
cudaError_t launchNt(const KlGemmNt* p, int smCount, cudaStream_t stream) {
  using P = NtPlan<Design, BN>;
  constexpr int kRows = Design::kClusterRows, kCols = Design::kClusterCols, kCluster = kRows * kCols;
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  CUtensorMap aMap, bMap, cMap;
  cudaError_t status = klRowMap<T>(&aMap, p->a, m, k, BM / kCols);
  if (status == cudaSuccess) status = klRowMap<T>(&bMap, p->b, n, k, BN / kRows);
  if (status == cudaSuccess) status = klRowMap<__nv_bfloat16>(&cMap, p->c, m, n, 64);
  const auto kernel = gemmNtPipeline<Design, T, BN>;
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::sharedBytes);
  if (status != cudaSuccess) return status;
  const int tiles = ceilDiv(m, BM * kRows) * ceilDiv(n, BN * kCols);
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
    // As few clusters as finish in as many rounds: all end at the same time.
    int resident = smCount / kCluster;
    if (kCluster > 2) status = cudaOccupancyMaxActiveClusters(&resident, kernel, &config);
    if (status != cudaSuccess) return status;
    config.gridDim = dim3(ceilDiv(tiles, ceilDiv(tiles, std::max(1, resident))) * kCluster);
  }
  return cudaLaunchKernelEx(&config, kernel, aMap, bMap, cMap, m, n, k, klScale(p), static_cast<__nv_bfloat16*>(p->c));
}

template <class Design>
cudaError_t launchDesign(const KlGemmNt* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    // The copy engine needs aligned rows; other shapes take the slow kernel.
    if (!klRowsAligned(p)) return klLaunchAnyShape<T>(p, stream);
    int device = 0, smCount = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;
    // A matrix of few tiles would leave most of the GPU idle: then narrower ones, for as long as all of them run at once.
    const long long rows = ceilDiv(int(p->m), BM * Design::kClusterRows) * Design::kClusterRows;
    if (rows * ceilDiv(int(p->n), 64) <= smCount) return launchNt<Design, T, 64>(p, smCount, stream);
    if (Design::kWidest == 128 || rows * ceilDiv(int(p->n), 128) <= smCount)
      return launchNt<Design, T, 128>(p, smCount, stream);
    if constexpr (Design::kWidest == 256) return launchNt<Design, T, 256>(p, smCount, stream);
    else return cudaErrorInvalidValue;
  });
}
