// @rung    11_flagged_sums
// @title   Sums published, no tickets
// @after   10_last_block
// @idea    each block publishes its sum and the launch number as one word. The launch number tells readers that the sum
//          is new. The last block then adds the sums without a fence or a ticket. Loads beyond the end are skipped one
//          by one, so no thread has a remainder loop
// @param   THREADS 1024 {256,512,1024}
// @param   BLOCKS_PER_SM 1 {1,2,4}
// @param   LOADS 8 {4,8,16}
#include "kernel_ladder.h"

#include <algorithm>

static_assert(THREADS * BLOCKS_PER_SM <= 2048, "an SM holds at most 2048 threads");

constexpr int kMostBlocks = 1024;

// The lower half of a word is one block's sum. The upper half is the number of the launch that wrote the word, from 1.
// `launches` is the number of the last finished launch. All words and `launches` are initially zero.
__device__ unsigned launches = 0;
__device__ unsigned long long words[kMostBlocks];

// Returns the sum of the warp's values in all lanes.
__device__ float warpSum(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}

// Returns the sum of the block's values; only the first warp gets a valid sum.
__device__ float blockSum(float value) {
  __shared__ float ofWarp[THREADS / 32];
  value = warpSum(value);
  if (threadIdx.x % 32 == 0) ofWarp[threadIdx.x / 32] = value;
  __syncthreads();
  return threadIdx.x < 32 ? warpSum(threadIdx.x < THREADS / 32 ? ofWarp[threadIdx.x] : 0) : 0;
}

// Stores a sum and its launch number as one word. A reader sees both or neither, so no fence is needed.
__device__ void publish(unsigned long long* word, unsigned launch, float sum) {
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(word),
               "l"((unsigned long long)launch << 32 | __float_as_uint(sum))
               : "memory");
}

// Waits until the word of this launch is written, and returns the word's sum.
__device__ float waitFor(const unsigned long long* place, unsigned launch) {
  unsigned long long word;
  do asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(place) : "memory");
  while (unsigned(word >> 32) != launch);
  return __uint_as_float(unsigned(word));
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) sum(const float* __restrict__ x, float* y, long long n) {
  __shared__ unsigned launch;
  // The number of this launch is loaded before the elements, so the load adds no latency.
  const unsigned number = threadIdx.x == 0 ? *(volatile unsigned*)&launches + 1 : 0;
  const float4* quads = reinterpret_cast<const float4*>(x);
  const long long stride = (long long)gridDim.x * THREADS, first = (long long)blockIdx.x * THREADS + threadIdx.x;
  float own[LOADS] = {};
  for (long long i = first; i < n / 4; i += LOADS * stride) {
    // __ldcs: elements are read only once, so they need not stay in the caches.
    float4 loaded[LOADS];
#pragma unroll
    for (int load = 0; load < LOADS; ++load)
      loaded[load] = i + load * stride < n / 4 ? __ldcs(&quads[i + load * stride]) : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int load = 0; load < LOADS; ++load)
      own[load] += (loaded[load].x + loaded[load].y) + (loaded[load].z + loaded[load].w);
  }
  if (first < n % 4) own[0] += x[n / 4 * 4 + first];
#pragma unroll
  for (int load = 1; load < LOADS; ++load) own[0] += own[load];
  const float total = blockSum(own[0]);

  // The last block starts last, so the blocks that it waits for are running or done.
  const bool isLast = blockIdx.x == gridDim.x - 1;
  if (threadIdx.x == 0) {
    launch = number;
    if (!isLast) publish(&words[blockIdx.x], number, total);
  }
  if (!isLast) return;
  __syncthreads();
  float rest = threadIdx.x == 0 ? total : 0;
  for (unsigned block = threadIdx.x; block < gridDim.x - 1; block += THREADS) rest += waitFor(&words[block], launch);
  rest = blockSum(rest);
  if (threadIdx.x == 0) {
    *y = rest;
    launches = number;  // every block read the old launch number before publishing its sum
  }
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  int device = 0, smCount = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
  // Launches fewer blocks for a small input, so every thread has a group of four elements to load.
  const long long useful = (p->N / 4 + THREADS - 1) / THREADS;
  const long long blocks = std::min({useful, (long long)smCount * BLOCKS_PER_SM, (long long)kMostBlocks});
  sum<<<unsigned(std::max(1LL, blocks)), THREADS, 0, stream>>>(p->x, p->y, p->N);
  return cudaGetLastError();
}
