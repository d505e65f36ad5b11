// @rung    05_wgmma_tma
// @title   WGMMA and TMA
// @after   04_mma_sync
// @idea    TMA copies tiles into shared memory. Two warpgroups multiply directly from shared memory at the full rate of the tensor cores. The weights are the left operand of the second product and stay in registers
// @expect  tensorUtilization up
// @param   STAGES 2 {1,2}
// @dtype   bf16
// @requires sm_90a

// The tensor pipe is hardly busier than in the previous rung, but finishes earlier. For the same products, WGMMA keeps
// the pipe busy for fewer cycles than mma.sync.

#include "attention_hopper.cuh"

constexpr int kRows = 128, KEYS = 128, kThreads = kRows / kWarpgroupRows * 128;
constexpr int kTile = klTileBytes(KEYS), kSharedBytes = klTileBytes(kRows) + 2 * STAGES * kTile + 1024;

__global__ void __launch_bounds__(kThreads, 1)
attend(const __grid_constant__ CUtensorMap qMap, const __grid_constant__ CUtensorMap kMap, const __grid_constant__ CUtensorMap vMap,
       const __grid_constant__ CUtensorMap oMap, int tokens, int causal, float scale) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t qFull, kFull[STAGES], vFull[STAGES];  // barriers that complete when a tile has arrived
  // A swizzled tile starts at a multiple of 1024 bytes. A row of a box has 128 bytes.
  const uint32_t q = (klSharedAddress(shared) + 1023) & ~1023u, keys = q + klTileBytes(kRows);

  const int row0 = blockIdx.x * kRows, head = blockIdx.y;
  const int blocks = ceilDiv(causal ? min(tokens, row0 + kRows) : tokens, KEYS);
  // The shuffle tells the compiler that `group` is equal in all threads of a warp.
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0), lane = threadIdx.x % 32;
  const int row = row0 + group * kWarpgroupRows + threadIdx.x / 32 % 4 * 16 + lane / 4;

  if (threadIdx.x == 0) {
    klBarrierInit(&qFull, 1);
    for (int s = 0; s < STAGES; ++s) {
      klBarrierInit(&kFull[s], 1);
      klBarrierInit(&vFull[s], 1);
    }
    klBarrierInitFence();
  }
  __syncthreads();

  // Fetches the tiles of keys in reverse order. Only the last tile can contain the end of the keys or the diagonal.
  const auto fetch = [&](int step) {
    if (step >= blocks || threadIdx.x != 0) return;
    const int s = step % STAGES, key0 = (blocks - 1 - step) * KEYS;
    const uint32_t k = keys + s * 2 * kTile, v = k + kTile;
    klBarrierExpect(&kFull[s], kTile);
    klLoadTile<KEYS>(k, &kMap, key0, head, &kFull[s]);
    klBarrierExpect(&vFull[s], kTile);
    klLoadTile<KEYS>(v, &vMap, key0, head, &vFull[s]);
  };
  if (threadIdx.x == 0) {
    klBarrierExpect(&qFull, klTileBytes(kRows));
    klLoadTile<kRows>(q, &qMap, row0, head, &qFull);
  }
  for (int s = 0; s < STAGES; ++s) fetch(s);

  float o[kHead / 2] = {}, score[KEYS / 2], factor[2];
  uint32_t weight[KEYS / 4];
  KlRows rows;
  klBarrierWait(&qFull, 0);
  for (int step = 0; step < blocks; ++step) {
    // Every tile completes a phase of its stage's barriers, so the parity to wait for alternates.
    const int s = step % STAGES, parity = step / STAGES % 2, key0 = (blocks - 1 - step) * KEYS;
    const uint32_t k = keys + s * 2 * kTile, v = k + kTile;
    klBarrierWait(&kFull[s], parity);
    klScores<kRows>(score, q + group * kWarpgroupRows * 128, k);
    klWgmmaWait<0>();
    klSettled(score);
    if (step == 0) klMask(score, row, key0 + lane % 4 * 2, tokens, causal);
    rows.add(score, scale, factor);  // turns scores into weights
    klRescale(o, factor);
    klRound(weight, score);
    klBarrierWait(&vFull[s], parity);
    klValues<KEYS>(o, weight, v);
    klWgmmaWait<0>();
    klSettled(o);
    __syncthreads();  // both warpgroups are done with this stage
    fetch(step + STAGES);
  }
  // The result replaces the warpgroup's rows of q.
  klStoreRows<kRows>(o, rows, q + group * kWarpgroupRows * 128, &oMap, row0 + group * kWarpgroupRows, head, 1 + group);
  klAwaitStore();
}

extern "C" const char* kl_unsupported(const KlTask* p, int) { return klRequireHead(p); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  CUtensorMap qMap, kMap, vMap, oMap;
  cudaError_t status = klHeadMap(&qMap, p->q, p, kRows);
  if (status == cudaSuccess) status = klHeadMap(&kMap, p->k, p, KEYS);
  if (status == cudaSuccess) status = klHeadMap(&vMap, p->v, p, KEYS);
  if (status == cudaSuccess) status = klHeadMap(&oMap, p->o, p, kWarpgroupRows);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (status != cudaSuccess) return status;
  const int tokens = int(p->TOKENS);
  attend<<<dim3(ceilDiv(tokens, kRows), unsigned(p->HEADS)), kThreads, kSharedBytes, stream>>>(
      qMap, kMap, vMap, oMap, tokens, p->causal, klScoreScale(p));
  return cudaGetLastError();
}
