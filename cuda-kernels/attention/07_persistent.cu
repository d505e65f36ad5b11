// @rung    07_persistent
// @title   Persistent blocks
// @after   06_ping_pong
// @idea    one block per SM processes many tiles of rows. The next tile starts while the previous tile is still being stored. With a causal mask, tiles that see the most keys come first. Each round assigns tiles to blocks in the reverse order of the previous round, so all blocks finish together
// @param   KEYS 128 {64,128,160,176}
// @param   STAGES 2 {2,3,4}
// @param   TURNS 1 {0,1}
// @dtype   bf16
// @requires sm_90a

// Without a mask, all tiles take equally long and their stores are short, so persistent blocks gain little. With a
// causal mask, the tile order balances the work across the SMs.

#include "attention_turns.cuh"

constexpr int kKeyBytes = KlTileRing<KEYS, STAGES>::kBytes;
// Stages results in separate shared memory if there is room, otherwise in the memory of q.
constexpr bool kStaged = 2 * klTileBytes(kRows) + 2 * kKeyBytes <= 225 * 1024;
constexpr int kSharedBytes = (kStaged ? 2 : 1) * klTileBytes(kRows) + 2 * kKeyBytes + 1024;
static_assert(kSharedBytes <= 226 * 1024, "STAGES * KEYS * 512 bytes and 32 KiB must fit into the 227 KiB of a block");

// The row tiles of a block, in processing order. With a causal mask, the tiles of all heads that see the most keys come
// first. Without a mask, each head is finished before the next, so its keys and values stay in L2. Each round assigns
// tiles to the blocks in the reverse order of the previous round.
struct Tiles {
  int perHead, heads, causal, round = 0;
  int row0 = 0, head = 0;

  __device__ bool next() {
    const int across = round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x, tile = round * gridDim.x + across;
    ++round;
    row0 = (causal ? perHead - 1 - tile / heads : tile % perHead) * kRows;
    head = causal ? tile % heads : tile / perHead;
    return tile < perHead * heads;  // the last round may have fewer tiles than blocks
  }
};

// Keeps the compiler from moving the computation of weights past the wait for the tensor cores, which would idle. The
// compiler does not move code across the nanosleep, and the condition of the nanosleep depends on that work. Sums of
// weights are never negative, so no thread sleeps.
__device__ inline void klComputedBeforeWait(const KlRows& rows) {
  if (__any_sync(~0u, rows.sum[0] < 0 || rows.sum[1] < 0)) asm volatile("nanosleep.u32 1;");
}

// Processes a warpgroup's 64 rows from `row0` over all tiles of keys. Calls `scored` after the last read of q.
template <int kKeys, int kStages, bool kTakeTurns, typename Scored>
__device__ inline void klAttend(float (&o)[kHead / 2], KlRows& rows, uint32_t q, KlTileRing<kKeys, kStages>& k,
                                KlTileRing<kKeys, kStages>& v, KlTurn<kTakeTurns> turn, int tiles, int row0, int tokens,
                                int causal, float scale, Scored scored) {
  const int lane = threadIdx.x % 32, row = row0 + threadIdx.x / 32 % 4 * 16 + lane / 4, column = lane % 4 * 2;
  float score[kKeys / 2], factor[2];
  uint32_t weight[kKeys / 4];
  k.await();
  turn.take();
  klScores<kRows>(score, q, k.tile());
  turn.pass();
  klWgmmaWait<0>();
  klSettled(score);
  k.release();
  klMask(score, row, (tiles - 1) * kKeys + column, tokens, causal);
  rows.add(score, scale, factor);  // turns scores into weights
  klRound(weight, score);

  for (int step = 1; step < tiles; ++step) {
    const int key0 = (tiles - 1 - step) * kKeys;
    k.await();
    turn.take();
    klScores<kRows>(score, q, k.tile());
    v.await();
    klValues<kKeys>(o, weight, v.tile());
    turn.pass();
    klWgmmaWait<1>();  // products finish in order, so this waits only for the scores
    klSettled(score);
    k.release();
    // With KEYS other than 128, the diagonal can cut through several tiles, not only the first.
    if (causal && key0 + kKeys > row0) klMask(score, row, key0 + column, tokens, causal);
    rows.add(score, scale, factor);  // turns scores into weights
    klComputedBeforeWait(rows);
    klWgmmaWait<0>();
    klSettled(o);
    v.release();
    klRescale(o, factor);
    klRound(weight, score);
  }
  scored();
  v.await();
  klValues<kKeys>(o, weight, v.tile());
  klWgmmaWait<0>();
  klSettled(o);
  v.release();
}

