// @rung    12-tensor-cores
// @title   Lab 12: tensor cores
// @after   51_wmma_naive
// @idea    the FMA pipe multiplies 16-bit inputs one by one, while the tensor cores are idle
// @dtype   f16 bf16
// @requires sm_75

#include "tensor_common.cuh"

constexpr int kTile = 32;

// The results are right, but the FMA pipe multiplies the 16-bit inputs one by one, without tensor cores.
// tensor_common.cuh defines FragmentA<T>, FragmentB<T>, FragmentC, klLoadTile() and klStoreTile().
// TODO 1: let each warp compute one 16 x 16 tile of C. What does a warp read for one mma_sync()?
// TODO 2: let each warp compute several tiles of C. How often does a warp then use each tile that it reads?
template <typename T>
__global__ void __launch_bounds__(kTile * kTile)
gemmLab(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
        float* __restrict__ c) {
  __shared__ float aTile[kTile][kTile];
  __shared__ float bTile[kTile][kTile];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = klTileRow() * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  float sum = 0.0f;
  for (int t = 0; t < k; t += kTile) {
    aTile[ty][tx] = row < m && t + tx < k ? float(a[(long long)row * k + t + tx]) : 0.0f;
    bTile[ty][tx] = t + ty < k && col < n ? float(b[(long long)(t + ty) * n + col]) : 0.0f;
    __syncthreads();

#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += aTile[ty][i] * bTile[i][tx];
    __syncthreads();
  }

  if (row < m && col < n) klStore(&c[(long long)row * n + col], sum, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRequire16Bit(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    const dim3 grid = klTileGrid(ceilDiv(m, kTile), ceilDiv(n, kTile));
    gemmLab<T><<<grid, dim3(kTile, kTile), 0, stream>>>(m, n, k, p->alpha, static_cast<const T*>(p->a),
                                                        static_cast<const T*>(p->b), p->beta, p->c);
    return cudaGetLastError();
  });
}
