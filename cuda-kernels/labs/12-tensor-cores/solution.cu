// @rung    12-tensor-cores
// @title   Lab 12: tensor cores
// @after   51_wmma_naive
// @idea    each warp multiplies 16 x 16 tiles on the tensor cores. A warp computes 4 x 4 tiles of C, and uses every tile that it reads four times
// @expect  tensorUtilization up, registersPerThread up, achievedOccupancy down
// @dtype   f16 bf16
// @requires sm_75

#include "tensor_common.cuh"

constexpr int kTilesM = 4, kTilesN = 4;    // 16 x 16 tiles per warp
constexpr int kWarpsM = 2, kWarpsN = 2;    // warps per block
constexpr int kThreads = kWarpsM * kWarpsN * 32;
constexpr int kWarpRows = kTilesM * kWmma, kWarpCols = kTilesN * kWmma;

template <typename T>
__global__ void __launch_bounds__(kThreads)
gemmLab(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
        float* __restrict__ c, bool aligned) {
  if constexpr (kMultiplies<T>) {
    __shared__ __align__(32) float edge[kThreads / 32][kWmma * kWmma];  // for tiles that cross a matrix edge

    const int warp = threadIdx.x / 32;
    const int row = (klTileRow() * kWarpsM + warp / kWarpsN) * kWarpRows;
    const int col = (blockIdx.x * kWarpsN + warp % kWarpsN) * kWarpCols;
    if (row >= m || col >= n) return;
    T* inputEdge = reinterpret_cast<T*>(edge[warp]);

    FragmentC sum[kTilesM][kTilesN];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) nvcuda::wmma::fill_fragment(sum[i][j], 0.0f);

    // Reads four tiles of A and four tiles of B for sixteen products, so each tile is used four times.
    const auto step = [&](int t, auto load) {
      FragmentA<T> aTiles[kTilesM];
      FragmentB<T> bTiles[kTilesN];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) load(aTiles[i], a, row + i * kWmma, t, m, k);
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) load(bTiles[j], b, t, col + j * kWmma, k, n);
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) nvcuda::wmma::mma_sync(sum[i][j], aTiles[i], bTiles[j], sum[i][j]);
    };

    // If a warp's tiles are entirely inside the matrices, its loads need no checks. The compiler can then
    // keep all eight loads of a step in flight.
    const bool whole = aligned && row + kWarpRows <= m && col + kWarpCols <= n;
    const int wholeSteps = whole ? k / kWmma * kWmma : 0;
    for (int t = 0; t < wholeSteps; t += kWmma)
      step(t, [](auto& tile, const T* matrix, int r, int s, int, int cols) {
        nvcuda::wmma::load_matrix_sync(tile, matrix + (long long)r * cols + s, cols);
      });
    for (int t = wholeSteps; t < k; t += kWmma)
      step(t, [&](auto& tile, const T* matrix, int r, int s, int rows, int cols) {
        klLoadTile(tile, matrix, r, s, rows, cols, aligned, inputEdge);
      });

#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int j = 0; j < kTilesN; ++j)
        klStoreTile(sum[i][j], c, row + i * kWmma, col + j * kWmma, m, n, alpha, beta, aligned, edge[warp]);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRequire16Bit(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    const dim3 grid = klTileGrid(ceilDiv(m, kWarpsM * kWarpRows), ceilDiv(n, kWarpsN * kWarpCols));
    gemmLab<T><<<grid, kThreads, 0, stream>>>(m, n, k, p->alpha, static_cast<const T*>(p->a),
                                              static_cast<const T*>(p->b), p->beta, p->c, klWmmaAligned(p));
    return cudaGetLastError();
  });
}
