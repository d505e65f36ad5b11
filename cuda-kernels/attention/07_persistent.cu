// @rung    07_persistent
// @title   Persistent blocks
// @after   06_taking_turns
// @idea    a block per SM stays for one tile of rows after another, so that a tile begins while the last one is still being stored; the tiles that see the most keys come first, and back and forth over the blocks, which all end at the same time
// @param   KEYS 128 {64,128,160,176}
// @param   STAGES 2 {2,3,4}
// @param   FENCE 2 {0,1,2,3}
// @param   TURNS 1 {0,1}
// @param   SLACK 0 {0,8}
// @dtype   bf16
// @requires sm_90a
#include "attention_hopper.cuh"

constexpr int kRows = 128, kConsumers = kRows / kWarpgroupRows, kThreads = (1 + kConsumers) * 128;
constexpr int kTile = klTileBytes(KEYS);
// Results leave through memory of their own where there is room for it, else through that of the rows of q.
constexpr bool kStaged = 2 * klTileBytes(kRows) + 2 * STAGES * kTile <= 225 * 1024;
constexpr int kSharedBytes = (kStaged ? 2 : 1) * klTileBytes(kRows) + 2 * STAGES * kTile + 1024;
static_assert(kSharedBytes <= 226 * 1024, "STAGES * KEYS * 512 bytes must fit beside 32 KiB into the 227 KiB of a block");

struct Barriers {
  uint64_t qFull, qEmpty, kFull[STAGES], kEmpty[STAGES], vFull[STAGES], vEmpty[STAGES];
};

// A stage after another, over and over; the parity of its barriers changes with each round.
struct Stage {
  int index = 0;
  uint32_t parity = 0;
  __device__ void next() {
    if (++index == STAGES) index = 0, parity ^= 1;
  }
};

// The tiles of rows of a block, one after the other. With a causal mask those of all heads that see the most keys come
// first; without one, a head is done before the next, so that its keys and values stay in L2. Rounds go back and forth over
// the blocks.
struct Tiles {
  int rows, heads, causal, round = 0;  // rows in tiles
  int row = 0, head = 0;

  __device__ bool next() {
    const int across = round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x, tile = round * gridDim.x + across;
    ++round;
    row = causal ? rows - 1 - tile / heads : tile % rows;
    head = causal ? tile % heads : tile / rows;
    return tile < rows * heads;  // the last round may leave some out
  }
};

