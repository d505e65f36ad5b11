// @rung    02_tensor_cores
// @title   CuTe tiles on tensor cores
// @after   01_fma
// @idea    mma.sync multiplies the tiles of 01_fma. Each warp instruction does 2048 FMAs
// @expect  fmaUtilization down
#include "gemm.cuh"

using Mma = decltype(cute::make_tiled_mma(cute::SM80_16x8x16_F32F16F16F32_TN{},
                                          cute::Layout<cute::Shape<cute::_2, cute::_2>>{}));

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) { return launch<Mma>(p, stream); }
