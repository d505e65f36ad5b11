// @rung    05_vector_tiles
// @title   Several elements per thread
// @after   04_warp_scans
// @idea    each thread issues QUADS 16-byte loads before its first addition, so each warp has more bytes in flight. The
//          cost of shuffles and barriers is spread over 4 * QUADS elements. Larger tiles leave so few sums that
//          scanning the sums takes hardly any time
// @expect  memoryInstructions down, exchangeInstructions down
// @param   THREADS 256 {128,256,512}
// @param   QUADS 4 {1,2,4,8}
#include "scan_common.cuh"

constexpr int kWarps = THREADS / 32, kTile = THREADS * QUADS * 4;

// Returns the position of this lane's four elements in row `i` of its warp; a row has 128 elements.
__device__ inline long long placeOf(int i) {
  return (long long)blockIdx.x * kTile + ((threadIdx.x / 32 * QUADS + i) * 32 + threadIdx.x % 32) * 4;
}

__global__ void __launch_bounds__(THREADS) scanTiles(const float* from, float* to, float* sums, long long n) {
  __shared__ float ofWarp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float4 quad[QUADS];
#pragma unroll
  for (int i = 0; i < QUADS; ++i) quad[i] = klLoadQuad(from, placeOf(i), n);
  const float ofRows = klScanRows(quad);
  if (lane == 0) ofWarp[warp] = ofRows;
  __syncthreads();
  const float upTo = klWarpScan(lane < kWarps ? ofWarp[lane] : 0);
  const float left = __shfl_sync(~0u, upTo, warp ? warp - 1 : 0), before = warp ? left : 0;
#pragma unroll
  for (int i = 0; i < QUADS; ++i) klStoreQuad(to, placeOf(i), n, quad[i], before);
  if (sums && threadIdx.x == 31) sums[blockIdx.x] = upTo;
}

__global__ void __launch_bounds__(THREADS) addSums(float* to, const float* sums, long long n) {
  if (blockIdx.x == 0) return;
  float4 quad[QUADS];
#pragma unroll
  for (int i = 0; i < QUADS; ++i) quad[i] = klLoadQuad(to, placeOf(i), n);
  const float before = sums[blockIdx.x - 1];
#pragma unroll
  for (int i = 0; i < QUADS; ++i) klStoreQuad(to, placeOf(i), n, quad[i], before);
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) { return klLevelBytes(p->N, kTile); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klLevels(
      p->x, p->y, static_cast<float*>(p->workspace), p->N, kTile,
      [=](const float* from, float* to, float* sums, long long n, unsigned blocks) {
        scanTiles<<<blocks, THREADS, 0, stream>>>(from, to, sums, n);
      },
      [=](float* to, const float* sums, long long n, unsigned blocks) {
        addSums<<<blocks, THREADS, 0, stream>>>(to, sums, n);
      });
}
