// @rung    07_bulk_copies
// @title   Resident blocks, rows copied ahead
// @after   05_in_registers
// @idea    resident blocks process row after row. TMA copies whole rows into shared memory in advance, so memory reads
//          continue while a row is summed and stored
// @dtype   f32 bf16
// @param   PACKS 4 {2,4,8}
// @param   THREADS_PER_SM 1024 {512,1024,2048}
// @param   STAGES 4 {2,3,4,6,8}
// @requires sm_90
#include "softmax_common.cuh"
#include "kl_hopper.cuh"

#include <algorithm>

__device__ inline void copyRow(void* to, const void* from, uint32_t bytes, uint64_t* arrived) {
  klBarrierExpect(arrived, bytes);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   klSharedAddress(to)),
               "l"(from), "r"(bytes), "r"(klSharedAddress(arrived))
               : "memory");
}

template <typename T, int kThreads, int kPacks>
__global__ void __launch_bounds__(kThreads, THREADS_PER_SM < kThreads ? 1 : THREADS_PER_SM / kThreads)
softmax(const T* __restrict__ x, T* __restrict__ y, long long rows, int packs, int stages) {
  extern __shared__ uint4 memory[];  // one row per stage
  __shared__ uint64_t arrived[STAGES];
  __shared__ float ofWarp[2][kThreads / 32];
  auto* const staged = reinterpret_cast<KlPack<T>*>(memory);
  const auto* from = reinterpret_cast<const KlPack<T>*>(x);
  auto* to = reinterpret_cast<KlPack<T>*>(y);
  const uint32_t bytes = uint32_t(packs) * 16;
  const auto copy = [&](long long row, int stage) {
    if (row < rows) copyRow(&staged[stage * packs], &from[row * packs], bytes, &arrived[stage]);
  };

  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage) klBarrierInit(&arrived[stage], 1);
    klBarrierInitFence();
    for (int stage = 0; stage < stages; ++stage) copy(blockIdx.x + (long long)stage * gridDim.x, stage);
  }
  __syncthreads();

  int stage = 0;
  uint32_t parity = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    klBarrierWait(&arrived[stage], parity);
    KlPart<T, kPacks> part;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const int pack = threadIdx.x + i * kThreads;
      part.packs[i] = pack < packs ? staged[stage * packs + pack] : KlPack<T>::nothing();
    }
    const float largest = klLargest<kThreads>(part.largest(), ofWarp[0]);
    // All threads have read their part before the maximum is known, so the stage is free.
    if (threadIdx.x == 0) copy(row + (long long)stages * gridDim.x, stage);
    const float factor = 1 / klSum<kThreads>(part.sum(largest), ofWarp[1]);
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const int pack = threadIdx.x + i * kThreads;
      if (pack < packs) klStorePack(&to[row * packs + pack], part.result(i, largest, factor));
    }
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

template <typename T, int kThreads, int kPacks>
cudaError_t launch(const KlTask* p, cudaStream_t stream) {
  constexpr int kBlocks = THREADS_PER_SM < kThreads ? 1 : THREADS_PER_SM / kThreads;  // resident blocks per SM
  const long long packs = p->COLS / kPerPack<T>;
  if (packs > kThreads * kPacks) {
    if constexpr (kThreads < 1024) return launch<T, kThreads * 2, kPacks>(p, stream);
    else if constexpr (kPacks < 8) return launch<T, kThreads, kPacks * 2>(p, stream);
    klLaunchAnyShape<T>(p, stream);
    return cudaSuccess;
  }
  int device = 0, smCount = 0, sharedPerSm = 0, sharedPerBlock = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&smCount, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&sharedPerSm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&sharedPerBlock, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (status != cudaSuccess) return status;
  // The driver and this kernel's static arrays use less than 2 KiB of shared memory.
  const int stages = int(std::min<long long>(STAGES, (sharedPerSm / kBlocks - 2048) / (packs * 16)));
  if (stages < 1) {
    klLaunchAnyShape<T>(p, stream);
    return cudaSuccess;
  }
  const int sharedBytes = stages * int(packs) * 16;
  // Requests the maximum shared memory per block instead of the exact size that this kernel needs. If the requested
  // size is exactly 48 KiB, ncu finds no room for the static arrays and reports an occupancy of 0.
  status = cudaFuncSetAttribute(softmax<T, kThreads, kPacks>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                sharedPerBlock - 2048);
  if (status != cudaSuccess) return status;
  const unsigned blocks = unsigned(std::min<long long>(p->ROWS, (long long)smCount * kBlocks));
  softmax<T, kThreads, kPacks><<<blocks, kThreads, sharedBytes, stream>>>(
      static_cast<const T*>(p->x), static_cast<T*>(p->y), p->ROWS, int(packs), stages);
  return cudaSuccess;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  cudaError_t status = cudaSuccess;
  const cudaError_t launched = klForType(p, [&](auto type) {
    using T = decltype(type);
    if (klPacked<T>(p)) status = launch<T, 64, PACKS>(p, stream);
    else klLaunchAnyShape<T>(p, stream);
  });
  return status == cudaSuccess ? launched : status;
}
