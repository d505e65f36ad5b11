// @rung    09_tma_ring
// @title   Deep ring, sums published ahead
// @after   07_decoupled_look_back
// @idea    TMA fills all shared memory of resident blocks with tiles. Some warps sum each tile as soon as it arrives
//          and publish the sum. Other warps scan the tile in place a few tiles later, and TMA stores it. By then, the
//          sums of all preceding tiles have long been published. Loads, sums, look-back, and stores overlap and seldom
//          wait for one another
// @expect  dramUtilization up
// @param   TILE 8192 {2048,4096,8192}
// @param   STAGES 7 {2,3,4,5,6,7,10,14}
// @param   LAG 2 {0,1,2,3,4}
// @param   WARPS 8 {4,8}
// @param   PENDING 1 {0,1,2}
// @requires sm_90
#include "scan_ring.cuh"

constexpr int kTile = TILE, kRows = kTile / (WARPS * 128);  // rows of 128 elements in a warp's segment of a tile
constexpr int kThreads = (2 * WARPS + 2) * 32;
using Turn = KlTurn<STAGES>;
constexpr int kWords = 5;  // states that a lane reads at a time: 160 per warp, enough for one wave of blocks on an H200

struct Ring {
  float4 elements[STAGES][kTile / 4];
  long long tile[STAGES];  // tile number of each stage; a number beyond the last tile ends the ring
  float ofSegment[STAGES][WARPS], before[STAGES];
  // Barriers of a stage: loaded, segments summed, preceding sum known, scanned. Every lane arrives, not just one per
  // warp, so the barriers alone order a lane's reads and writes before other threads' writes.
  uint64_t loaded[STAGES], summed[STAGES], preceded[STAGES], scanned[STAGES];
  unsigned epoch;
};

static_assert(kRows * WARPS * 128 == kTile, "TILE must be a multiple of 128 * WARPS");
static_assert(LAG + PENDING < STAGES, "LAG + PENDING must be less than STAGES");
static_assert(sizeof(Ring) <= 227 * 1024, "STAGES tiles must fit into the 227 KiB of a block");

// A module's global variables are initially zero. The upper half of `tickets` is the launch number, which is part of
// every state. The lower half is the next free ticket. The last block prepares both halves for the next launch.
__device__ unsigned long long tickets = 0;
__device__ unsigned finished = 0;
__device__ unsigned long long states[(1LL << 32) / kTile];

// Loads a tile into a stage, with zeros beyond the end of x. For a tile beyond x, stores only the tile number.
__device__ inline void load(Ring& ring, const float* x, long long n, int stage, long long tile) {
  const int lane = threadIdx.x % 32;
  float4* const to = ring.elements[stage];
  const float* const from = x + tile * kTile;
  const long long left = n - tile * kTile;
  const int quads = left <= 0 ? 0 : int(min(left, (long long)kTile) / 4);  // a copy is a multiple of 16 bytes
  if (left > 0 && left < kTile)
    for (int quad = quads + lane; quad < kTile / 4; quad += 32) to[quad] = klLoadQuad(from, quad * 4, left);
  if (lane) {  // every lane arrives, because it may have written zeros
    klBarrierArrive(&ring.loaded[stage]);
    return;
  }
  ring.tile[stage] = tile;
  klBarrierExpect(&ring.loaded[stage], quads * 16);
  if (quads) klBulkLoad(to, from, quads * 16, &ring.loaded[stage]);
}

// Runs in a separate warp: stores scanned tiles and loads new tiles in their place. Blocks take tickets one by one, so
// a short x is shared evenly. Every block takes its tiles in order, so the first unfinished tile never waits for
// another tile.
__device__ inline void copyTiles(Ring& ring, const float* x, float* y, long long n, long long tiles,
                                 unsigned long long ticket) {
  const int lane = threadIdx.x % 32;
  if (lane == 0) ring.epoch = unsigned(ticket >> 32);
  bool more = true;  // whether a tile or the end marker remains to be loaded
  const auto bring = [&](int stage) {
    if (!more) return;
    const long long tile = __shfl_sync(~0u, unsigned(ticket), 0);
    load(ring, x, n, stage, tile);
    more = tile < tiles;
    if (more && lane == 0) ticket = atomicAdd(&tickets, 1ull);
    __syncwarp();
  };
  for (int stage = 0; stage < STAGES; ++stage) bring(stage);

  Turn free;        // the stage with the oldest store
  int pending = 0;  // number of stages that a store may still read
  for (Turn turn; ring.tile[turn.stage] < tiles; turn.next()) {
    klBarrierWait(&ring.scanned[turn.stage], turn.parity);
    const long long first = ring.tile[turn.stage] * kTile;
    if (lane == 0 && first + kTile <= n) klBulkStore<kTile * sizeof(float)>(y + first, ring.elements[turn.stage]);
    klTmaStoreCommit();
    if (pending < PENDING) {
      ++pending;
      continue;
    }
    klTmaStoreWaitRead<PENDING>();
    __syncwarp();
    bring(free.stage);
    free.next();
  }
  klTmaStoreWaitRead<0>();  // stores must have read shared memory before the block ends
  if (lane) return;
  __threadfence();  // the block has taken all of its tickets before it counts as finished
  if (atomicAdd(&finished, 1u) == gridDim.x - 1) {
    finished = 0;
    tickets = (unsigned long long)(ring.epoch + 1) << 32;
  }
}

