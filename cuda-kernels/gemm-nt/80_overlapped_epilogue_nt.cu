// @rung    80_overlapped_epilogue_nt
// @title   Epilogue during the next tile
// @after   79_serpentine_nt
// @idea    a tile's results are converted to BF16, which halves their registers. The results are stored in four parts during the next tile's products. An SM stops multiplying for its stores only after its last tile
// @expect  tensorUtilization up
// @param   GROUP 8 {1,2,4,8,16}
// @param   DEFERRED 2 {1,2,3,4,6,8}
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

static_assert(DEFERRED >= 1, "DEFERRED must be at least 1: steps of the next tile for each part of the results");

struct Design : NtDesign {
  static constexpr bool kPersistent = true, kEarlyLaunch = true;
  static constexpr int kClusterRows = 2, kBuffers = 2;
};

template <typename T, int BN>
__global__ void __cluster_dims__(Design::kClusterRows, 1, 1) __launch_bounds__(kThreads, 1)
gemm(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap,
     const __grid_constant__ CUtensorMap cMap, int m, int n, int k, float scale, __nv_bfloat16* __restrict__ c) {
  using Plan = NtPlan<Design, BN>;
  constexpr int kStages = Plan::stages, kDepth = kStageDepth<T>;
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[kStages], empty[kStages];
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u, staging = stages + kStages * Plan::stageBytes;

  const int steps = (k + kDepth - 1) / kDepth;
  constexpr int kRows = Design::kClusterRows;
  const NtCluster<kRows> cluster(klClusterRank());
  const KlTileOrder<GROUP, true> order{ceilDiv(m, BM * kRows), ceilDiv(n, BN)};
  const int first = blockIdx.x / kRows, stride = gridDim.x / kRows;

  if (threadIdx.x == 0) {
    klTmaPrefetch(&aMap);
    klTmaPrefetch(&bMap);
    klTmaPrefetch(&cMap);
    initStages(full, empty, kRows * kConsumers * 4);  // each consumer warp of every block arrives
  }
  klClusterSync();
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");

  if (threadIdx.x < 128) {  // the producer: one thread copies
    klRegistersDown<40>();
    if (threadIdx.x == 0) {
      asm volatile("griddepcontrol.wait;" ::: "memory");
      const uint16_t column = cluster.column();
      int s = 0, phase = 0;
      // Alternate the direction along K from tile to tile. Each tile starts with the columns that the previous tile
      // read last, because they are still in L2.
      bool back = false;
      for (int tile = first; tile < order.count(); tile += stride, back = !back) {
        int row, col;
        order.at(tile, row, col);
        const int row0 = (row * kRows + cluster.row) * BM, col0 = (col + cluster.col) * BN;
        for (int i = 0; i < steps; ++i) {
          const int depth = (back ? steps - 1 - i : i) * kDepth;
          // All blocks must be done with the stage, because each block copies a part of the tile of B to all of them.
          klBarrierWait(&empty[s], phase ^ 1);
          const uint32_t aTile = stages + s * Plan::stageBytes, bTile = aTile + Plan::bytesA;
          klBarrierExpect(&full[s], Plan::stageBytes);
          copyTile<kEvictLast>(aTile, &aMap, row0, depth, &full[s]);
          copyShare<BN, kRows, kEvictLast>(bTile, &bMap, col0, depth, &full[s], cluster.row, column);
          if (++s == kStages) s = 0, phase ^= 1;
        }
      }
    }
  } else {  // the consumers: two warpgroups multiply
    klRegistersUp<232>();
    const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
    float sum[BN / 2];
    int s = 0, phase = 0;
    const auto release = [&](int stage) {
      if (lane < kRows && cluster.sharesWith(lane)) klBarrierArriveAt(&empty[stage], lane);
    };
    const auto multiplyStage = [&](int step) {
      klBarrierWait(&full[s], phase);
      const uint32_t aTile = stages + s * Plan::stageBytes, bTile = aTile + Plan::bytesA;
      klWgmmaNtStage<T>(sum, aTile + group * 64 * kRowBytes, bTile, step != 0);
    };
    const auto finishStage = [&](int step) {
      klWgmmaWait<1>();  // this stage's products stay in flight; the previous stage's products are done
      if (step > 0) release(s == 0 ? kStages - 1 : s - 1);
      if (++s == kStages) s = 0, phase ^= 1;
    };

    // A tile's BF16 results, stored while the next tile is multiplied. The tensor cores then have work during the
    // stores, and the SMs do not all store at the same time.
    constexpr int kParts = BN / 64;
    uint32_t held[BN / 4];
    bool holding = false;
    int row0 = 0, col0 = 0;
    const auto store = [&](int part) {
      storePart<2>(&held[part * kPartPairs], part, &cMap, staging + group * 2 * kBufferBytes, group, row0, col0);
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
      for (int part = 0; part < kParts; ++part) {
        const bool left = step < steps;
        if (left) multiplyStage(step);
        if (holding) store(part);
        if (left) finishStage(step++);
        multiplyUntil(min((part + 1) * DEFERRED, steps));
      }
      multiplyUntil(steps);
      klWgmmaWait<0>();
      release(s == 0 ? kStages - 1 : s - 1);

      int row, col;
      order.at(tile, row, col);
      row0 = (row * kRows + cluster.row) * BM + group * 64, col0 = (col + cluster.col) * BN;
#pragma unroll
      for (int part = 0; part < kParts; ++part)
        packPart(&held[part * kPartPairs], &sum[part * kPartPairs * 2], scale);
      holding = true;
    }
#pragma unroll
    for (int part = 0; part < kParts; ++part) store(part);
    if (threadIdx.x % 128 == 0) klTmaStoreWaitRead<0>();
  }
  __syncwarp();     // waits for the lanes that issued copies
  klClusterSync();  // keeps the block alive until the other block has sent all its data
}

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return klLaunchNt<Design>(p, stream, [](auto type, auto width) { return gemm<decltype(type), width>; });
}
