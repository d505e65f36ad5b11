// @rung    07_decoupled_look_back
// @title   One pass with look-back
// @after   06_reduce_then_scan
// @idea    each block publishes the sum of its tile. The block then adds the sums of preceding tiles until it reaches a
//          published total of all earlier tiles. Finally, the block publishes its own total. Elements are read once and
//          written once. Blocks take tiles from a counter, so all preceding tiles are running or done
// @expect  dramBytes down
// @param   THREADS 256 {128,256,512}
// @param   QUADS 8 {2,4,6,8}
#include "scan_common.cuh"

constexpr int kWarps = THREADS / 32, kTile = THREADS * QUADS * 4;

struct Workspace {
  unsigned long long next;       // the next tile to take
  unsigned long long states[1];  // one state per tile
};

__global__ void __launch_bounds__(THREADS)
scanAll(const float* __restrict__ x, float* __restrict__ y, long long n, Workspace* work) {
  __shared__ float ofWarp[kWarps], beforeTile;
  __shared__ long long taken;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) taken = (long long)atomicAdd(&work->next, 1ull);
  __syncthreads();
  const long long tile = taken;
  const auto placeOf = [=](int i) { return tile * kTile + ((warp * QUADS + i) * 32 + lane) * 4; };

  float4 quad[QUADS];
#pragma unroll
  for (int i = 0; i < QUADS; ++i) quad[i] = klLoadQuad(x, placeOf(i), n);
  const float ofRows = klScanRows(quad);
  if (lane == 0) ofWarp[warp] = ofRows;
  __syncthreads();
  const float upTo = klWarpScan(lane < kWarps ? ofWarp[lane] : 0);
  const float own = __shfl_sync(~0u, upTo, 31), left = __shfl_sync(~0u, upTo, warp ? warp - 1 : 0);
  if (warp == 0) {
    if (lane == 0 && tile > 0) KlState::of(KlTold::own, 0, own).storeTo(&work->states[tile]);
    const float before = klLookBack<1>(work->states, tile, 0);
    if (lane == 0) {
      KlState::of(KlTold::all, 0, before + own).storeTo(&work->states[tile]);
      beforeTile = before;
    }
  }
  __syncthreads();
  const float add = warp ? beforeTile + left : beforeTile;
#pragma unroll
  for (int i = 0; i < QUADS; ++i) klStoreQuad(y, placeOf(i), n, quad[i], add);
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) {
  return sizeof(unsigned long long) * size_t(1 + klBlocks(p->N, kTile));
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  Workspace* work = static_cast<Workspace*>(p->workspace);
  const cudaError_t status = cudaMemsetAsync(work, 0, kl_workspace_bytes(p), stream);
  if (status != cudaSuccess) return status;
  scanAll<<<unsigned(klBlocks(p->N, kTile)), THREADS, 0, stream>>>(p->x, p->y, p->N, work);
  return cudaGetLastError();
}
