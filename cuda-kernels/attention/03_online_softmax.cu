// @rung    03_online_softmax
// @title   One pass, online softmax
// @after   02_tiled
// @idea    with online softmax, the sums so far are rescaled when a tile contains a new maximum. One pass is enough, so each score is computed once and each tile of keys is read once
// @expect  ffmaInstructions down, sharedLoads down
// @dtype   bf16
#include "attention_tiles.cuh"

__global__ void __launch_bounds__(kThreads) attend(KlTask p, float scale) {
  extern __shared__ float4 shared[];
  Tiles at(p, reinterpret_cast<float*>(shared));
  float o[kOwn][kOwnElements] = {}, largest[kOwn], sum[kOwn] = {};
#pragma unroll
  for (int r = 0; r < kOwn; ++r) largest[r] = -INFINITY;

  // score[r][j] is the score of the thread's row r and key j. The exponential turns each score into a weight.
  for (int key0 = 0; key0 < at.keys; key0 += kTile) {
    float score[kOwn][kOwn];
    at.scores(score, key0, scale);
#pragma unroll
    for (int r = 0; r < kOwn; ++r) {
      const float above = fmaxf(largest[r], Tiles::largestOf(score[r])), shift = klShift(above);
      const float factor = klPowerOfTwo(largest[r] - shift);
      largest[r] = above;
      sum[r] *= factor;
#pragma unroll
      for (int i = 0; i < kOwnElements; ++i) o[r][i] *= factor;
#pragma unroll
      for (int j = 0; j < kOwn; ++j) sum[r] += score[r][j] = klPowerOfTwo(score[r][j] - shift);
    }
    at.addValues(o, score, key0);
  }
#pragma unroll
  for (int r = 0; r < kOwn; ++r) sum[r] = Tiles::sumOf(sum[r]);
  at.store(o, sum);
}

KL_TILES_LAUNCH(attend)
