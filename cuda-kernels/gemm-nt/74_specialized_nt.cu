// @rung    74_specialized_nt
// @title   A warp that copies, two warpgroups that multiply
// @after   73_wgmma_nt
// @idea    one thread keeps four stages of A and B on their way while two warpgroups multiply 64 x 256 each: nobody waits for a copy that it could have started earlier
// @expect  tensorUtilization up
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

struct Specialized : NtDesign {};

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) { return launchDesign<Specialized>(p, stream); }
