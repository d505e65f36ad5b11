// @rung    71_shared_tile_nt
// @title   Tiles in shared memory, FP32 cores
// @idea    each element is converted to FP32 on its way into shared memory and multiplied on the FP32 cores. This rung starts the ladder and is the fallback for shapes that TMA cannot copy
// @dtype   bf16 e4m3

#include "nt_common.cuh"

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) { return klLaunchAnyShape<decltype(type)>(p, stream); });
}
