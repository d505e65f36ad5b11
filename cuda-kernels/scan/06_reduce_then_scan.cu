// @rung    06_reduce_then_scan
// @title   Reduce, then scan
// @after   05_vector_tiles
// @idea    in the first launch, a fixed number of blocks sum their own elements. In the second launch, each block adds
//          the sums of preceding blocks and scans its elements tile by tile. Each element is read twice and written
//          once, for three accesses to device memory instead of four. The sums are computed backward, so the scan
//          starts with the elements most recently read into L2
// @expect  dramBytes down
// @param   THREADS 512 {256,512,1024}
// @param   QUADS 4 {1,2,4,8}
// @param   BLOCKS 264 {132,264,528,1056}
#include "scan_common.cuh"

constexpr int kWarps = THREADS / 32, kTile = THREADS * QUADS * 4;

// The contiguous tiles that one block processes. Every block has the same number of tiles.
struct Share {
  long long begin, end;
  __device__ explicit Share(long long n) {
    const long long tiles = (n + kTile - 1) / kTile, each = (tiles + gridDim.x - 1) / gridDim.x;
    begin = min(blockIdx.x * each, tiles);
    end = min(begin + each, tiles);
  }
};

__device__ inline long long placeOf(long long tile, int i) {
  return tile * kTile + ((threadIdx.x / 32 * QUADS + i) * 32 + threadIdx.x % 32) * 4;
}

// Returns the sum of the block's values to all threads. ofWarp can be reused after the block's next barrier.
__device__ inline float blockSum(float value, float* ofWarp) {
  const int lane = threadIdx.x % 32;
  value = klWarpSum(value);
  if (lane == 0) ofWarp[threadIdx.x / 32] = value;
  __syncthreads();
  return klWarpSum(lane < kWarps ? ofWarp[lane] : 0);
}

__global__ void __launch_bounds__(THREADS) sumShares(const float* x, float* sums, long long n) {
  __shared__ float ofWarp[kWarps];
  const Share share(n);
  float own[QUADS] = {};
  for (long long tile = share.end - 1; tile >= share.begin; --tile) {
    float4 quad[QUADS];
#pragma unroll
    for (int i = 0; i < QUADS; ++i) quad[i] = klLoadQuad(x, placeOf(tile, i), n);
#pragma unroll
    for (int i = 0; i < QUADS; ++i) own[i] += (quad[i].x + quad[i].y) + (quad[i].z + quad[i].w);
  }
#pragma unroll
  for (int i = 1; i < QUADS; ++i) own[0] += own[i];
  const float sum = blockSum(own[0], ofWarp);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(THREADS) scanShares(const float* x, const float* sums, float* y, long long n) {
  __shared__ float ofWarp[2][kWarps];  // alternates between two arrays, so one barrier per tile is enough
  const Share share(n);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float before = 0;
  for (unsigned block = threadIdx.x; block < blockIdx.x; block += THREADS) before += sums[block];
  before = blockSum(before, ofWarp[1]);
  int turn = 0;
  for (long long tile = share.begin; tile < share.end; ++tile, turn ^= 1) {
    float4 quad[QUADS];
#pragma unroll
    for (int i = 0; i < QUADS; ++i) quad[i] = klLoadQuad(x, placeOf(tile, i), n);
    const float ofRows = klScanRows(quad);
    if (lane == 0) ofWarp[turn][warp] = ofRows;
    __syncthreads();
    const float upTo = klWarpScan(lane < kWarps ? ofWarp[turn][lane] : 0);
    const float left = __shfl_sync(~0u, upTo, warp ? warp - 1 : 0), add = warp ? before + left : before;
#pragma unroll
    for (int i = 0; i < QUADS; ++i) klStoreQuad(y, placeOf(tile, i), n, quad[i], add);
    before += __shfl_sync(~0u, upTo, 31);
  }
}

extern "C" size_t kl_workspace_bytes(const KlTask*) { return BLOCKS * sizeof(float); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  float* sums = static_cast<float*>(p->workspace);
  const long long tiles = klBlocks(p->N, kTile);
  const unsigned blocks = unsigned(tiles < BLOCKS ? tiles : BLOCKS);
  sumShares<<<blocks, THREADS, 0, stream>>>(p->x, sums, p->N);
  scanShares<<<blocks, THREADS, 0, stream>>>(p->x, sums, p->y, p->N);
  return cudaGetLastError();
}
