// @rung    11-split-k
// @title   Lab 11: split-K
// @after   05_thread_tile_2d
// @idea    K is split into slices that blocks compute in parallel. Each slice has its own result matrix, and a second kernel adds these matrices
// @expect  wavesPerSm up, dramBytes up, achievedOccupancy up
// @dtype   f32

#include "gemm_common.cuh"

#include <algorithm>

constexpr int BM = 64, BN = 64, BK = 8;  // block tile of C, and its depth in K
constexpr int TM = 8, TN = 8;            // rows and columns per thread

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kRowsA = kThreads / BK;  // rows of the A tile that the block copies in one pass
constexpr int kRowsB = kThreads / BN;  // rows of the B tile that the block copies in one pass

// Computes slice blockIdx.x / tilesN of K. The results of slice s are the s-th m x n matrix in c.
__global__ void __launch_bounds__(kThreads)
gemmLab(int m, int n, int k, int kSlice, int tilesN, float alpha, const float* __restrict__ a,
        const float* __restrict__ b, float beta, float* __restrict__ c) {
  __shared__ float aTile[BM][BK];
  __shared__ float bTile[BK][BN];

  const int row0 = klTileRow() * BM, col0 = blockIdx.x % tilesN * BN;
  if (row0 >= m) return;

  // This block's slice of K is k0 to kEnd - 1. No slice is empty. Only the last slice can have a partial step.
  const int k0 = blockIdx.x / tilesN * kSlice, kEnd = min(k0 + kSlice, k);
  c += (long long)(blockIdx.x / tilesN) * m * n;

  // Beyond M or N, the last row or column is copied. Out-of-range results are never stored.
  const int aCol = threadIdx.x % BK, aRow = threadIdx.x / BK;
  const int bCol = threadIdx.x % BN, bRow = threadIdx.x / BN;
  const float* aNext[BM / kRowsA];
#pragma unroll
  for (int i = 0; i < BM / kRowsA; ++i)
    aNext[i] = a + (long long)min(row0 + aRow + i * kRowsA, m - 1) * k + k0 + aCol;
  const float* bNext = b + (long long)(k0 + bRow) * n + min(col0 + bCol, n - 1);

  const int row = threadIdx.x / (BN / TN) * TM, col = threadIdx.x % (BN / TN) * TN;
  float sum[TM][TN] = {};

  for (int t = k0; t < kEnd; t += BK) {
#pragma unroll
    for (int i = 0; i < BM / kRowsA; ++i) {
      aTile[aRow + i * kRowsA][aCol] = t + aCol < k ? *aNext[i] : 0.0f;
      aNext[i] += BK;
    }
#pragma unroll
    for (int i = 0; i < BK / kRowsB; ++i) {
      const int r = bRow + i * kRowsB;
      bTile[r][bCol] = t + r < k ? bNext[(long long)(i * kRowsB) * n] : 0.0f;
    }
    bNext += (long long)BK * n;
    __syncthreads();

#pragma unroll
    for (int d = 0; d < BK; ++d) {
      float aValues[TM], bValues[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) aValues[i] = aTile[row + i][d];
#pragma unroll
      for (int j = 0; j < TN; ++j) bValues[j] = bTile[d][col + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += aValues[i] * bValues[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = row0 + row + i;
    if (r >= m) break;
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int s = col0 + col + j;
      if (s < n) klStore(&c[(long long)r * n + s], sum[i][j], alpha, beta);
    }
  }
}

// Computes C = alpha * (sum of the partial results) + beta * C.
__global__ void __launch_bounds__(256)
addParts(long long count, int slices, float alpha, const float* __restrict__ partials, float beta,
         float* __restrict__ c) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    float sum = 0.0f;
#pragma unroll 4
    for (int s = 0; s < slices; ++s) sum += partials[s * count + i];
    klStore(&c[i], sum, alpha, beta);
  }
}

struct Split {
  int slices, length;
};

// Chooses enough slices for a few blocks per SM, because the two warps of a block alone hide little latency.
Split chooseSplit(const KlGemm* p) {
  constexpr int kBlocksPerSm = 4, kMinLength = 32;  // in shorter slices, partial results would cost more than they save
  int device = 0, sms = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  const int k = int(p->k);
  const long long tiles = (long long)ceilDiv(int(p->m), BM) * ceilDiv(int(p->n), BN);
  const long long wanted = std::max<long long>(1, sms * kBlocksPerSm / tiles);
  const int slices = int(std::min<long long>(wanted, std::max(1, k / kMinLength)));
  const int length = ceilDiv(ceilDiv(k, slices), BK) * BK;
  return {ceilDiv(k, length), length};  // omits slices at the end that rounding left empty
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) { return klRequireF32(p); }

extern "C" size_t kl_workspace_bytes(const KlGemm* p) {
  const int slices = chooseSplit(p).slices;
  return slices == 1 ? 0 : size_t(slices) * p->m * p->n * sizeof(float);
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const Split split = chooseSplit(p);
  const bool isSplit = split.slices > 1;
  float* results = isSplit ? static_cast<float*>(p->workspace) : p->c;

  const int tilesN = ceilDiv(n, BN);
  const dim3 grid = klTileGrid(ceilDiv(m, BM), tilesN * split.slices);
  gemmLab<<<grid, kThreads, 0, stream>>>(
      m, n, k, split.length, tilesN, isSplit ? 1.0f : p->alpha, static_cast<const float*>(p->a),
      static_cast<const float*>(p->b), isSplit ? 0.0f : p->beta, results);
  if (!isSplit) return cudaGetLastError();

  const long long count = p->m * p->n;
  const unsigned blocks = unsigned(std::min<long long>((count + 255) / 256, 1 << 20));
  addParts<<<blocks, 256, 0, stream>>>(count, split.slices, p->alpha, results, p->beta, p->c);
  return cudaGetLastError();
}
