// @rung    52_wmma_warp_tile
// @title   WMMA warp tile
// @after   51_wmma_naive
// @idea    a warp computes 4 x 4 tiles instead of one. The warp uses each tile of A and B four times, which cuts the traffic per operation to a quarter
// @expect  registersPerThread up, achievedOccupancy down
// @param   TILES_M 4 {2,4}
// @param   TILES_N 4 {2,4}
// @dtype   bf16 f16
// @requires sm_75

#include "tensor_common.cuh"

constexpr int kWarpsM = 2, kWarpsN = 2, kThreads = kWarpsM * kWarpsN * 32;
constexpr int kWarpRows = TILES_M * kWmma, kWarpCols = TILES_N * kWmma;

static_assert(TILES_M >= 1 && TILES_M <= 4 && TILES_N >= 1 && TILES_N <= 4,
              "TILES_M and TILES_N must be at most 4: a tile of C takes 8 registers of each thread");

template <typename T>
__global__ void __launch_bounds__(kThreads)
gemm(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
                 float* __restrict__ c, bool aligned) {
  if constexpr (kMultiplies<T>) {
    __shared__ __align__(32) float edge[kThreads / 32][kWmma * kWmma];  // for tiles that cross an edge

    const int warp = threadIdx.x / 32;
    const int row = (klTileRow() * kWarpsM + warp / kWarpsN) * kWarpRows;
    const int col = (blockIdx.x * kWarpsN + warp % kWarpsN) * kWarpCols;
    if (row >= m || col >= n) return;
    T* inputEdge = reinterpret_cast<T*>(edge[warp]);

    FragmentC sum[TILES_M][TILES_N];
#pragma unroll
    for (int i = 0; i < TILES_M; ++i)
#pragma unroll
      for (int j = 0; j < TILES_N; ++j) nvcuda::wmma::fill_fragment(sum[i][j], 0.0f);

    // If all tiles of the warp are whole, the reads need no checks, so the compiler can keep all reads of a step in
    // flight.
    const bool whole = aligned && row + kWarpRows <= m && col + kWarpCols <= n;
    const int wholeSteps = whole ? k / kWmma * kWmma : 0;
    const auto step = [&](int t, auto load) {
      FragmentA<T> aPart[TILES_M];
      FragmentB<T> bPart[TILES_N];
#pragma unroll
      for (int i = 0; i < TILES_M; ++i) load(aPart[i], a, row + i * kWmma, t, m, k);
#pragma unroll
      for (int j = 0; j < TILES_N; ++j) load(bPart[j], b, t, col + j * kWmma, k, n);
#pragma unroll
      for (int i = 0; i < TILES_M; ++i)
#pragma unroll
        for (int j = 0; j < TILES_N; ++j) nvcuda::wmma::mma_sync(sum[i][j], aPart[i], bPart[j], sum[i][j]);
    };
    for (int t = 0; t < wholeSteps; t += kWmma)
      step(t, [](auto& part, const T* matrix, int r, int s, int, int cols) {
        nvcuda::wmma::load_matrix_sync(part, matrix + (long long)r * cols + s, cols);
      });
    for (int t = wholeSteps; t < k; t += kWmma)
      step(t, [&](auto& part, const T* matrix, int r, int s, int rows, int cols) {
        klLoadTile(part, matrix, r, s, rows, cols, aligned, inputEdge);
      });

#pragma unroll
    for (int i = 0; i < TILES_M; ++i)
#pragma unroll
      for (int j = 0; j < TILES_N; ++j)
        klStoreTile(sum[i][j], c, row + i * kWmma, col + j * kWmma, m, n, alpha, beta, aligned, edge[warp]);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRequire16Bit(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    const dim3 grid = klTileGrid(ceilDiv(m, kWarpRows * kWarpsM), ceilDiv(n, kWarpCols * kWarpsN));
    gemm<T><<<grid, kThreads, 0, stream>>>(m, n, k, p->alpha, static_cast<const T*>(p->a),
                                                       static_cast<const T*>(p->b), p->beta, p->c, klWmmaAligned(p));
    return cudaGetLastError();
  });
}
