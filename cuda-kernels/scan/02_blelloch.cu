// @rung    02_blelloch
// @title   Work-efficient tree
// @after   01_hillis_steele
// @idea    a block scans its elements in shared memory, up a binary tree and down again. This takes two additions per
//          element instead of log2(N). The block sums are scanned the same way. Another kernel adds the scanned sums to
//          the elements, so each element is accessed four times in device memory. Distances in the tree are powers of
//          two, so many lanes of a warp access the same bank
// @expect  dramBytes down, sharedLoads up
// @param   THREADS 256 {128,256,512,1024}
#include "scan_common.cuh"

constexpr int kTile = 2 * THREADS;

__device__ constexpr int placeOf(int i) { return i; }

__global__ void __launch_bounds__(THREADS) scanTiles(const float* from, float* to, float* sums, long long n) {
  __shared__ float tree[kTile];
  const int t = threadIdx.x;
  const long long first = (long long)blockIdx.x * kTile + t, second = first + THREADS;
  const float a = first < n ? from[first] : 0, b = second < n ? from[second] : 0;
  tree[placeOf(t)] = a;
  tree[placeOf(t + THREADS)] = b;

  // Up-sweep: the right child of each pair becomes the sum of both children.
#pragma unroll
  for (int pairs = THREADS, distance = 1; pairs > 0; pairs /= 2, distance *= 2) {
    __syncthreads();
    if (t < pairs) {
      const int right = (2 * t + 2) * distance - 1;
      tree[placeOf(right)] += tree[placeOf(right - distance)];
    }
  }
  __syncthreads();
  if (t == 0) {
    if (sums) sums[blockIdx.x] = tree[placeOf(kTile - 1)];
    tree[placeOf(kTile - 1)] = 0;
  }
  // Down-sweep: the left child gets its parent's prefix; the right child also adds the left child's sum.
#pragma unroll
  for (int pairs = 1, distance = THREADS; distance > 0; pairs *= 2, distance /= 2) {
    __syncthreads();
    if (t < pairs) {
      const int right = (2 * t + 2) * distance - 1, left = right - distance;
      const float sum = tree[placeOf(left)], before = tree[placeOf(right)];
      tree[placeOf(left)] = before;
      tree[placeOf(right)] = before + sum;
    }
  }
  __syncthreads();
  if (first < n) to[first] = tree[placeOf(t)] + a;
  if (second < n) to[second] = tree[placeOf(t + THREADS)] + b;
}

__global__ void __launch_bounds__(THREADS) addSums(float* to, const float* sums, long long n) {
  const long long first = (long long)blockIdx.x * kTile + threadIdx.x, second = first + THREADS;
  if (blockIdx.x == 0) return;
  const float before = sums[blockIdx.x - 1];
  if (first < n) to[first] += before;
  if (second < n) to[second] += before;
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
