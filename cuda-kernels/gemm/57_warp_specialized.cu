// @rung    57_warp_specialized
// @title   Warp specialization
// @after   56_wgmma_tma
// @idea    one warpgroup only issues copies, and two others only multiply. The warpgroups synchronize with mbarriers instead of __syncthreads. One product is always queued behind another. A 128 x 256 tile reads a quarter less for the same work
// @expect  registersPerThread up
// @param   STAGES 4 {2,3,4}
// @dtype   bf16 f16
// @requires sm_90a

#include "tensor_common.cuh"

constexpr int BM = 128, BN = 256, kDepth = 64;
constexpr int kConsumers = 2, kThreads = (1 + kConsumers) * 128;
constexpr int kBytesA = BM * kDepth * 2, kBytesB = kDepth * BN * 2, kStageBytes = kBytesA + kBytesB;
constexpr int kSharedBytes = STAGES * kStageBytes + 1024;  // tiles start at multiples of 1024 bytes

static_assert(STAGES >= 2, "STAGES must be at least 2: one stage is filled while another is used");
static_assert(kSharedBytes <= 226 * 1024, "STAGES * 48 KiB must fit into the 227 KiB of a block");

template <typename T>
__global__ void __launch_bounds__(kThreads, 1)
gemm(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap, int m, int n,
                    int k, float alpha, float beta, float* __restrict__ c) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[STAGES];   // completes a phase when a stage has arrived
  __shared__ uint64_t empty[STAGES];  // completes a phase when both consumers are done with a stage
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u;

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;
  const int steps = (k + kDepth - 1) / kDepth;

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      klBarrierInit(&full[s], 1);
      klBarrierInit(&empty[s], kConsumers * 4);  // each consumer warp arrives
    }
    klBarrierInitFence();
  }
  __syncthreads();

  // A block starts with the same number of registers for every thread. The producer needs few registers and releases
  // the rest for the sums of the consumers.
  if (threadIdx.x < 128) {
    klRegistersDown<40>();
    if (threadIdx.x == 0) {
      int s = 0, phase = 0;
      for (int step = 0; step < steps; ++step) {
        klBarrierWait(&empty[s], phase ^ 1);
        const uint32_t aTile = stages + s * kStageBytes, bTile = aTile + kBytesA;
        klBarrierExpect(&full[s], kStageBytes);
        klTmaLoad(aTile, &aMap, row0, step * kDepth, &full[s]);
#pragma unroll
        for (int j = 0; j < BN / kTmaCols; ++j)
          klTmaLoad(bTile + j * kDepth * 128, &bMap, step * kDepth, col0 + j * kTmaCols, &full[s]);
        if (++s == STAGES) s = 0, phase ^= 1;
      }
    }
  } else {
    klRegistersUp<232>();
    const int group = threadIdx.x / 128 - 1;
    float sum[BN / 2];
    int s = 0, phase = 0;
    for (int step = 0; step < steps; ++step) {
      klBarrierWait(&full[s], phase);
      const uint32_t aTile = stages + s * kStageBytes, bTile = aTile + kBytesA;
      klWgmmaStage<T, kDepth>(sum, aTile + group * 64 * 128, bTile, step != 0);
      // This stage's products stay in flight; the previous stage's products are done.
      klWgmmaWait<1>();
      if (step > 0 && threadIdx.x % 32 == 0) klBarrierArrive(&empty[s == 0 ? STAGES - 1 : s - 1]);
      if (++s == STAGES) s = 0, phase ^= 1;
    }
    klWgmmaWait<0>();
    klStoreSums(sum, c, row0 + group * 64, col0, m, n, alpha, beta);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRequire16Bit(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    // TMA needs aligned rows; other shapes use the slow kernel.
    if (!klRowsAligned(p)) return klLaunchAnyShape<T>(p, stream);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    CUtensorMap aMap, bMap;
    cudaError_t status = klTensorMap(&aMap, static_cast<const T*>(p->a), m, k, BM, kTmaCols);
    if (status == cudaSuccess) status = klTensorMap(&bMap, static_cast<const T*>(p->b), k, n, kDepth, kTmaCols);
    if (status == cudaSuccess)
      status = cudaFuncSetAttribute(gemm<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (status != cudaSuccess) return status;
    gemm<T><<<klTileGrid(ceilDiv(m, BM), ceilDiv(n, BN)), kThreads, kSharedBytes, stream>>>(
        aMap, bMap, m, n, k, p->alpha, p->beta, p->c);
    return cudaGetLastError();
  });
}
