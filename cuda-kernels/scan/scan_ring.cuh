// Helpers for a ring of tiles that resident blocks fill by bulk copies: copies, stage order, and launch preparation.
#pragma once

#include "kl_hopper.cuh"
#include "scan_common.cuh"

#include <algorithm>

// Copies `bytes`, a multiple of 16, into shared memory. `barrier` counts the arriving bytes.
__device__ inline void klBulkLoad(void* to, const void* from, int bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   klSharedAddress(to)),
               "l"(from), "r"(bytes), "r"(klSharedAddress(barrier))
               : "memory");
}

template <int kBytes>
__device__ inline void klBulkStore(float* to, const float4* from) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(klSharedAddress(from)),
               "n"(kBytes)
               : "memory");
}

// Iterates over the stages of a ring; each role has its own iterator.
template <int kStages>
struct KlTurn {
  int stage = 0;
  uint32_t parity = 0;

  __device__ void next() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

inline const char* klRequireRoom(size_t bytes) {
  int device = 0, room = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return "the shared memory of this GPU could not be read";
  return room < int(bytes) ? "its ring needs more shared memory than a block has on this GPU: lower STAGES" : nullptr;
}

// Allows a kernel to use `sharedBytes` of dynamic shared memory, and returns the number of SMs in `smCount`.
template <typename Kernel>
cudaError_t klPrepareResident(Kernel kernel, size_t sharedBytes, int* smCount) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(smCount, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(sharedBytes));
  return status;
}
