// @rung    05_in_registers
// @title   Row in registers
// @after   04_wide_loads
// @idea    a row of up to 128 KiB stays in registers between passes, so it is read once. The maximum is known before
//          the first exponential, so sums need no correction. Each thread holds PACKS 16-byte packs, and a block has
//          enough threads for the row. At the limit of 1024 threads, each thread holds more packs
// @expect  l2Bytes down
// @dtype   f32 bf16
// @param   PACKS 2 {1,2,4,8}
#include "softmax_common.cuh"

template <typename T, int kThreads, int kPacks>
__global__ void __launch_bounds__(kThreads) softmax(const T* __restrict__ x, T* __restrict__ y, int packs) {
  __shared__ float ofWarp[2][kThreads / 32];
  const auto* from = reinterpret_cast<const KlPack<T>*>(x) + (long long)blockIdx.x * packs;
  auto* to = reinterpret_cast<KlPack<T>*>(y) + (long long)blockIdx.x * packs;
  KlPart<T, kPacks> part;
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    const int pack = threadIdx.x + i * kThreads;
    part.packs[i] = pack < packs ? klLoadPack(&from[pack]) : KlPack<T>::nothing();
  }
  const float largest = klLargest<kThreads>(part.largest(), ofWarp[0]);
  const float factor = 1 / klSum<kThreads>(part.sum(largest), ofWarp[1]);
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    const int pack = threadIdx.x + i * kThreads;
    if (pack < packs) klStorePack(&to[pack], part.result(i, largest, factor));
  }
}

// Launches the smallest block whose registers hold a row.
template <typename T, int kThreads, int kPacks>
void launch(const KlTask* p, cudaStream_t stream) {
  const long long packs = p->COLS / kPerPack<T>;
  if (packs <= kThreads * kPacks)
    softmax<T, kThreads, kPacks>
        <<<unsigned(p->ROWS), kThreads, 0, stream>>>(static_cast<const T*>(p->x), static_cast<T*>(p->y), int(packs));
  else if constexpr (kThreads < 1024) launch<T, kThreads * 2, kPacks>(p, stream);
  else if constexpr (kPacks < 8) launch<T, kThreads, kPacks * 2>(p, stream);
  else klLaunchAnyShape<T>(p, stream);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klForType(p, [=](auto type) {
    using T = decltype(type);
    if (klPacked<T>(p)) launch<T, 32, PACKS>(p, stream);
    else klLaunchAnyShape<T>(p, stream);
  });
}
