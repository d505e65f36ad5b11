// @rung    03-waves
// @title   Lab 3: waves and tail
// @after   03_shared_tile
// @idea    the host code computes how many rounds of blocks each strip length takes on this GPU. The host code chooses the length with the smallest product of rounds and tiles per block
// @expect  wavesPerSm up, achievedOccupancy up
// @dtype   f32

#include "gemm_common.cuh"

constexpr int kTile = 32;

__global__ void __launch_bounds__(kTile * kTile)
gemmLab(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
        float beta, float* __restrict__ c, int strip) {
  __shared__ float aTile[kTile][kTile];
  __shared__ float bTile[kTile][kTile];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = klTileRow() * kTile + ty;
  const float* aRow = a + (long long)min(row, m - 1) * k + tx;
  const long long bStep = (long long)kTile * n;

  // A strip consists of adjacent tiles in a row of tiles of C. The last strip of a row can be shorter.
  for (int s = 0; s < strip; ++s) {
    const int col = (blockIdx.x * strip + s) * kTile + tx;
    if (col - tx >= n) break;  // equal in all threads of the block

    // Beyond M or N, the last row or column is copied. Out-of-range results are never stored.
    const float* bNext = b + (long long)ty * n + min(col, n - 1);
    float sum = 0.0f;
    for (int t = 0; t < k; t += kTile) {
      aTile[ty][tx] = t + tx < k ? aRow[t] : 0.0f;
      bTile[ty][tx] = t + ty < k ? *bNext : 0.0f;
      bNext += bStep;
      __syncthreads();

#pragma unroll
      for (int i = 0; i < kTile; ++i) sum += aTile[ty][i] * bTile[i][tx];
      __syncthreads();
    }
    if (row < m && col < n) klStore(&c[(long long)row * n + col], sum, alpha, beta);
  }
}

// A block computes `strip` tiles in sequence, and the GPU runs `rounds` rounds of blocks. If every round takes
// as long as its longest block, the run time is rounds * strip tiles. This is only a model: a block that has
// an SM to itself is faster than a block that shares its SM.
int chooseStrip(int tilesM, int tilesN) {
  int device = 0, sms = 1, blocksPerSm = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocksPerSm, gemmLab, kTile * kTile, 0);
  const long long slots = (long long)sms * (blocksPerSm > 0 ? blocksPerSm : 1);

  int best = 1;
  long long leastWork = -1;
  for (int strip = 1; strip <= 16; ++strip) {
    const long long blocks = (long long)tilesM * ceilDiv(tilesN, strip);
    const long long rounds = (blocks + slots - 1) / slots;
    if (leastWork < 0 || rounds * strip < leastWork) {  // a tie keeps the shorter strip
      leastWork = rounds * strip;
      best = strip;
    }
  }
  return best;
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);

  const int strip = chooseStrip(ceilDiv(m, kTile), ceilDiv(n, kTile));
  const dim3 grid = klTileGrid(ceilDiv(m, kTile), ceilDiv(n, kTile * strip));
  gemmLab<<<grid, dim3(kTile, kTile), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c, strip);
  return cudaGetLastError();
}
