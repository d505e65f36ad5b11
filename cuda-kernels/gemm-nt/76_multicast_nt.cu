// @rung    76_multicast_nt
// @title   Clusters that share B
// @after   75_persistent_nt
// @idea    two blocks, one below the other, form a cluster. Each block loads half of the tile of B for both blocks, which cuts L2 reads by a third
// @expect  l2Bytes down
// @param   GROUP 8 {1,2,4,8,16}
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

struct Design : NtDesign {
  static constexpr bool kPersistent = true;
  static constexpr int kClusterRows = 2;
};

template <typename T, int BN>
__global__ void __cluster_dims__(Design::kClusterRows, 1, 1) __launch_bounds__(kThreads, 1)
gemm(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap,
     const __grid_constant__ CUtensorMap cMap, int m, int n, int k, float scale, __nv_bfloat16* __restrict__ c) {
  using Plan = NtPlan<Design, BN>;
  constexpr int kStages = Plan::stages, kDepth = kStageDepth<T>;
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[kStages], empty[kStages];
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u;

  const int steps = (k + kDepth - 1) / kDepth;
  constexpr int kRows = Design::kClusterRows;
  const NtCluster<kRows> cluster(klClusterRank());
  const KlTileOrder<GROUP> order{ceilDiv(m, BM * kRows), ceilDiv(n, BN)};
  const int first = blockIdx.x / kRows, stride = gridDim.x / kRows;

  if (threadIdx.x == 0) {
    klTmaPrefetch(&aMap);
    klTmaPrefetch(&bMap);
    initStages(full, empty, kRows * kConsumers * 4);  // each consumer warp of every block arrives
  }
  klClusterSync();

  if (threadIdx.x < 128) {  // the producer: one thread copies
    klRegistersDown<40>();
    if (threadIdx.x == 0) {
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
          copyTile(aTile, &aMap, row0, depth, &full[s]);
          copyShare<BN, kRows>(bTile, &bMap, col0, depth, &full[s], cluster.row, column);
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
    const auto advance = [&] {
      if (++s == kStages) s = 0, phase ^= 1;
    };

    for (int tile = first; tile < order.count(); tile += stride) {
      for (int step = 0; step < steps; ++step) {
        klBarrierWait(&full[s], phase);
        const uint32_t aTile = stages + s * Plan::stageBytes, bTile = aTile + Plan::bytesA;
        klWgmmaNtStage<T>(sum, aTile + group * 64 * kRowBytes, bTile, step != 0);
        klWgmmaWait<1>();  // this stage's products stay in flight; the previous stage's products are done
        if (step > 0) release(s == 0 ? kStages - 1 : s - 1);
        advance();
      }
      klWgmmaWait<0>();
      release(s == 0 ? kStages - 1 : s - 1);

      int row, col;
      order.at(tile, row, col);
      const int row0 = (row * kRows + cluster.row) * BM + group * 64, col0 = (col + cluster.col) * BN;
      klStoreNt(sum, c, row0, col0, m, n, scale);
    }
  }
  __syncwarp();     // waits for the lanes that issued copies
  klClusterSync();  // keeps the block alive until the other block has sent all its data
}

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return klLaunchNt<Design>(p, stream, [](auto type, auto width) { return gemm<decltype(type), width>; });
}
