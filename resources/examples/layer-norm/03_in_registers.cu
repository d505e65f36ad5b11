// @rung    03_in_registers
// @title   Row in registers
// @after   02_block_per_row
// @idea    the row is loaded once, 16 bytes per lane, and stays in registers for mean, variance, and result
// @expect  registersPerThread up
// @param   THREADS 256 {128,256,512}
#include "kernel_ladder.h"

__device__ float block_sum(float value) {
  __shared__ float of_warp[THREADS / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0;
  for (int warp = 0; warp < THREADS / 32; ++warp) value += of_warp[warp];
  return value;
}

template <int QUADS>
__global__ void __launch_bounds__(THREADS)
    layer_norm(const float4* x, const float4* gamma, const float4* beta, float4* y, float* rstd, int quads,
               float epsilon) {
  x += (long long)blockIdx.x * quads;
  y += (long long)blockIdx.x * quads;
  float4 row[QUADS];
  float sum = 0, squares = 0;
#pragma unroll
  for (int i = 0; i < QUADS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    row[i] = at < quads ? x[at] : make_float4(0, 0, 0, 0);
    sum += (row[i].x + row[i].y) + (row[i].z + row[i].w);
  }
  const float mean = block_sum(sum) / (4 * quads);
#pragma unroll
  for (int i = 0; i < QUADS; ++i) {
    if (int(threadIdx.x) + i * THREADS >= quads) continue;
    row[i] = make_float4(row[i].x - mean, row[i].y - mean, row[i].z - mean, row[i].w - mean);
    squares += (row[i].x * row[i].x + row[i].y * row[i].y) + (row[i].z * row[i].z + row[i].w * row[i].w);
  }
  const float scale = rsqrtf(block_sum(squares) / (4 * quads) + epsilon);
#pragma unroll
  for (int i = 0; i < QUADS; ++i) {
    const int at = threadIdx.x + i * THREADS;
    if (at >= quads) continue;
    const float4 g = gamma[at], b = beta[at];
    y[at] = make_float4(row[i].x * scale * g.x + b.x, row[i].y * scale * g.y + b.y, row[i].z * scale * g.z + b.z,
                        row[i].w * scale * g.w + b.w);
  }
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
}

extern "C" const char* kl_unsupported(const KlTask* p, int) {
  return p->COLS % 4 || p->COLS > 32 * THREADS ? "COLS must be a multiple of 4 and at most 32 * THREADS" : nullptr;
}

template <int QUADS>
cudaError_t launch(const KlTask* p, cudaStream_t stream) {
  layer_norm<QUADS><<<unsigned(p->ROWS), THREADS, 0, stream>>>(
      (const float4*)p->x, (const float4*)p->gamma, (const float4*)p->beta, (float4*)p->y, p->rstd, int(p->COLS / 4),
      p->epsilon);
  return cudaGetLastError();
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const long long quads = (p->COLS / 4 + THREADS - 1) / THREADS;
  return quads <= 1 ? launch<1>(p, stream) : quads <= 2 ? launch<2>(p, stream) : quads <= 4 ? launch<4>(p, stream)
                                                                                           : launch<8>(p, stream);
}
