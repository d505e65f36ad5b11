// @rung    80_turning_bands_nt
// @title   Bands that turn, launches that meet
// @after   77_engine_store_nt
// @idea    every other band of tiles runs back and so begins with the rows of B that the band before ended with, L2 evicts A and B after C, and the blocks of the next launch move in as these leave instead of after the last: at the power limit a kernel gets faster by what it does not move
// @expect  dramBytes down
// @param   GROUP 8 {1,2,4,8,16}
// @param   DEFERRED 0 {0,1,2,3,4,6,8}
// @dtype   bf16 e4m3
// @requires sm_90a

#include "nt_pipeline.cuh"

struct TurningBands : NtDesign {
  static constexpr bool kPersistent = true, kTurning = true, kKeepInputs = true, kEarlyLaunch = true;
  static constexpr int kGroup = GROUP, kClusterRows = 2, kBuffers = 2, kDeferred = DEFERRED;
};

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) { return launchDesign<TurningBands>(p, stream); }
