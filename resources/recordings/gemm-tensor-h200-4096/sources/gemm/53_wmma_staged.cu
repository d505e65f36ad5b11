// @rung    53_wmma_staged
// @title   WMMA through shared memory
// @after   52_wmma_warp_tile
// @idea    a block copies its tiles of A and B into shared memory once for all of its warps, the next pair on its way while this one is multiplied; rows padded by 16 bytes keep the reads free of bank conflicts
// @expect  sharedLoads up
// @param   BM 128 {64,128}
// @param   BN 128 {64,128}
// @param   BK 32 {16,32}
// @param   WARP_N 64 {32,64}
// @dtype   bf16 f16
// @requires sm_75

#include "tensor_common.cuh"

constexpr int kWarpRows = 64, kWarpCols = WARP_N;
constexpr int kWarpsN = BN / kWarpCols, kThreads = BM / kWarpRows * kWarpsN * 32;
constexpr int kPad = 8;  // elements, 16 bytes
constexpr int kEights = 8;
constexpr int kStepA = kThreads / (BK / kEights);  // rows of A that the block copies in one pass
constexpr int kStepB = kThreads / (BN / kEights);  // rows of B
constexpr int kCopiesA = BM / kStepA, kCopiesB = BK / kStepB;

static_assert(BM % kWarpRows == 0 && BN % kWarpCols == 0, "BM must be a multiple of 64 and BN of 32: the tile of a warp");
static_assert(BK % kWmma == 0, "BK must be a multiple of 16: the depth of a WMMA tile");
static_assert(kThreads % (BN / kEights) == 0 && kStepA <= BM && BM % kStepA == 0 && kStepB <= BK && BK % kStepB == 0,
              "the BM * BN / (64 * WARP_N) warps must copy whole rows of the tiles: a larger BK helps");

union Eight {
  uint4 bits;
  unsigned short elements[kEights];
};

// Eight neighbours, of which the first `count` lie inside the matrix; zeros in place of the others.
// With kAligned all of them do or none.
template <bool kAligned>
__device__ uint4 loadEight(const unsigned short* from, int count) {
  if constexpr (kAligned) {
    return count > 0 ? *reinterpret_cast<const uint4*>(from) : uint4{};
  } else {
    Eight eight;
#pragma unroll
    for (int i = 0; i < kEights; ++i) eight.elements[i] = i < count ? from[i] : 0;
    return eight.bits;
  }
}

// On the aligned path two blocks on an SM: one multiplies while the other waits for its tiles.
template <typename T, bool kAligned>
__global__ void __launch_bounds__(kThreads, kAligned ? 2 : 1)
gemmWmmaStaged(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
               float* __restrict__ c, bool wmmaAligned) {
  if constexpr (kMultiplies<T>) {
    // Two pairs of tiles: one is read while the other is written. Afterwards the same memory serves
    // the tiles of C that reach over an edge.
    __shared__ __align__(32) T aTile[2][BM][BK + kPad], bTile[2][BK][BN + kPad];
    static_assert(sizeof aTile >= kThreads / 32 * kWmma * kWmma * sizeof(float),
                  "the tiles of A must have room for one tile of C a warp: a larger BK helps");

    const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
    if (row0 >= m) return;
    const int warp = threadIdx.x / 32, warpRow = warp / kWarpsN * kWarpRows, warpCol = warp % kWarpsN * kWarpCols;

    // What a thread copies: eight neighbours of some rows, always in the same columns of a tile. Beyond
    // M the last row is read in place of nothing: what comes of it is never stored.
    const auto* aBits = reinterpret_cast<const unsigned short*>(a);
    const auto* bBits = reinterpret_cast<const unsigned short*>(b);
    const int aRow = threadIdx.x / (BK / kEights), aCol = threadIdx.x % (BK / kEights) * kEights;
    const int bRow = threadIdx.x / (BN / kEights), bCol = threadIdx.x % (BN / kEights) * kEights;
    const unsigned short* aFrom[kCopiesA];
#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) aFrom[i] = aBits + (long long)min(row0 + aRow + i * kStepA, m - 1) * k + aCol;
    const unsigned short* bFrom = bBits + (long long)bRow * n + col0 + bCol;
    const int bCount = n - col0 - bCol;

    uint4 aNext[kCopiesA], bNext[kCopiesB];
    const auto fetch = [&](int t) {
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i) aNext[i] = loadEight<kAligned>(aFrom[i] + t, k - t - aCol);
#pragma unroll
      for (int i = 0; i < kCopiesB; ++i)
        bNext[i] = loadEight<kAligned>(bFrom + (long long)(i * kStepB) * n, t + bRow + i * kStepB < k ? bCount : 0);
      bFrom += (long long)BK * n;
    };
    const auto keep = [&](int buffer) {
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i) *reinterpret_cast<uint4*>(&aTile[buffer][aRow + i * kStepA][aCol]) = aNext[i];
#pragma unroll
      for (int i = 0; i < kCopiesB; ++i) *reinterpret_cast<uint4*>(&bTile[buffer][bRow + i * kStepB][bCol]) = bNext[i];
    };

    constexpr int kTilesM = kWarpRows / kWmma, kTilesN = kWarpCols / kWmma;
    FragmentC sum[kTilesM][kTilesN];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) nvcuda::wmma::fill_fragment(sum[i][j], 0.0f);

    fetch(0);
    keep(0);
    __syncthreads();
    int buffer = 0;
    for (int t = 0; t < k; t += BK, buffer ^= 1) {
      if (t + BK < k) fetch(t + BK);
#pragma unroll
      for (int d = 0; d < BK; d += kWmma) {
        FragmentA<T> aPart[kTilesM];
        FragmentB<T> bPart[kTilesN];
#pragma unroll
        for (int i = 0; i < kTilesM; ++i)
          nvcuda::wmma::load_matrix_sync(aPart[i], &aTile[buffer][warpRow + i * kWmma][d], BK + kPad);
#pragma unroll
        for (int j = 0; j < kTilesN; ++j)
          nvcuda::wmma::load_matrix_sync(bPart[j], &bTile[buffer][d][warpCol + j * kWmma], BN + kPad);
#pragma unroll
        for (int i = 0; i < kTilesM; ++i)
#pragma unroll
          for (int j = 0; j < kTilesN; ++j) nvcuda::wmma::mma_sync(sum[i][j], aPart[i], bPart[j], sum[i][j]);
      }
      if (t + BK < k) keep(buffer ^ 1);
      __syncthreads();  // the next pair is complete, and nobody reads this one any more
    }

    float* edge = reinterpret_cast<float*>(aTile) + warp * kWmma * kWmma;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i)
#pragma unroll
      for (int j = 0; j < kTilesN; ++j)
        klStoreTile(sum[i][j], c, row0 + warpRow + i * kWmma, col0 + warpCol + j * kWmma, m, n, alpha, beta,
                    wmmaAligned, edge);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRequire16Bit(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    const auto kernel = klRowsAligned(p) ? gemmWmmaStaged<T, true> : gemmWmmaStaged<T, false>;
    kernel<<<klTileGrid(ceilDiv(m, BM), ceilDiv(n, BN)), kThreads, 0, stream>>>(
        m, n, k, p->alpha, static_cast<const T*>(p->a), static_cast<const T*>(p->b), p->beta, p->c, klWmmaAligned(p));
    return cudaGetLastError();
  });
}
