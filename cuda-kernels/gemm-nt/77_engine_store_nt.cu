// @rung    77_engine_store_nt
// @title   Results through the copy engine
// @after   76_multicast_nt
// @idea    stmatrix lays the results out in shared memory and the copy engine stores them in whole lines, the last of a tile while the next one is multiplied; straight from registers every request writes half a sector to each of 16 rows
// @expect  l2Bytes down
// @param   GROUP 8 {1,2,4,8,16}
// @param   BUFFERS 2 {2,4}
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

static_assert(BUFFERS >= 2, "BUFFERS must be at least 2: one is filled while another is read");

struct EngineStore : NtDesign {
  static constexpr bool kPersistent = true;
  static constexpr int kGroup = GROUP, kClusterRows = 2, kBuffers = BUFFERS;
};

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) { return launchDesign<EngineStore>(p, stream); }
