// @rung    51_wmma_naive
// @title   WMMA from global memory
// @after   50_cublas_tensor
// @idea    each warp computes one 16 x 16 tile of C on the tensor cores. Both operands are read directly from global memory. The arithmetic is fast, but loads take nearly all of the time
// @param   WARPS 4 {1,2,4,8}
// @dtype   bf16 f16
// @requires sm_75

#include "tensor_common.cuh"

static_assert(WARPS >= 1 && WARPS <= 8, "WARPS must be from 1 to 8");

// The warps of a block are adjacent along N, so they read the same rows of A.
template <typename T>
__global__ void __launch_bounds__(WARPS * 32)
gemm(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
              float* __restrict__ c, bool aligned) {
  if constexpr (kMultiplies<T>) {
    __shared__ __align__(32) float edge[WARPS][kWmma * kWmma];  // for tiles that cross an edge

    const int warp = threadIdx.x / 32;
    const int row = klTileRow() * kWmma, col = (blockIdx.x * WARPS + warp) * kWmma;
    if (row >= m || col >= n) return;
    T* inputEdge = reinterpret_cast<T*>(edge[warp]);

    FragmentA<T> aPart;
    FragmentB<T> bPart;
    FragmentC sum;
    nvcuda::wmma::fill_fragment(sum, 0.0f);
    for (int t = 0; t < k; t += kWmma) {
      klLoadTile(aPart, a, row, t, m, k, aligned, inputEdge);
      klLoadTile(bPart, b, t, col, k, n, aligned, inputEdge);
      nvcuda::wmma::mma_sync(sum, aPart, bPart, sum);
    }
    klStoreTile(sum, c, row, col, m, n, alpha, beta, aligned, edge[warp]);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRequire16Bit(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    const dim3 grid = klTileGrid(ceilDiv(m, kWmma), ceilDiv(n, kWmma * WARPS));
    gemm<T><<<grid, WARPS * 32, 0, stream>>>(m, n, k, p->alpha, static_cast<const T*>(p->a),
                                                      static_cast<const T*>(p->b), p->beta, p->c, klWmmaAligned(p));
    return cudaGetLastError();
  });
}
