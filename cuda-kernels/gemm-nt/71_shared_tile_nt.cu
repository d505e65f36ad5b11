// @rung    71_shared_tile_nt
// @title   Tiles in shared memory, FP32 cores
// @idea    every element is widened to FP32 on its way into shared memory and multiplied by the ordinary cores: where the climb begins, and what shapes that no copy engine takes fall back on
// @dtype   bf16 e4m3

#include "nt_common.cuh"

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) { return klLaunchAnyShape<decltype(type)>(p, stream); });
}