__global__ void __launch_bounds__(kThreads, 1)
attend(const __grid_constant__ CUtensorMap qMap, const __grid_constant__ CUtensorMap kMap, const __grid_constant__ CUtensorMap vMap,
       const __grid_constant__ CUtensorMap oMap, int tokens, int heads, int causal, float scale) {
  extern __shared__ unsigned char shared[];
  __shared__ Barriers at;
  __shared__ float2 dummy[384];
  const uint32_t q = (klSharedAddress(shared) + 1023) & ~1023u;
  const uint32_t kTiles = q + klTileBytes(kRows), vTiles = kTiles + STAGES * kTile;
  const uint32_t staging = kStaged ? vTiles + STAGES * kTile : q;
  Tiles tile{ceilDiv(tokens, kRows), heads, causal};
  const auto blocksOf = [&](int row0) { return ceilDiv(causal ? min(tokens, row0 + kRows) : tokens, KEYS); };

  if (threadIdx.x == 0) {
    klBarrierInit(&at.qFull, 1);
    klBarrierInit(&at.qEmpty, kConsumers * 4);
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
      for (uint32_t parity = 0; tile.next(); parity ^= 1) {
        const int row0 = tile.row * kRows, blocks = blocksOf(row0);
        klBarrierWait(&at.qEmpty, parity ^ 1);
        klBarrierExpect(&at.qFull, klTileBytes(kRows));
        klLoadTile<kRows>(q, &qMap, row0, tile.head, &at.qFull);
        // Keys are a tile ahead of values, as those who wait for them are.
        for (int step = 0; step <= blocks; ++step) {
          if (step < blocks) {
            klBarrierWait(&at.kEmpty[k.index], k.parity ^ 1);
            klBarrierExpect(&at.kFull[k.index], kTile);
            klLoadTile<KEYS>(kTiles + k.index * kTile, &kMap, (blocks - 1 - step) * KEYS, tile.head, &at.kFull[k.index]);
            k.next();
          }
          if (step > 0) {
            klBarrierWait(&at.vEmpty[v.index], v.parity ^ 1);
            klBarrierExpect(&at.vFull[v.index], kTile);
            klLoadTile<KEYS>(vTiles + v.index * kTile, &vMap, (blocks - step) * KEYS, tile.head, &at.vFull[v.index]);
            v.next();
          }
        }
      }
    }
  } else {
    klRegistersUp<240>();
    const int group = __shfl_sync(~0u, threadIdx.x / 128, 0) - 1, lane = threadIdx.x % 32;
    const uint32_t ownQ = q + group * kWarpgroupRows * 128, ownStaging = staging + group * kWarpgroupRows * 128;
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

    Stage k, v;
    for (uint32_t parity = 0; tile.next(); parity ^= 1) {
      const int row0 = tile.row * kRows, blocks = blocksOf(row0);
      const int ownRow = row0 + group * kWarpgroupRows, row = ownRow + threadIdx.x / 32 % 4 * 16 + lane / 4;
      float o[kHead / 2] = {}, score[KEYS / 2], factor[2];
      uint32_t weight[KEYS / 4];
      KlRows rows;
      // The last tile of keys comes first: it is cut by the end, and by the diagonal.
      klBarrierWait(&at.qFull, parity);
      klBarrierWait(&at.kFull[k.index], k.parity);
      takeTurn();
      klScores<kRows>(score, ownQ, kTiles + k.index * kTile);
      passTurn();
      klWgmmaWait<0>();
      klSettled(score);
      release(&at.kEmpty[k.index]);
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
        rows.add<SLACK>(score, scale, factor);
        if (FENCE == 1) { if (rows.sum[0] < 0 || rows.sum[1] < 0) __trap(); }
        if (FENCE == 2) asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(klSharedAddress(dummy) + threadIdx.x * 8), "f"(rows.sum[0]), "f"(rows.sum[1]) : "memory");
        if (FENCE == 3 && __any_sync(~0u, rows.sum[0] < 0 || rows.sum[1] < 0)) asm volatile("nanosleep.u32 1;");
        klWgmmaWait<0>();
        klSettled(o);
        release(&at.vEmpty[v.index]);
        v.next();
        if (SLACK == 0 || __any_sync(~0u, factor[0] != 1 || factor[1] != 1)) klRescale(o, factor);
        klRound(weight, score);
      }
      if (kStaged) release(&at.qEmpty);
      klBarrierWait(&at.vFull[v.index], v.parity);
      klValues<KEYS>(o, weight, vTiles + v.index * kTile);
      klAwaitStore();
      klWarpgroupSync(1 + group);
      klWgmmaWait<0>();
      klSettled(o);
      release(&at.vEmpty[v.index]);
      v.next();
      klStoreRows<kRows>(o, rows, ownStaging, &oMap, ownRow, tile.head, 1 + group);
      if (!kStaged) {
        klAwaitStore();
        klWarpgroupSync(1 + group);
        release(&at.qEmpty);
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
  const int tokens = int(p->TOKENS), heads = int(p->HEADS), tiles = ceilDiv(tokens, kRows) * heads;
  attend<<<tiles < smCount ? tiles : smCount, kThreads, kSharedBytes, stream>>>(qMap, kMap, vMap, oMap, tokens, heads, p->causal,
                                                                               klScoreScale(p));
  return cudaGetLastError();
}
