// @rung    01_fma
// @title   CuTe tiles on the FMA pipe
// @idea    tiles of 128 by 128 in registers of 128 threads, converted to FP32 and multiplied element by element
#include "gemm.cuh"

using Mma = decltype(cute::make_tiled_mma(cute::UniversalFMA<float>{},
                                          cute::Layout<cute::Shape<cute::_8, cute::_16>>{}));

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) { return launch<Mma>(p, stream); }
