// @rung    01_thread_per_row
// @title   One thread per row
// @idea    each thread computes the formula as written. The thread reads its row three times, for the maximum, the sum,
//          and the quotient. Neighboring threads read elements that are COLS apart
// @dtype   f32 bf16
// @param   THREADS 128 {64,128,256}
#include "softmax_common.cuh"

template <typename T>
__global__ void __launch_bounds__(THREADS) softmax(const T* x, T* y, long long rows, long long cols) {
  const long long row = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (row >= rows) return;
  const T* from = x + row * cols;
  T* to = y + row * cols;
  float largest = -INFINITY, sum = 0;
  for (long long col = 0; col < cols; ++col) largest = fmaxf(largest, klToFloat(from[col]));
  for (long long col = 0; col < cols; ++col) sum += klExp(klToFloat(from[col]), largest);
  for (long long col = 0; col < cols; ++col) to[col] = klFromFloat<T>(klExp(klToFloat(from[col]), largest) / sum);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klForType(p, [=](auto type) {
    using T = decltype(type);
    softmax<<<unsigned((p->ROWS + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
        static_cast<const T*>(p->x), static_cast<T*>(p->y), p->ROWS, p->COLS);
  });
}
