// @rung    01_fma
// @title   CuTe tiles on the FMA pipe
// @idea    128 threads keep a 128 x 128 tile of sums in registers. The threads convert elements to FP32 and multiply them one by one
#include "gemm.cuh"

using Mma = decltype(cute::make_tiled_mma(cute::UniversalFMA<float>{},
                                          cute::Layout<cute::Shape<cute::_8, cute::_16>>{}));

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) { return launch<Mma>(p, stream); }
