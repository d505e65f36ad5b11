// @rung    81_promoted_nt
// @title   Sums promoted to FP32
// @after   79_serpentine_nt
// @idea    tensor cores keep only about 14 bits of an FP8 sum. After every 128 elements along K, the sum is added to an FP32 sum in registers and restarts at zero. A warpgroup multiplies 128 of its 256 columns at a time, so both sums fit in registers
// @param   GROUP 8 {1,2,4,8,16}
// @dtype   e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

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
    constexpr int kColumns = BN < 128 ? BN : 128;  // the columns of a partial sum
    float sum[BN / 2];
    int s = 0, phase = 0;
    const auto release = [&](int stage) {
      if (lane < kRows && cluster.sharesWith(lane)) klBarrierArriveAt(&empty[stage], lane);
    };
    const auto advance = [&] {
      if (++s == kStages) s = 0, phase ^= 1;
    };

    for (int tile = first; tile < order.count(); tile += stride) {
#pragma unroll
      for (float& x : sum) x = 0;
      for (int step = 0; step < steps; ++step) {
        klBarrierWait(&full[s], phase);
        const uint32_t aTile = stages + s * Plan::stageBytes, bTile = aTile + Plan::bytesA;
#pragma unroll
        for (int begin = 0; begin < BN; begin += kColumns) {
          float part[kColumns / 2];
          klWgmmaNtStage<T>(part, aTile + group * 64 * kRowBytes, bTile + begin * kRowBytes, 0);
          klWgmmaWait<0>();  // the tensor cores now multiply for the other warpgroup
          if (begin + kColumns == BN) release(s);
#pragma unroll
          for (int j = 0; j < kColumns / 2; ++j) sum[begin / 2 + j] += part[j];
        }
        advance();
      }

      int row, col;
      order.at(tile, row, col);
      const int row0 = (row * kRows + cluster.row) * BM + group * 64, col0 = (col + cluster.col) * BN;
#pragma unroll
      for (int part = 0; part < BN / 64; ++part) {
        uint32_t pairs[kPartPairs];
        packPart(pairs, &sum[part * kPartPairs * 2], scale);
        storePart<2>(pairs, part, &cMap, staging + group * 2 * kBufferBytes, group, row0, col0);
      }
    }
    if (threadIdx.x % 128 == 0) klTmaStoreWaitRead<0>();
  }
  __syncwarp();     // waits for the lanes that issued copies
  klClusterSync();  // keeps the block alive until the other block has sent all its data
}

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return klLaunchNt<Design>(p, stream, [](auto type, auto width) { return gemm<decltype(type), width>; });
}
