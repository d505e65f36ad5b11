// @rung    76_multicast_nt
// @title   Clusters that share B
// @after   75_persistent_nt
// @idea    two blocks form a cluster, one below the other, and each fetches half of the tile of B for both: L2 is read a third less
// @expect  l2Bytes down
// @param   GROUP 8 {1,2,4,8,16}
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

struct Multicast : NtDesign {
  static constexpr bool kPersistent = true;
  static constexpr int kGroup = GROUP, kClusterRows = 2;
};

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) { return launchDesign<Multicast>(p, stream); }
