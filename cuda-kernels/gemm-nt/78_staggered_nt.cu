// @rung    78_staggered_nt
// @title   Warpgroups out of step
// @after   77_engine_store_nt
// @idea    the first warpgroup starts LEAD steps before the second and stays ahead: one stores its results while the other has the tensor cores for itself, so that they do not idle between tiles
// @expect  tensorUtilization up
// @param   GROUP 8 {1,2,4,8,16}
// @param   BUFFERS 2 {2,4}
// @param   LEAD 2 {1,2,3}
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

static_assert(BUFFERS >= 2, "BUFFERS must be at least 2: one is filled while another is read");
static_assert(LEAD >= 1, "LEAD must be at least 1; 77_engine_store_nt has none");

struct Staggered : NtDesign {
  static constexpr bool kPersistent = true;
  static constexpr int kGroup = GROUP, kClusterRows = 2, kBuffers = BUFFERS, kLead = LEAD;
};

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) { return launchDesign<Staggered>(p, stream); }
