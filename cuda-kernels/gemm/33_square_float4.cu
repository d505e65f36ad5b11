// @rung    33_square_float4
// @title   128-bit access, square thread tile
// @after   32_thread_tile_square
// @idea    each thread copies four adjacent floats of A and B with 128-bit accesses and writes C the same way. Copies take a quarter of the instructions, and every load is coalesced
// @expect  sharedLoads same, fmaUtilization up, sharedStoreBankConflicts down
// @dtype   f32

#include "thread_tile.cuh"

constexpr int kTile = 32;          // depth of a tile, and threads in each direction
constexpr int kT = 4;              // rows and columns of C per thread: the floats of a 128-bit access
constexpr int kSide = kTile * kT;  // rows and columns of C per block

template <bool kAligned>
__global__ void __launch_bounds__(kTile * kTile)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b,
     float beta, float* __restrict__ c) {
  __shared__ __align__(16) float aTile[kSide][kTile];
  __shared__ __align__(16) float bTile[kTile][kSide];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = klTileRow() * kSide;
  if (row0 >= m) return;

  // A warp copies kT rows of A, with eight threads per row, and one row of B.
  const int aRow = ty * kT + tx / (kTile / 4), aCol = tx % (kTile / 4) * 4;
  const int row = row0 + ty * kT, col = blockIdx.x * kSide + tx * kT;

  // Past M, the last row is read instead. Results for rows past M are never stored.
  const float* aFrom = a + (long long)min(row0 + aRow, m - 1) * k;
  const float* bNext = b + (long long)ty * n;
  const long long bStep = (long long)kTile * n;

  float4 sum[kT] = {};
  for (int t = 0; t < k; t += kTile) {
    *reinterpret_cast<float4*>(&aTile[aRow][aCol]) = klFourWithin<kAligned>(aFrom, t + aCol, k);
    *reinterpret_cast<float4*>(&bTile[ty][tx * kT]) =
        klFourWithin<kAligned>(bNext, col, t + ty < k ? n : 0);
    bNext += bStep;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < kTile; ++d) {
      const float4 bValues = *reinterpret_cast<const float4*>(&bTile[d][tx * kT]);
#pragma unroll
      for (int i = 0; i < kT; ++i) {
        const float aValue = aTile[ty * kT + i][d];
        sum[i].x += aValue * bValues.x;
        sum[i].y += aValue * bValues.y;
        sum[i].z += aValue * bValues.z;
        sum[i].w += aValue * bValues.w;
      }
    }
    __syncthreads();  // no warp overwrites a tile that another warp still reads
  }

#pragma unroll
  for (int i = 0; i < kT; ++i) {
    if (row + i >= m || col >= n) break;
    float* cNext = c + (long long)(row + i) * n + col;
    if (kAligned) {
      klStore(reinterpret_cast<float4*>(cNext), sum[i], alpha, beta);
    } else {
      klStore(cNext, sum[i].x, alpha, beta);
      if (col + 1 < n) klStore(cNext + 1, sum[i].y, alpha, beta);
      if (col + 2 < n) klStore(cNext + 2, sum[i].z, alpha, beta);
      if (col + 3 < n) klStore(cNext + 3, sum[i].w, alpha, beta);
    }
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  // Without alignment, the same kernel accesses global memory element by element. Shared memory is still accessed four
  // elements at a time.
  const auto kernel = klRowsAligned(p) ? gemm<true> : gemm<false>;
  return klLaunch(kernel, klColumnsFirst<kSide, kSide>(p), dim3(kTile, kTile), p, stream);
}
