// @rung    56_wgmma_tma
// @title   WGMMA and TMA
// @after   54_mma_sync
// @idea    with Hopper's own instructions, one thread starts TMA copies of whole tiles. Two warpgroups of four warps multiply the tiles asynchronously, directly from shared memory. Neither copies nor fragments pass through registers
// @expect  registersPerThread down
// @param   STAGES 2 {2,3,4}
// @dtype   bf16 f16
// @requires sm_90a

#include "tensor_common.cuh"

constexpr int BM = 128, BN = 128, kDepth = 64;
constexpr int kThreads = 256;  // two warpgroups with 64 rows of the tile each
constexpr int kBytesA = BM * kDepth * 2, kBytesB = kDepth * BN * 2, kStageBytes = kBytesA + kBytesB;
constexpr int kSharedBytes = STAGES * kStageBytes + 1024;  // tiles start at multiples of 1024 bytes

static_assert(STAGES >= 2, "STAGES must be at least 2: one stage is filled while another is used");
static_assert(kSharedBytes <= 226 * 1024, "STAGES * 32 KiB must fit into the 227 KiB of a block");

template <typename T>
__global__ void __launch_bounds__(kThreads, 1)
gemm(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap, int m, int n, int k,
          float alpha, float beta, float* __restrict__ c) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[STAGES];  // completes a phase when a stage has arrived
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u;

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;
  const int steps = (k + kDepth - 1) / kDepth;

  // TMA fills elements outside the matrix with zeros. B is copied in boxes of 64 columns.
  const auto fetch = [&](int step) {
    const uint32_t aTile = stages + step % STAGES * kStageBytes, bTile = aTile + kBytesA;
    uint64_t* barrier = &full[step % STAGES];
    klBarrierExpect(barrier, kStageBytes);
    klTmaLoad(aTile, &aMap, row0, step * kDepth, barrier);
#pragma unroll
    for (int j = 0; j < BN / kTmaCols; ++j)
      klTmaLoad(bTile + j * kDepth * 128, &bMap, step * kDepth, col0 + j * kTmaCols, barrier);
  };

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) klBarrierInit(&full[s], 1);
    klBarrierInitFence();
    for (int s = 0; s < STAGES && s < steps; ++s) fetch(s);
  }
  __syncthreads();

  const int group = threadIdx.x / 128;
  float sum[BN / 2];
  for (int step = 0; step < steps; ++step) {
    const uint32_t aTile = stages + step % STAGES * kStageBytes, bTile = aTile + kBytesA;
    klBarrierWait(&full[step % STAGES], step / STAGES & 1);
    klWgmmaStage<T, kDepth>(sum, aTile + group * 64 * 128, bTile, step != 0);
    klWgmmaWait<0>();
    __syncthreads();  // both warpgroups are done with the stage
    if (threadIdx.x == 0 && step + STAGES < steps) fetch(step + STAGES);
  }
  klStoreSums(sum, c, row0 + group * 64, col0, m, n, alpha, beta);
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
