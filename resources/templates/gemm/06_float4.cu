// @rung    06_float4
// @title   128-bit access
// @after   05_thread_tile_2d
// @idea    global memory is read and written four floats at a time, and A is transposed on its way into shared memory so that what a thread needs lies side by side there, in an order free of bank conflicts
// @expect  sharedLoads same, fmaUtilization up, sharedLoadBankConflicts down, sharedStoreBankConflicts up
// @param   BM 128 {64,128}
// @param   BN 128 {64,128}
// @param   BK 8 {8,16}
// @param   TM 8 {4,8}
// @param   TN 8 {4,8}
// @dtype   f32

// The count of shared loads hardly moves: in the rung before, the compiler had already fused a
// thread's neighbouring reads into 128-bit ones. What moves is their bank conflicts.

#include "gemm_common.cuh"

#include <stdint.h>

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kRowsA = kThreads / (BK / 4);  // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / (BN / 4);  // rows of the B tile that it copies in one pass
constexpr int kGroupStride = BN / (TN / 4);  // columns from one group of four of a thread to its next

static_assert(BM % TM == 0, "BM must be a multiple of TM");
static_assert(BN % TN == 0, "BN must be a multiple of TN");
static_assert(BK % 4 == 0 && TM % 4 == 0 && TN % 4 == 0,
              "BK, TM and TN must be multiples of 4: the floats of a 128-bit access");
static_assert(kThreads <= 1024, "(BM / TM) * (BN / TN) must be at most 1024: it is the threads of a block");
static_assert(kThreads % 32 == 0, "(BM / TM) * (BN / TN) must be a multiple of 32: whole warps");
static_assert(kThreads % (BK / 4) == 0 && kRowsA <= BM && BM % kRowsA == 0,
              "BM * BK / 4 must be a multiple of the (BM / TM) * (BN / TN) threads that copy the A tile: "
              "a larger BK helps");
static_assert(kThreads % (BN / 4) == 0 && kRowsB <= BK && BK % kRowsB == 0,
              "BK * BN / 4 must be a multiple of the (BM / TM) * (BN / TN) threads that copy the B "
              "tile, which must cover whole rows of it: a larger BK helps");

// Four neighbouring floats of a row of `length`, from index i on; zeros where the row has ended.
// With kAligned the row is 16-byte aligned and its length a multiple of 4, so four neighbours are
// all inside or all outside.
template <bool kAligned>
__device__ float4 loadFour(const float* row, int i, int length) {
  if (kAligned) return i < length ? *reinterpret_cast<const float4*>(row + i) : float4{};
  return make_float4(i < length ? row[i] : 0.0f, i + 1 < length ? row[i + 1] : 0.0f,
                     i + 2 < length ? row[i + 2] : 0.0f, i + 3 < length ? row[i + 3] : 0.0f);
}

// At least 512 threads on an SM, so that one block computes while another waits for its tiles.
template <bool kAligned>
__global__ void __launch_bounds__(kThreads, kThreads < 512 ? 512 / kThreads : 1)
gemmFloat4(int m, int n, int k, float alpha, const float* __restrict__ a,
           const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr int kCopiesA = BM / kRowsA, kCopiesB = BK / kRowsB;
  __shared__ __align__(16) float aTile[BK][BM];  // transposed: a column of A is a row here
  __shared__ __align__(16) float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;

  // Which four elements a thread copies.
  const int aCol = threadIdx.x % (BK / 4) * 4, aRow = threadIdx.x / (BK / 4);
  const int bCol = threadIdx.x % (BN / 4) * 4, bRow = threadIdx.x / (BN / 4);

  // Beyond M the last row is read in place of nothing: what comes of it is never stored. The same
  // goes for four columns beyond N when n is a multiple of 4.
  const float* aRows[kCopiesA];
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    aRows[i] = a + (long long)min(row0 + aRow + i * kRowsA, m - 1) * k;
  const int bFrom = kAligned ? min(col0 + bCol, n - 4) : col0 + bCol;
  const float* bNext = b + (long long)bRow * n;

  // Which elements a thread computes: TM rows in one piece, and its columns in groups of four that
  // lie kGroupStride apart. So the groups of neighbouring threads touch, and their 128-bit reads of
  // B fall into different banks; eight columns in one piece would make every such read a two-way
  // conflict.
  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * 4;
  float sum[TM][TN] = {};

  for (int t = 0; t < k; t += BK) {
    float4 aFour[kCopiesA], bFour[kCopiesB];
    if (kAligned && t + BK <= k) {  // a whole tile of K: nothing to check
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i)
        aFour[i] = *reinterpret_cast<const float4*>(aRows[i] + aCol + t);
#pragma unroll
      for (int i = 0; i < kCopiesB; ++i)
        bFour[i] = *reinterpret_cast<const float4*>(bNext + (long long)(i * kRowsB) * n + bFrom);
    } else {
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i) aFour[i] = loadFour<kAligned>(aRows[i], aCol + t, k);
#pragma unroll
      for (int i = 0; i < kCopiesB; ++i)
        bFour[i] = loadFour<kAligned>(bNext + (long long)(i * kRowsB) * n, bFrom,
                                      t + bRow + i * kRowsB < k ? n : 0);
    }
    bNext += (long long)BK * n;

#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) {
      const int r = aRow + i * kRowsA;
      aTile[aCol + 0][r] = aFour[i].x;
      aTile[aCol + 1][r] = aFour[i].y;
      aTile[aCol + 2][r] = aFour[i].z;
      aTile[aCol + 3][r] = aFour[i].w;
    }
#pragma unroll
    for (int i = 0; i < kCopiesB; ++i)
      *reinterpret_cast<float4*>(&bTile[bRow + i * kRowsB][bCol]) = bFour[i];
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4)
        *reinterpret_cast<float4*>(&aValues[i]) = *reinterpret_cast<const float4*>(&aTile[d][row + i]);
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&bValues[j]) =
            *reinterpret_cast<const float4*>(&bTile[d][col + j / 4 * kGroupStride]);
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aValues[i] * bValues[j];
    }
    __syncthreads();  // nobody overwrites a tile that another warp still reads
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row0 + row + i;
    if (r >= m) break;
    float* cRow = c + (long long)r * n;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int s = col0 + col + j / 4 * kGroupStride;
      if (kAligned) {
        if (s < n)
          klStore(reinterpret_cast<float4*>(&cRow[s]),
                  make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]), alpha, beta);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l)
          if (s + l < n) klStore(&cRow[s + l], sum[i][j + l], alpha, beta);
      }
    }
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const dim3 grid = klTileGrid(ceilDiv(m, BM), ceilDiv(n, BN));

  // A 128-bit access needs a 16-byte aligned address in every row. Elsewhere the same kernel copies
  // from and to global memory element by element, and still reads shared memory four at a time.
  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool aligned = k % 4 == 0 && n % 4 == 0 &&
                       (address(p->a) | address(p->b) | address(p->c)) % 16 == 0;
  const auto kernel = aligned ? gemmFloat4<true> : gemmFloat4<false>;
  kernel<<<grid, kThreads, 0, stream>>>(m, n, k, p->alpha, static_cast<const float*>(p->a),
                                        static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
