// @rung    06_taking_turns
// @title   Two warpgroups that take turns
// @after   05_wgmma_tma
// @idea    a producer keeps the copy engine busy; of two warpgroups one has the tensor cores while the other works out its softmax, and each enqueues the scores of its next tile before the product of the last one, which is multiplied meanwhile
// @expect  tensorUtilization up
// @param   KEYS 128 {64,128,160,176}
// @param   STAGES 2 {2,3,4}
// @param   FENCE 2 {0,1,2,3}
// @param   TURNS 1 {0,1}
// @dtype   bf16
// @requires sm_90a
#include "attention_hopper.cuh"

constexpr int kRows = 128, kConsumers = kRows / kWarpgroupRows, kThreads = (1 + kConsumers) * 128;
constexpr int kTile = klTileBytes(KEYS), kSharedBytes = klTileBytes(kRows) + 2 * STAGES * kTile + 1024;
static_assert(kSharedBytes <= 226 * 1024, "STAGES * KEYS * 512 bytes must fit beside 32 KiB into the 227 KiB of a block");

struct Barriers {
  uint64_t qFull, kFull[STAGES], kEmpty[STAGES], vFull[STAGES], vEmpty[STAGES];
};

// A stage after another, over and over; the parity of its barriers changes with each round.
struct Stage {
  int index = 0;
  uint32_t parity = 0;
  __device__ void next() {
    if (++index == STAGES) index = 0, parity ^= 1;
  }
};

__global__ void __launch_bounds__(kThreads, 1)
attend(const __grid_constant__ CUtensorMap qMap, const __grid_constant__ CUtensorMap kMap, const __grid_constant__ CUtensorMap vMap,
       const __grid_constant__ CUtensorMap oMap, int tokens, int causal, float scale) {
  extern __shared__ unsigned char shared[];
  __shared__ Barriers at;
  __shared__ float2 dummy[384];
  const uint32_t q = (klSharedAddress(shared) + 1023) & ~1023u;
  const uint32_t kTiles = q + klTileBytes(kRows), vTiles = kTiles + STAGES * kTile;

  const int row0 = blockIdx.x * kRows, head = blockIdx.y;
  const int blocks = ceilDiv(causal ? min(tokens, row0 + kRows) : tokens, KEYS);

  if (threadIdx.x == 0) {
    klBarrierInit(&at.qFull, 1);
    for (int s = 0; s < STAGES; ++s) {
      klBarrierInit(&at.kFull[s], 1);
      klBarrierInit(&at.vFull[s], 1);
      klBarrierInit(&at.kEmpty[s], kConsumers * 4);  // each warp of the consumers arrives
      klBarrierInit(&at.vEmpty[s], kConsumers * 4);
    }
    klBarrierInitFence();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    klRegistersDown<24>();
    if (threadIdx.x == 0) {
      Stage k, v;
      klBarrierExpect(&at.qFull, klTileBytes(kRows));
      klLoadTile<kRows>(q, &qMap, row0, head, &at.qFull);
      // Keys are a tile ahead of values, as those who wait for them are.
      for (int step = 0; step <= blocks; ++step) {
        if (step < blocks) {
          klBarrierWait(&at.kEmpty[k.index], k.parity ^ 1);
          klBarrierExpect(&at.kFull[k.index], kTile);
          klLoadTile<KEYS>(kTiles + k.index * kTile, &kMap, (blocks - 1 - step) * KEYS, head, &at.kFull[k.index]);
          k.next();
        }
        if (step > 0) {
          klBarrierWait(&at.vEmpty[v.index], v.parity ^ 1);
          klBarrierExpect(&at.vFull[v.index], kTile);
          klLoadTile<KEYS>(vTiles + v.index * kTile, &vMap, (blocks - step) * KEYS, head, &at.vFull[v.index]);
          v.next();
        }
      }
    }
  } else {
    klRegistersUp<240>();
    const int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1, lane = threadIdx.x % 32;
    const int ownRow = row0 + group * kWarpgroupRows, row = ownRow + threadIdx.x / 32 % 4 * 16 + lane / 4;
    const uint32_t ownQ = q + group * kWarpgroupRows * 128;
    // A turn at the tensor cores: all threads of a warpgroup wait for all of the other one.
    const auto takeTurn = [&] {
      if (TURNS) asm volatile("bar.sync %0, 256;" ::"r"(3 + group) : "memory");
    };
    const auto passTurn = [&] {
      if (TURNS) asm volatile("bar.arrive %0, 256;" ::"r"(4 - group) : "memory");
    };
    const auto release = [&](uint64_t* barrier) {
      if (lane == 0) klBarrierArrive(barrier);
    };
    if (group == 1) passTurn();

    float o[kHead / 2] = {}, score[KEYS / 2], factor[2];
    uint32_t weight[KEYS / 4];
    KlRows rows;
    Stage k, v;
    // The last tile of keys comes first: it is cut by the end, and by the diagonal.
    klBarrierWait(&at.qFull, 0);
    klBarrierWait(&at.kFull[0], 0);
    takeTurn();
    klScores<kRows>(score, ownQ, kTiles);
    passTurn();
    klWgmmaWait<0>();
    klSettled(score);
    release(&at.kEmpty[0]);
    k.next();
    klMask(score, row, (blocks - 1) * KEYS + lane % 4 * 2, tokens, causal);
    rows.add(score, scale, factor);
    klRound(weight, score);

    for (int step = 1; step < blocks; ++step) {
      const int key0 = (blocks - 1 - step) * KEYS;
      klBarrierWait(&at.kFull[k.index], k.parity);
      takeTurn();
      klScores<kRows>(score, ownQ, kTiles + k.index * kTile);
      klBarrierWait(&at.vFull[v.index], v.parity);
      klValues<KEYS>(o, weight, vTiles + v.index * kTile);
      passTurn();
      klWgmmaWait<1>();
      klSettled(score);
      release(&at.kEmpty[k.index]);
      k.next();
      if (causal && key0 + KEYS > ownRow) klMask(score, row, key0 + lane % 4 * 2, tokens, causal);
      rows.add(score, scale, factor);
      if (FENCE == 1) { if (rows.sum[0] < 0 || rows.sum[1] < 0) __trap(); }
        if (FENCE == 2) asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(klSharedAddress(dummy) + threadIdx.x * 8), "f"(rows.sum[0]), "f"(rows.sum[1]) : "memory");
        if (FENCE == 3 && __any_sync(~0u, rows.sum[0] < 0 || rows.sum[1] < 0)) asm volatile("nanosleep.u32 1;");
      klWgmmaWait<0>();
      klSettled(o);
      release(&at.vEmpty[v.index]);
      v.next();
      klRescale(o, factor);
      klRound(weight, score);
    }
    klBarrierWait(&at.vFull[v.index], v.parity);
    klValues<KEYS>(o, weight, vTiles + v.index * kTile);
    klWgmmaWait<0>();
    klSettled(o);
    klStoreRows<kRows>(o, rows, ownQ, &oMap, ownRow, head, 1 + group);
    klAwaitStore();
  }
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
