// @rung    03_by_warp
// @title   One histogram per warp, 16-byte loads
// @after   02_shared
// @idea    each warp counts into its own bins, so only its 32 threads can contend for a bin. Each load fetches 16 bytes
//          to count
// @expect  sharedLoads up
// @param   WARPS 8 {4,8,16}
#include "kernel_ladder.h"

constexpr int kThreads = 32 * WARPS;

__global__ void __launch_bounds__(kThreads) count(const unsigned char* data, unsigned* bins, long long n) {
  __shared__ unsigned all[WARPS][256];
  for (int bin = threadIdx.x; bin < WARPS * 256; bin += kThreads) all[bin / 256][bin % 256] = 0;
  __syncthreads();
  unsigned* own = all[threadIdx.x / 32];
  const auto countFour = [&](unsigned four) {
    for (int byte = 0; byte < 4; ++byte) atomicAdd(&own[four >> (8 * byte) & 255], 1u);
  };
  const long long thread = (long long)blockIdx.x * kThreads + threadIdx.x;
  const long long stride = (long long)gridDim.x * kThreads;
  for (long long i = thread; i < n / 16; i += stride) {
    const uint4 sixteen = reinterpret_cast<const uint4*>(data)[i];
    countFour(sixteen.x);
    countFour(sixteen.y);
    countFour(sixteen.z);
    countFour(sixteen.w);
  }
  if (thread < n % 16) atomicAdd(&own[data[n / 16 * 16 + thread]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += kThreads) {
    unsigned total = 0;
    for (int warp = 0; warp < WARPS; ++warp) total += all[warp][bin];
    if (total > 0) atomicAdd(&bins[bin], total);
  }
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  int device = 0, smCount = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  if (const cudaError_t error = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device)) return error;
  count<<<unsigned(smCount * 2048 / kThreads), kThreads, 0, stream>>>(p->data, p->bins, p->N);
  return cudaGetLastError();
}
