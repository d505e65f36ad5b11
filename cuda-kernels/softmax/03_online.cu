// @rung    03_online
// @title   Online: maximum and sum in one pass
// @after   02_block_per_row
// @idea    when the maximum grows, one factor corrects the sum, so a single pass computes the maximum and the sum. The
//          row is read twice instead of three times. Warps combine their values with shuffles
// @expect  l2Bytes down
// @dtype   f32 bf16
// @param   THREADS 256 {128,256,512,1024}
#include "softmax_common.cuh"

template <typename T>
__global__ void __launch_bounds__(THREADS) softmax(const T* __restrict__ x, T* __restrict__ y, long long cols) {
  __shared__ KlRow ofWarp[THREADS / 32];
  const T* from = x + blockIdx.x * cols;
  T* to = y + blockIdx.x * cols;
  KlRow row;
  for (long long col = threadIdx.x; col < cols; col += THREADS) {
    const float value = klToFloat(from[col]), above = fmaxf(row.largest, value), shift = KlRow::shiftOf(above);
    // One of the two values is the new maximum, so its exponential is 1. A NaN value makes the sum NaN.
    const bool grows = row.largest < value;
    const float other = klExp(grows ? row.largest : value, shift);
    row.sum = grows ? row.sum * other + 1 : row.sum + other;
    row.largest = above;
  }
  row = row.acrossBlock<THREADS>(ofWarp);
  const float factor = 1 / row.sum;
  for (long long col = threadIdx.x; col < cols; col += THREADS)
    to[col] = klFromFloat<T>(klExp(klToFloat(from[col]), row.largest) * factor);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klForType(p, [=](auto type) {
    using T = decltype(type);
    softmax<<<unsigned(p->ROWS), THREADS, 0, stream>>>(static_cast<const T*>(p->x), static_cast<T*>(p->y), p->COLS);
  });
}
