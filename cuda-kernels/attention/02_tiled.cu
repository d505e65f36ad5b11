// @rung    02_tiled
// @title   Tiles, in two passes
// @after   01_full_matrix
// @idea    a block processes 64 rows in two passes over the keys, with tiles of 64 keys in shared memory. The first pass finds the largest score of each row, and the second computes the weights. Scores are never written to device memory, but each score is computed twice
// @expect  dramBytes down
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
    for (int r = 0; r < kOwn; ++r) largest[r] = fmaxf(largest[r], Tiles::largestOf(score[r]));
  }
  for (int key0 = 0; key0 < at.keys; key0 += kTile) {
    float score[kOwn][kOwn];
    at.scores(score, key0, scale);
#pragma unroll
    for (int r = 0; r < kOwn; ++r)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) sum[r] += score[r][j] = klPowerOfTwo(score[r][j] - klShift(largest[r]));
    at.addValues(o, score, key0);
  }
#pragma unroll
  for (int r = 0; r < kOwn; ++r) sum[r] = Tiles::sumOf(sum[r]);
  at.store(o, sum);
}

KL_TILES_LAUNCH(attend)
