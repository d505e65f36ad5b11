// @rung    04_warp_scans
// @title   Warp scans with shuffles
// @after   03_padded_blelloch
// @idea    a warp scans 32 elements in registers with five shuffles. Only the warps' sums go through shared memory,
//          where the first warp scans them. This takes two barriers instead of one per tree level
// @expect  sharedLoads down, sharedLoadBankConflicts down
// @param   THREADS 512 {128,256,512,1024}
#include "scan_common.cuh"

constexpr int kWarps = THREADS / 32;

// Returns the sum of the values of this lane and all lower lanes.
__device__ inline float warpScan(float value) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const float before = __shfl_up_sync(~0u, value, distance);
    if (int(threadIdx.x % 32) >= distance) value += before;
  }
  return value;
}

__global__ void __launch_bounds__(THREADS) scanTiles(const float* from, float* to, float* sums, long long n) {
  __shared__ float ofWarp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  float value = warpScan(i < n ? from[i] : 0);
  if (lane == 31) ofWarp[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const float upTo = warpScan(lane < kWarps ? ofWarp[lane] : 0);
    if (lane < kWarps) ofWarp[lane] = upTo;
  }
  __syncthreads();
  if (warp > 0) value += ofWarp[warp - 1];
  if (i < n) to[i] = value;
  if (sums && threadIdx.x == THREADS - 1) sums[blockIdx.x] = value;
}

__global__ void __launch_bounds__(THREADS) addSums(float* to, const float* sums, long long n) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (blockIdx.x > 0 && i < n) to[i] += sums[blockIdx.x - 1];
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) { return klLevelBytes(p->N, THREADS); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klLevels(
      p->x, p->y, static_cast<float*>(p->workspace), p->N, THREADS,
      [=](const float* from, float* to, float* sums, long long n, unsigned blocks) {
        scanTiles<<<blocks, THREADS, 0, stream>>>(from, to, sums, n);
      },
      [=](float* to, const float* sums, long long n, unsigned blocks) {
        addSums<<<blocks, THREADS, 0, stream>>>(to, sums, n);
      });
}