// Runs in WARPS warps, each of which sums one segment of the tile. The first warp publishes the sum of the tile.
__device__ inline void sumTiles(Ring& ring, long long tiles, int warp) {
  const int lane = threadIdx.x % 32;
  for (Turn turn;; turn.next()) {
    klBarrierWait(&ring.loaded[turn.stage], turn.parity);
    const long long tile = ring.tile[turn.stage];
    float sum = 0;
    if (tile < tiles) {
      const float4* const segment = &ring.elements[turn.stage][warp * kRows * 32];
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
        const float4 quad = segment[row * 32 + lane];
        sum += (quad.x + quad.y) + (quad.z + quad.w);
      }
      sum = klWarpSum(sum);
    }
    if (lane == 0) ring.ofSegment[turn.stage][warp] = sum;
    klBarrierArrive(&ring.summed[turn.stage]);
    if (tile >= tiles) return;
    if (warp) continue;
    klBarrierWait(&ring.summed[turn.stage], turn.parity);
    const float own = klWarpSum(lane < WARPS ? ring.ofSegment[turn.stage][lane] : 0);
    if (lane == 0) KlState::of(KlTold::own, ring.epoch, own).storeTo(&states[tile]);
    klBarrierArrive(&ring.scanned[turn.stage]);
  }
}

// Runs in a separate warp: adds up the sums of all tiles before each tile of the block. A lane keeps the sum of its
// tiles in FP64, because the sum accumulates from the first tile to the last.
__device__ inline void lookBack(Ring& ring, long long tiles) {
  const int lane = threadIdx.x % 32;
  double mine = 0;
  long long next = 0;  // the first tile not yet added
  // The look-back starts only after the block has summed LAG more tiles, when other blocks have published their sums.
  // An earlier look-back would poll for sums and delay their publication.
  bool more = true;
  int lead = 0;
  Turn sums;
  for (Turn turn;; turn.next(), --lead) {
    for (; more && lead <= LAG; sums.next(), ++lead) {
      klBarrierWait(&ring.summed[sums.stage], sums.parity);
      more = ring.tile[sums.stage] < tiles;
    }
    const long long tile = ring.tile[turn.stage];
    if (tile >= tiles) return;
    const unsigned epoch = ring.epoch;
    for (; next < tile; next += 32 * kWords) {
      KlState state[kWords];
      const auto look = [&](int i) {
        const long long at = next + 32 * i + lane;
        state[i] = at < tile ? KlState::loadFrom(&states[at]) : KlState::of(KlTold::own, epoch, 0);
      };
#pragma unroll
      for (int i = 0; i < kWords; ++i) look(i);
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        while (state[i].told(epoch) == KlTold::nothing) look(i);
        mine += state[i].sum();
      }
    }
    next = tile;
    __syncwarp();
    double before = mine;
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) before += __shfl_xor_sync(~0u, before, lanes);
    if (lane == 0) ring.before[turn.stage] = float(before);
    klBarrierArrive(&ring.preceded[turn.stage]);
  }
}

// Runs in WARPS warps, each of which scans one segment of the tile, in place or to y if y ends within the tile.
__device__ inline void scanTiles(Ring& ring, float* y, long long n, long long tiles, int warp) {
  const int lane = threadIdx.x % 32;
  for (Turn turn;; turn.next()) {
    klBarrierWait(&ring.summed[turn.stage], turn.parity);
    const long long tile = ring.tile[turn.stage];
    if (tile >= tiles) return;
    float4* const segment = &ring.elements[turn.stage][warp * kRows * 32];
    float4 quad[kRows];
#pragma unroll
    for (int row = 0; row < kRows; ++row) quad[row] = segment[row * 32 + lane];
    klScanRows(quad);
    const float left = klWarpSum(lane < warp ? ring.ofSegment[turn.stage][lane] : 0);
    klBarrierWait(&ring.preceded[turn.stage], turn.parity);
    const float add = ring.before[turn.stage] + left;
    if ((tile + 1) * kTile <= n) {
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        segment[row * 32 + lane] =
            make_float4(quad[row].x + add, quad[row].y + add, quad[row].z + add, quad[row].w + add);
      klAsyncProxyFence();
    } else {
#pragma unroll
      for (int row = 0; row < kRows; ++row)
        klStoreQuad(y, tile * kTile + ((warp * kRows + row) * 32 + lane) * 4, n, quad[row], add);
    }
    klBarrierArrive(&ring.scanned[turn.stage]);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
scanAll(const float* __restrict__ x, float* __restrict__ y, long long n, long long tiles) {
  extern __shared__ __align__(128) unsigned char memory[];
  Ring& ring = *reinterpret_cast<Ring*>(memory);
  const unsigned long long ticket = threadIdx.x == kThreads - 32 ? atomicAdd(&tickets, 1ull) : 0;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < STAGES; ++stage) {
      klBarrierInit(&ring.loaded[stage], 32);
      klBarrierInit(&ring.summed[stage], WARPS * 32);
      klBarrierInit(&ring.preceded[stage], 32);
      klBarrierInit(&ring.scanned[stage], (WARPS + 1) * 32);
    }
    klBarrierInitFence();
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  if (warp < WARPS) scanTiles(ring, y, n, tiles, warp);
  else if (warp < 2 * WARPS) sumTiles(ring, tiles, warp - WARPS);
  else if (warp == 2 * WARPS) lookBack(ring, tiles);
  else copyTiles(ring, x, y, n, tiles, ticket);
}

extern "C" const char* kl_unsupported(const KlTask*, int) {
  return klRequireRoom(sizeof(Ring));
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  int smCount = 0;
  const cudaError_t status = klPrepareResident(scanAll, sizeof(Ring), &smCount);
  if (status != cudaSuccess) return status;
  const long long tiles = klBlocks(p->N, kTile);
  scanAll<<<unsigned(std::min<long long>(tiles, std::max(1, smCount))), kThreads, sizeof(Ring), stream>>>(p->x, p->y, p->N,
                                                                                                          tiles);
  return cudaGetLastError();
}
