// @rung    06_cluster
// @title   One cluster per row
// @after   05_in_registers
// @idea    CLUSTER blocks share a row and read each other's maximum and sum from shared memory. Long rows then do not
//          need blocks of 1024 threads, which must all wait at each barrier
// @dtype   f32 bf16
// @param   CLUSTER 2 {2,4,8}
// @param   PACKS 8 {2,4,8}
// @requires sm_90
#include "softmax_common.cuh"

#include <cooperative_groups.h>

template <typename T, int kThreads>
__global__ void __cluster_dims__(CLUSTER) __launch_bounds__(kThreads)
softmax(const T* __restrict__ x, T* __restrict__ y, int packs) {
  __shared__ KlRow ofBlock;
  __shared__ float ofWarp[2][kThreads / 32];
  const auto cluster = cooperative_groups::this_cluster();
  const long long row = blockIdx.x / CLUSTER;
  const int each = ceilDiv(packs, CLUSTER), first = int(cluster.block_rank()) * each, end = min(first + each, packs);
  const auto* from = reinterpret_cast<const KlPack<T>*>(x) + row * packs;
  auto* to = reinterpret_cast<KlPack<T>*>(y) + row * packs;
  KlPart<T, PACKS> part;
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    const int pack = first + threadIdx.x + i * kThreads;
    part.packs[i] = pack < end ? klLoadPack(&from[pack]) : KlPack<T>::nothing();
  }
  KlRow own;
  own.largest = klLargest<kThreads>(part.largest(), ofWarp[0]);
  own.sum = klSum<kThreads>(part.sum(KlRow::shiftOf(own.largest)), ofWarp[1]);
  if (threadIdx.x == 0) ofBlock = own;
  cluster.sync();
  KlRow all;
#pragma unroll
  for (int rank = 0; rank < CLUSTER; ++rank) all = all.with(*cluster.map_shared_rank(&ofBlock, rank));
  auto read = cluster.barrier_arrive();
  const float factor = 1 / all.sum;
#pragma unroll
  for (int i = 0; i < PACKS; ++i) {
    const int pack = first + threadIdx.x + i * kThreads;
    if (pack < end) klStorePack(&to[pack], part.result(i, all.largest, factor));
  }
  cluster.barrier_wait(std::move(read));  // no block ends while another block may read its sum
}

template <typename T, int kThreads>
void launch(const KlTask* p, cudaStream_t stream) {
  const long long packs = p->COLS / kPerPack<T>;
  if (packs <= CLUSTER * kThreads * PACKS)
    softmax<T, kThreads><<<unsigned(p->ROWS * CLUSTER), kThreads, 0, stream>>>(static_cast<const T*>(p->x),
                                                                               static_cast<T*>(p->y), int(packs));
  else if constexpr (kThreads < 1024) launch<T, kThreads * 2>(p, stream);
  else klLaunchAnyShape<T>(p, stream);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  return klForType(p, [=](auto type) {
    using T = decltype(type);
    if (klPacked<T>(p) && p->ROWS * CLUSTER <= 0x7fffffff) launch<T, 32>(p, stream);
    else klLaunchAnyShape<T>(p, stream);
  });
}
