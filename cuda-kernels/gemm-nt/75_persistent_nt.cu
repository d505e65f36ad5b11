// @rung    75_persistent_nt
// @title   Persistent blocks
// @after   74_specialized_nt
// @idea    one block an SM computes tile after tile, and the copies of the next tile run while the results of this one are stored; bands of tiles keep what is read at one time small enough for L2
// @expect  tensorUtilization up, dramBytes down
// @param   GROUP 16 {1,4,8,16,32}
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

struct Persistent : NtDesign {
  static constexpr bool kPersistent = true;
  static constexpr int kGroup = GROUP;
};

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) { return launchDesign<Persistent>(p, stream); }
