// @rung    79_promoted_nt
// @title   Sums promoted to FP32
// @after   78_staggered_nt
// @idea    the tensor cores keep some 14 bits of an FP8 sum: every PROMOTE steps of 128 the sum is added to one in FP32 registers and begun anew; a tile of 128 x 128 leaves registers for both sums
// @param   GROUP 8 {1,2,4,8,16}
// @param   PROMOTE 1 {1,2,4,8}
// @dtype   e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

static_assert(PROMOTE >= 1, "PROMOTE must be at least 1: steps of 128 elements of K");

struct Promoted : NtDesign {
  static constexpr int kWidest = 128;
  static constexpr bool kPersistent = true;
  static constexpr int kGroup = GROUP, kClusterRows = 2, kBuffers = 2, kPromote = PROMOTE;
};

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) { return launchDesign<Promoted>(p, stream); }
