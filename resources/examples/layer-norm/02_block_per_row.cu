// @rung    02_block_per_row
// @title   One block per row
// @after   01_thread_per_row
// @idea    neighboring threads read neighboring elements, so every load of a warp covers whole sectors. The row is
//          still read three times, mostly from L2
// @param   THREADS 256 {128,256,512}
#include "kernel_ladder.h"

__device__ float block_sum(float value) {
  __shared__ float of_warp[THREADS / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  __syncthreads();  // the previous call's sums have been read
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0;
  for (int warp = 0; warp < THREADS / 32; ++warp) value += of_warp[warp];
  return value;
}

__global__ void __launch_bounds__(THREADS)
    layer_norm(const float* x, const float* gamma, const float* beta, float* y, float* rstd, long long cols,
               float epsilon) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float sum = 0, squares = 0;
  for (long long col = threadIdx.x; col < cols; col += THREADS) sum += x[col];
  const float mean = block_sum(sum) / cols;
  for (long long col = threadIdx.x; col < cols; col += THREADS) squares += (x[col] - mean) * (x[col] - mean);
  const float scale = rsqrtf(block_sum(squares) / cols + epsilon);
  for (long long col = threadIdx.x; col < cols; col += THREADS)
    y[col] = (x[col] - mean) * scale * gamma[col] + beta[col];
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  layer_norm<<<unsigned(p->ROWS), THREADS, 0, stream>>>(p->x, p->gamma, p->beta, p->y, p->rstd, p->COLS, p->epsilon);
  return cudaGetLastError();
}
