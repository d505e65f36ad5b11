// @rung    03_in_registers
// @title   Row in registers
// @after   02_block_per_row
// @idea    a row of up to 8192 elements is loaded once, 16 bytes at a time. The row stays in registers for all three
//          passes, and exp is computed once per element
// @expect  registersPerThread up
// @param   THREADS 256 {128,256,512}
#include "kernel_ladder.h"

#include <math.h>

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <typename Of>
__device__ float reduce(float value, Of of) {
  __shared__ float ofWarp[THREADS / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2) value = of(value, __shfl_xor_sync(~0u, value, lanes));
  __syncthreads();
  if (threadIdx.x % 32 == 0) ofWarp[threadIdx.x / 32] = value;
  __syncthreads();
  value = ofWarp[0];
  for (int warp = 1; warp < THREADS / 32; ++warp) value = of(value, ofWarp[warp]);
  return value;
}

// Handles rows of up to 4 * THREADS * QUADS elements, if the number of elements is a multiple of 4.
template <int QUADS>
__global__ void __launch_bounds__(THREADS) softmaxInRegisters(const float* x, float* y, int cols) {
  const float4* from = reinterpret_cast<const float4*>(x + (long long)blockIdx.x * cols);
  float4* to = reinterpret_cast<float4*>(y + (long long)blockIdx.x * cols);
  float4 row[QUADS];
  float largest = -INFINITY, sum = 0;
#pragma unroll
  for (int i = 0; i < QUADS; ++i) {
    const int quad = threadIdx.x + i * THREADS;
    if (quad >= cols / 4) row[i] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    else row[i] = from[quad];
    largest = fmaxf(largest, fmaxf(fmaxf(row[i].x, row[i].y), fmaxf(row[i].z, row[i].w)));
  }
  largest = reduce(largest, Largest());
#pragma unroll
  for (int i = 0; i < QUADS; ++i) {  // exp(-inf) is 0: missing elements add nothing
    row[i].x = expf(row[i].x - largest);
    row[i].y = expf(row[i].y - largest);
    row[i].z = expf(row[i].z - largest);
    row[i].w = expf(row[i].w - largest);
    sum += (row[i].x + row[i].y) + (row[i].z + row[i].w);
  }
  const float factor = 1 / reduce(sum, Sum());
#pragma unroll
  for (int i = 0; i < QUADS; ++i) {
    const int quad = threadIdx.x + i * THREADS;
    if (quad < cols / 4)
      to[quad] = make_float4(row[i].x * factor, row[i].y * factor, row[i].z * factor, row[i].w * factor);
  }
}

// Handles rows of any other length, in the same way as the previous rung.
__global__ void __launch_bounds__(THREADS) softmax(const float* x, float* y, long long cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float largest = -INFINITY, sum = 0;
  for (long long col = threadIdx.x; col < cols; col += THREADS) largest = fmaxf(largest, x[col]);
  largest = reduce(largest, Largest());
  for (long long col = threadIdx.x; col < cols; col += THREADS) sum += expf(x[col] - largest);
  sum = reduce(sum, Sum());
  for (long long col = threadIdx.x; col < cols; col += THREADS) y[col] = expf(x[col] - largest) / sum;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const unsigned rows = unsigned(p->ROWS);
  const long long perStep = 4 * THREADS;
  const auto fits = [&](int quads) { return p->COLS % 4 == 0 && p->COLS <= perStep * quads; };
  if (fits(1)) softmaxInRegisters<1><<<rows, THREADS, 0, stream>>>(p->x, p->y, int(p->COLS));
  else if (fits(2)) softmaxInRegisters<2><<<rows, THREADS, 0, stream>>>(p->x, p->y, int(p->COLS));
  else if (fits(4)) softmaxInRegisters<4><<<rows, THREADS, 0, stream>>>(p->x, p->y, int(p->COLS));
  else if (fits(8)) softmaxInRegisters<8><<<rows, THREADS, 0, stream>>>(p->x, p->y, int(p->COLS));
  else softmax<<<rows, THREADS, 0, stream>>>(p->x, p->y, p->COLS);
  return cudaGetLastError();
}
