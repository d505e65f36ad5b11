// @rung    04_wide_loads
// @title   16 bytes per access
// @after   03_online
// @idea    each thread issues LOADS 16-byte loads before it uses the first value. The thread corrects its sum once per
//          16 bytes. This takes fewer instructions and puts more bytes in flight
// @expect  memoryInstructions down
// @dtype   f32 bf16
// @param   THREADS 256 {128,256,512,1024}
// @param   LOADS 2 {1,2,4}
#include "softmax_common.cuh"

template <typename T>
__global__ void __launch_bounds__(THREADS) softmax(const T* __restrict__ x, T* __restrict__ y, long long cols) {
  __shared__ KlRow ofWarp[THREADS / 32];
  const long long packs = cols / kPerPack<T>;
  const auto* from = reinterpret_cast<const KlPack<T>*>(x + blockIdx.x * cols);
  auto* to = reinterpret_cast<KlPack<T>*>(y + blockIdx.x * cols);
  KlRow row;
  for (long long pack = threadIdx.x; pack < packs; pack += THREADS * LOADS) {
    KlPack<T> loaded[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i)
      loaded[i] = pack + i * THREADS < packs ? from[pack + i * THREADS] : KlPack<T>::nothing();
#pragma unroll
    for (int i = 0; i < LOADS; ++i) row.add(loaded[i]);
  }
  row = row.acrossBlock<THREADS>(ofWarp);
  const float factor = 1 / row.sum;
  for (long long pack = threadIdx.x; pack < packs; pack += THREADS) {
    KlPack<T> out = klLoadPack(&from[pack]);
#pragma unroll
    for (int i = 0; i < kPerPack<T>; ++i) out.set(i, klExp(out.at(i), row.largest) * factor);
    klStorePack(&to[pack], out);
  }
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klForType(p, [=](auto type) {
    using T = decltype(type);
    if (!klPacked<T>(p)) return klLaunchAnyShape<T>(p, stream);
    softmax<<<unsigned(p->ROWS), THREADS, 0, stream>>>(static_cast<const T*>(p->x), static_cast<T*>(p->y), p->COLS);
  });
}
