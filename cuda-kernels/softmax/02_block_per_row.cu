// @rung    02_block_per_row
// @title   One block per row
// @after   01_thread_per_row
// @idea    the threads of a block share a row, so a warp reads adjacent elements. The maximum and the sum are combined
//          in shared memory. There are still three passes over the row
// @expect  globalLoadSectorsPerRequest down
// @dtype   f32 bf16
// @param   THREADS 256 {128,256,512,1024}
#include "softmax_common.cuh"

template <typename Of>
__device__ float reduce(float value, Of of) {
  __shared__ float ofThread[THREADS];
  ofThread[threadIdx.x] = value;
  for (int threads = THREADS / 2; threads > 0; threads /= 2) {
    __syncthreads();
    if (threadIdx.x < threads) ofThread[threadIdx.x] = of(ofThread[threadIdx.x], ofThread[threadIdx.x + threads]);
  }
  __syncthreads();
  value = ofThread[0];
  __syncthreads();
  return value;
}

template <typename T>
__global__ void __launch_bounds__(THREADS) softmax(const T* x, T* y, long long cols) {
  const T* from = x + blockIdx.x * cols;
  T* to = y + blockIdx.x * cols;
  float largest = -INFINITY, sum = 0;
  for (long long col = threadIdx.x; col < cols; col += THREADS) largest = fmaxf(largest, klToFloat(from[col]));
  largest = reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  for (long long col = threadIdx.x; col < cols; col += THREADS) sum += klExp(klToFloat(from[col]), largest);
  sum = reduce(sum, [](float a, float b) { return a + b; });
  for (long long col = threadIdx.x; col < cols; col += THREADS)
    to[col] = klFromFloat<T>(klExp(klToFloat(from[col]), largest) / sum);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klForType(p, [=](auto type) {
    using T = decltype(type);
    softmax<<<unsigned(p->ROWS), THREADS, 0, stream>>>(static_cast<const T*>(p->x), static_cast<T*>(p->y), p->COLS);
  });
}
