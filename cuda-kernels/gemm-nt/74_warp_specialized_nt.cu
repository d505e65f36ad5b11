// @rung    74_warp_specialized_nt
// @title   A warp that copies, two warpgroups that multiply
// @after   73_wgmma_nt
// @idea    one thread keeps up to four stages of A and B in flight. Meanwhile, two warpgroups multiply 64 x 256 tiles. No warp waits for a copy that could have started earlier
// @expect  tensorUtilization up
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

struct Design : NtDesign {};

template <typename T, int BN>
__global__ void __launch_bounds__(kThreads, 1)
gemm(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap,
     const __grid_constant__ CUtensorMap cMap, int m, int n, int k, float scale, __nv_bfloat16* __restrict__ c) {
  using Plan = NtPlan<Design, BN>;
  constexpr int kStages = Plan::stages, kDepth = kStageDepth<T>;
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[kStages], empty[kStages];
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u;

  const int steps = (k + kDepth - 1) / kDepth;
  const KlTileOrder<1> order{ceilDiv(m, BM), ceilDiv(n, BN)};
  const int first = blockIdx.x, stride = gridDim.x;

  if (threadIdx.x == 0) {
    klTmaPrefetch(&aMap);
    klTmaPrefetch(&bMap);
    initStages(full, empty, kConsumers * 4);  // each consumer warp arrives
  }
  __syncthreads();

  if (threadIdx.x < 128) {  // the producer: one thread copies
    klRegistersDown<40>();
    if (threadIdx.x == 0) {
      int s = 0, phase = 0;
      bool back = false;
      for (int tile = first; tile < order.count(); tile += stride, back = !back) {
        int row, col;
        order.at(tile, row, col);
        const int row0 = row * BM, col0 = col * BN;
        for (int i = 0; i < steps; ++i) {
          const int depth = (back ? steps - 1 - i : i) * kDepth;
          klBarrierWait(&empty[s], phase ^ 1);
          const uint32_t aTile = stages + s * Plan::stageBytes, bTile = aTile + Plan::bytesA;
          klBarrierExpect(&full[s], Plan::stageBytes);
          copyTile(aTile, &aMap, row0, depth, &full[s]);
          copyTile(bTile, &bMap, col0, depth, &full[s]);
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
      if (lane == 0) klBarrierArrive(&empty[stage]);
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
      const int row0 = row * BM + group * 64, col0 = col * BN;
      klStoreNt(sum, c, row0, col0, m, n, scale);
    }
  }
}

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return klLaunchNt<Design>(p, stream, [](auto type, auto width) { return gemm<decltype(type), width>; });
}
