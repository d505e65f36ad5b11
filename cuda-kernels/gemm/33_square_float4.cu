// @rung    33_square_float4
// @title   128-bit access, square thread tile
// @after   32_thread_tile_square
// @idea    each thread copies four neighboring floats of A and of B in one 128-bit access, and writes C the same way: a quarter of the instructions, and every load coalesced
// @expect  sharedLoads same, fmaUtilization up, sharedStoreBankConflicts down
// @dtype   f32

#include "gemm_common.cuh"

#include <stdint.h>

constexpr int kTile = 32;          // depth of a tile, and threads in each direction
constexpr int kT = 4;              // rows and columns of C of a thread: the floats of a 128-bit access
constexpr int kSide = kTile * kT;  // rows and columns of C of a block

// Four neighboring floats of a row of `length`, from index i on; zeros past the end of the row.
// With kAligned the row is 16-byte aligned and its length a multiple of 4, so four neighbors are
// all inside or all outside.
template <bool kAligned>
__device__ float4 loadFour(const float* row, int i, int length) {
  if (kAligned) return i < length ? *reinterpret_cast<const float4*>(row + i) : float4{};
  return make_float4(i < length ? row[i] : 0.0f, i + 1 < length ? row[i + 1] : 0.0f,
                     i + 2 < length ? row[i + 2] : 0.0f, i + 3 < length ? row[i + 3] : 0.0f);
}

template <bool kAligned>
__global__ void __launch_bounds__(kTile * kTile)
gemmSquareFloat4(int m, int n, int k, float alpha, const float* __restrict__ a,
                 const float* __restrict__ b, float beta, float* __restrict__ c) {
  __shared__ __align__(16) float aTile[kSide][kTile];
  __shared__ __align__(16) float bTile[kTile][kSide];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = klTileRow() * kSide;
  if (row0 >= m) return;

  // A warp copies kT rows of A, eight threads to a row, and one row of B.
  const int aRow = ty * kT + tx / (kTile / 4), aCol = tx % (kTile / 4) * 4;
  const int row = row0 + ty * kT, col = blockIdx.x * kSide + tx * kT;

  // Beyond M the last row is read instead: its result is never stored.
  const float* aFrom = a + (long long)min(row0 + aRow, m - 1) * k;
  const float* bNext = b + (long long)ty * n;
  const long long bStep = (long long)kTile * n;

  float4 sum[kT] = {};
  for (int t = 0; t < k; t += kTile) {
    *reinterpret_cast<float4*>(&aTile[aRow][aCol]) = loadFour<kAligned>(aFrom, t + aCol, k);
    *reinterpret_cast<float4*>(&bTile[ty][tx * kT]) =
        loadFour<kAligned>(bNext, col, t + ty < k ? n : 0);
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
    __syncthreads();  // nobody overwrites a tile that another warp still reads
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
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, kSide), ceilDiv(n, kSide));

  // A 128-bit access needs a 16-byte aligned address in every row. Elsewhere the same kernel copies
  // from and to global memory element by element, and still uses shared memory four at a time.
  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool aligned = k % 4 == 0 && n % 4 == 0 &&
                       (address(p->a) | address(p->b) | address(p->c)) % 16 == 0;
  const auto kernel = aligned ? gemmSquareFloat4<true> : gemmSquareFloat4<false>;
  kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta,
      p->c);
  return cudaGetLastError();
}
