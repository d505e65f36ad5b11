// Helpers for the warp-specialized rungs of attention/: a producer and two consumers process the keys of a row
// tile.
#pragma once

#include "attention_hopper.cuh"

constexpr int kRows = 128, kConsumers = kRows / kWarpgroupRows, kThreads = (1 + kConsumers) * 128;

// The current stage of a ring. The parity of the stage's barriers changes with each round.
template <int kStages>
struct KlStage {
  int index = 0;
  uint32_t parity = 0;
  __device__ void next() {
    if (++index == kStages) index = 0, parity ^= 1;
  }
};

// Barriers of a ring: `full` completes when a tile has arrived, `empty` when both consumers are done with the tile.
template <int kStages>
struct KlTileBarriers {
  uint64_t full[kStages], empty[kStages];

  __device__ void init() {
    for (int s = 0; s < kStages; ++s) {
      klBarrierInit(&full[s], 1);
      klBarrierInit(&empty[s], kConsumers * 4);  // each consumer warp arrives
    }
  }
};

// A ring of kStages tiles of k or v, as seen by the producer or a consumer.
template <int kKeys, int kStages>
struct KlTileRing {
  static constexpr int kBytes = kStages * klTileBytes(kKeys);
  KlTileBarriers<kStages>& at;
  uint32_t tiles;
  KlStage<kStages> stage;

  __device__ uint32_t tile() const { return tiles + stage.index * klTileBytes(kKeys); }

  __device__ void fetch(const CUtensorMap* map, int key, int head) {
    uint64_t* full = &at.full[stage.index];
    klBarrierWait(&at.empty[stage.index], stage.parity ^ 1);
    klBarrierExpect(full, klTileBytes(kKeys));
    klLoadTile<kKeys>(tile(), map, key, head, full);
    stage.next();
  }

  __device__ void await() const { klBarrierWait(&at.full[stage.index], stage.parity); }

  __device__ void release() {
    if (threadIdx.x % 32 == 0) klBarrierArrive(&at.empty[stage.index]);
    stage.next();
  }
};

// Makes two warpgroups take turns. Each warpgroup waits until the other passes the turn. A named barrier completes when
// all 256 threads have arrived. Only the 128 threads that take the turn wait for the barrier.
template <bool kTakeTurns>
struct KlTurn {
  int group;
  __device__ explicit KlTurn(int group) : group(group) {
    if (group == 1) pass();  // the first warpgroup begins
  }
  __device__ void take() const {
    if (kTakeTurns) asm volatile("bar.sync %0, 256;" ::"r"(3 + group) : "memory");
  }
  __device__ void pass() const {
    if (kTakeTurns) asm volatile("bar.arrive %0, 256;" ::"r"(4 - group) : "memory");
  }
};

// Returns the number of key tiles for a tile of rows. The last tile is processed first, because the end of the keys or
// the diagonal cuts through it.
template <int kKeys>
__device__ inline int klTilesOfKeys(int row0, int tokens, int causal) {
  return ceilDiv(causal ? min(tokens, row0 + kRows) : tokens, kKeys);
}

// Fetches all tiles of keys and values. Keys are one tile ahead of values, because consumers need them earlier.
template <int kKeys, int kStages>
__device__ inline void klFetchKeys(KlTileRing<kKeys, kStages>& k, KlTileRing<kKeys, kStages>& v, const CUtensorMap* kMap,
                                   const CUtensorMap* vMap, int tiles, int head) {
  for (int step = 0; step <= tiles; ++step) {
    if (step < tiles) k.fetch(kMap, (tiles - 1 - step) * kKeys, head);
    if (step > 0) v.fetch(vMap, (tiles - step) * kKeys, head);
  }
}