__global__ void __launch_bounds__(kThreads, 1)
attend(const __grid_constant__ CUtensorMap qMap, const __grid_constant__ CUtensorMap kMap, const __grid_constant__ CUtensorMap vMap,
       const __grid_constant__ CUtensorMap oMap, int tokens, int heads, int causal, float scale) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t qFull, qEmpty;
  __shared__ KlTileBarriers<STAGES> kAt, vAt;
  // A swizzled tile starts at a multiple of 1024 bytes. A row of a box has 128 bytes.
  const uint32_t q = (klSharedAddress(shared) + 1023) & ~1023u, keys = q + klTileBytes(kRows);
  const uint32_t staging = kStaged ? keys + 2 * kKeyBytes : q;
  KlTileRing<KEYS, STAGES> k{kAt, keys}, v{vAt, keys + kKeyBytes};
  Tiles tile{ceilDiv(tokens, kRows), heads, causal};

  if (threadIdx.x == 0) {
    klBarrierInit(&qFull, 1);
    klBarrierInit(&qEmpty, kConsumers * 4);
    kAt.init();
    vAt.init();
    klBarrierInitFence();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    klRegistersDown<24>();  // leaves more registers for the consumers
    if (threadIdx.x == 0) {
      for (uint32_t parity = 0; tile.next(); parity ^= 1) {
        const int row0 = tile.row0, head = tile.head;
        klBarrierWait(&qEmpty, parity ^ 1);
        klBarrierExpect(&qFull, klTileBytes(kRows));
        klLoadTile<kRows>(q, &qMap, row0, head, &qFull);
        const int tiles = klTilesOfKeys<KEYS>(row0, tokens, causal);
        klFetchKeys(k, v, &kMap, &vMap, tiles, head);
      }
    }
  } else {
    klRegistersUp<240>();
    // The shuffle tells the compiler that `group` is equal in all threads of a warp.
    const int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1;
    const int own = group * kWarpgroupRows * 128;
    const KlTurn<TURNS> turn(group);
    const auto releaseQ = [&] {
      if (threadIdx.x % 32 == 0) klBarrierArrive(&qEmpty);
    };
    for (uint32_t parity = 0; tile.next(); parity ^= 1) {
      const int row0 = tile.row0, head = tile.head;
      const int ownRow = row0 + group * kWarpgroupRows;
      float o[kHead / 2] = {};
      KlRows rows;
      klBarrierWait(&qFull, parity);
      klAttend(o, rows, q + own, k, v, turn, klTilesOfKeys<KEYS>(row0, tokens, causal), ownRow, tokens, causal, scale, [&] {
        if (kStaged) releaseQ();
      });
      klAwaitStore();  // waits for the previous tile's store
      klWarpgroupSync(1 + group);
      klStoreRows<kRows>(o, rows, staging + own, &oMap, ownRow, head, 1 + group);
      if (!kStaged) {
        klAwaitStore();
        klWarpgroupSync(1 + group);
        releaseQ();
      }
    }
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
  int device = 0, smCount = 0;
  status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
  const int tokens = int(p->TOKENS);
  const int heads = int(p->HEADS), tiles = ceilDiv(tokens, kRows) * heads;
  attend<<<tiles < smCount ? tiles : smCount, kThreads, kSharedBytes, stream>>>(qMap, kMap, vMap, oMap, tokens, heads, p->causal,
                                                                               klScoreScale(p));
  return cudaGetLastError();
}
