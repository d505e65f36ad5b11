// @rung    73_wgmma_nt
// @title   WGMMA fed by TMA
// @after   72_mma_sync_nt
// @idea    a warpgroup multiplies directly from shared memory, and one thread copies a whole tile with one instruction. The main loop needs no fragment loads, no address computation, and no registers for data in flight
// @expect  tensorUtilization up, sharedLoads down
// @param   STAGES 3 {2,3}
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_wgmma.cuh"

constexpr int BM = 128, BN = 128, kThreads = 256;
constexpr int kBytesA = BM * kRowBytes, kBytesB = BN * kRowBytes, kStageBytes = kBytesA + kBytesB;
constexpr int kSharedBytes = STAGES * kStageBytes + 1024;

static_assert(STAGES >= 2, "STAGES must be at least 2: one stage is filled while another is used");
static_assert(2 * kSharedBytes <= 226 * 1024, "STAGES must be at most 3, so that two blocks fit an SM");

template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
gemm(const __grid_constant__ CUtensorMap aMap, const __grid_constant__ CUtensorMap bMap, int m, int n, int k,
            float scale, __nv_bfloat16* __restrict__ c) {
  constexpr int kDepth = kStageDepth<T>;
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[STAGES];  // completes a phase when a stage has arrived
  const uint32_t stages = (klSharedAddress(shared) + 1023) & ~1023u;
  const int row0 = klGridRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;
  const int steps = (k + kDepth - 1) / kDepth, group = threadIdx.x / 128;

  const auto copyStage = [&](int step) {
    const int s = step % STAGES;
    const uint32_t aTile = stages + s * kStageBytes, bTile = aTile + kBytesA;
    klBarrierExpect(&full[s], kStageBytes);
    klTmaLoad(aTile, &aMap, row0, step * kDepth, &full[s]);
    klTmaLoad(bTile, &bMap, col0, step * kDepth, &full[s]);
  };

  if (threadIdx.x == 0) {
    for (uint64_t& barrier : full) klBarrierInit(&barrier, 1);
    klBarrierInitFence();
    for (int step = 0; step < STAGES && step < steps; ++step) copyStage(step);
  }
  __syncthreads();

  float sum[BN / 2];
  for (int step = 0; step < steps; ++step) {
    const int s = step % STAGES;
    klBarrierWait(&full[s], step / STAGES % 2);
    const uint32_t aTile = stages + s * kStageBytes, bTile = aTile + kBytesA;
    klWgmmaNtStage<T>(sum, aTile + group * 64 * kRowBytes, bTile, step != 0);
    klWgmmaWait<0>();
    __syncthreads();  // both warpgroups are done with this stage
    if (threadIdx.x == 0 && step + STAGES < steps) copyStage(step + STAGES);
  }
  klStoreNt(sum, c, row0 + group * 64, col0, m, n, scale);
}

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    // TMA needs aligned rows; other shapes use the slow kernel.
    if (!klRowsAligned(p)) return klLaunchAnyShape<T>(p, stream);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    CUtensorMap aMap, bMap;
    cudaError_t status = klRowMap<T>(&aMap, p->a, m, k, BM);
    if (status == cudaSuccess) status = klRowMap<T>(&bMap, p->b, n, k, BN);
    if (status == cudaSuccess)
      status = cudaFuncSetAttribute(gemm<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (status != cudaSuccess) return status;
    gemm<T><<<klGrid(ceilDiv(n, BN), ceilDiv(m, BM)), kThreads, kSharedBytes, stream>>>(
        aMap, bMap, m, n, k, klScale(p), static_cast<__nv_bfloat16*>(p->c));
    return cudaGetLastError();
  });
}
