// @rung    03_vectorized
// @title   16-byte loads, few blocks
// @after   02_block
// @idea    as many blocks as fit on the GPU at once load x in 16-byte units and accumulate in registers. The sums are
//          combined once, by shuffles within a warp, shared memory between warps, and one atomic per block
// @expect  sharedLoads down
// @param   THREADS 256 {128,256,512}
// @param   BLOCKS_PER_SM 8 {2,4,8}
#include "kernel_ladder.h"

__global__ void __launch_bounds__(THREADS) add(const float* x, double* sum, long long n) {
  const float4* quads = reinterpret_cast<const float4*>(x);
  const long long thread = (long long)blockIdx.x * THREADS + threadIdx.x;
  const long long stride = (long long)gridDim.x * THREADS;
  float4 part = make_float4(0, 0, 0, 0);
  for (long long i = thread; i < n / 4; i += stride) {
    const float4 four = quads[i];
    part.x += four.x;
    part.y += four.y;
    part.z += four.z;
    part.w += four.w;
  }
  double own = double(part.x + part.y) + double(part.z + part.w);
  if (thread < n % 4) own += x[n / 4 * 4 + thread];

  __shared__ double ofWarp[THREADS / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) own += __shfl_down_sync(~0u, own, lanes);
  if (threadIdx.x % 32 == 0) ofWarp[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < THREADS / 32; ++warp) own += ofWarp[warp];
  atomicAdd(sum, own);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  if (const cudaError_t error = cudaMemsetAsync(p->sum, 0, sizeof(double), stream)) return error;
  int device = 0, smCount = 0;
  if (const cudaError_t error = cudaGetDevice(&device)) return error;
  if (const cudaError_t error = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device)) return error;
  add<<<unsigned(smCount * BLOCKS_PER_SM), THREADS, 0, stream>>>(p->x, p->sum, p->N);
  return cudaGetLastError();
}
