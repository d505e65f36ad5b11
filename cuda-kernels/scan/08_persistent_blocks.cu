// @rung    08_persistent_blocks
// @title   Resident blocks, loads ahead
// @after   07_decoupled_look_back
// @idea    resident blocks copy the next STAGES tiles into shared memory during their look-back, so reads do not pause.
//          A warp checks the states of 32 * WORDS tiles at once. States include the launch number, so they need not be
//          cleared before a launch
// @expect  issueSlotsBusy up
// @param   THREADS 512 {256,512,1024}
// @param   QUADS 8 {2,3,4,6,8}
// @param   STAGES 2 {1,2,3,4,6}
// @param   BLOCKS_PER_SM 1 {1,2,3,4,6}
// @param   WORDS 4 {1,2,4}
// @param   STREAMING 1 {0,1}
// @requires sm_80
#include "scan_common.cuh"

#include <algorithm>

constexpr int kWarps = THREADS / 32, kTile = THREADS * QUADS * 4;
constexpr int kStageBytes = kTile * int(sizeof(float)), kSharedBytes = STAGES * kStageBytes;
constexpr int kTickets = STAGES + 1;  // the current tile, the tiles being copied, and the next tile to copy

static_assert((kSharedBytes + 2048) * BLOCKS_PER_SM <= 228 * 1024,
              "BLOCKS_PER_SM * STAGES tiles must fit into the 228 KiB of an SM");

// A module's global variables are initially zero. The upper half of `tickets` is the launch number; the lower half
// counts the tickets taken in this launch. The block that takes the last ticket prepares the next launch.
__device__ unsigned long long tickets = 0;
__device__ unsigned long long states[(1LL << 32) / kTile];

// Takes the next ticket. Each block stops at its first ticket beyond the last tile, so the last ticket is known.
__device__ inline unsigned takeTicket(unsigned tiles, unsigned& epoch) {
  const unsigned long long taken = atomicAdd(&tickets, 1ull);
  epoch = unsigned(taken >> 32);
  const unsigned number = unsigned(taken);
  if (number == tiles + gridDim.x - 1) atomicExch(&tickets, (unsigned long long)(epoch + 1) << 32);
  return number;
}

__device__ inline void copyAsync(float4* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
scanAll(const float* __restrict__ x, float* __restrict__ y, long long n, unsigned tiles) {
  extern __shared__ float4 stages[];
  __shared__ float ofWarp[kWarps], beforeTile;
  __shared__ unsigned ticket[kTickets], launch;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool takes = threadIdx.x == THREADS - 32;  // this thread's warp does not look back
  const auto within = [=](int i) { return (warp * QUADS + i) * 32 + lane; };  // in units of four elements

  // Copies elements that the same thread reads later, so no other thread waits for them.
  const auto copy = [&](int stage, unsigned tile) {
    if (tile < tiles)
#pragma unroll
      for (int i = 0; i < QUADS; ++i) {
        const long long at = (long long)tile * kTile + within(i) * 4, left = n - at;
        float4* to = &stages[stage * (kTile / 4) + within(i)];
        if (left >= 4)
          copyAsync(to, x + at);
        else
          *to = make_float4(left > 0 ? x[at] : 0, left > 1 ? x[at + 1] : 0, left > 2 ? x[at + 2] : 0, 0);
      }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };

  unsigned epoch = 0, last = 0;  // used only by the thread that takes tickets; `last` is its latest ticket
  for (int i = 0; i < kTickets; ++i) {
    if (takes) {
      if (last < tiles) last = takeTicket(tiles, epoch);
      ticket[i] = last;
      launch = epoch;
    }
    __syncthreads();
    if (i < STAGES) copy(i, ticket[i]);
  }
  epoch = launch;

  int stage = 0, now = 0;
  while (ticket[now] < tiles) {
    const unsigned tile = ticket[now];
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
    float4 quad[QUADS];
#pragma unroll
    for (int i = 0; i < QUADS; ++i) quad[i] = stages[stage * (kTile / 4) + within(i)];
    const float ofRows = klScanRows(quad);
    if (lane == 0) ofWarp[warp] = ofRows;
    copy(stage, ticket[now == 0 ? kTickets - 1 : now - 1]);
    __syncthreads();

    const float upTo = klWarpScan(lane < kWarps ? ofWarp[lane] : 0);
    const float own = __shfl_sync(~0u, upTo, 31), before = __shfl_sync(~0u, upTo, warp ? warp - 1 : 0);
    if (warp == 0) {
      if (lane == 0 && tile > 0) KlState::of(KlTold::own, epoch, own).storeTo(&states[tile]);
      const float beforeIt = klLookBack<WORDS>(states, tile, epoch);
      if (lane == 0) {
        KlState::of(KlTold::all, epoch, beforeIt + own).storeTo(&states[tile]);
        beforeTile = beforeIt;
      }
    }
    if (takes) {
      if (last < tiles) last = takeTicket(tiles, epoch);
      ticket[now] = last;
    }
    __syncthreads();

    const float add = warp ? beforeTile + before : beforeTile;
#pragma unroll
    for (int i = 0; i < QUADS; ++i) klStoreQuad<STREAMING>(y, (long long)tile * kTile + within(i) * 4, n, quad[i], add);
    if (++stage == STAGES) stage = 0;
    if (++now == kTickets) now = 0;
  }
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  int device = 0, smCount = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(scanAll, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (status != cudaSuccess) return status;
  const unsigned tiles = unsigned(klBlocks(p->N, kTile)), resident = unsigned(std::max(1, smCount * BLOCKS_PER_SM));
  scanAll<<<std::min(tiles, resident), THREADS, kSharedBytes, stream>>>(p->x, p->y, p->N, tiles);
  return cudaGetLastError();
}
