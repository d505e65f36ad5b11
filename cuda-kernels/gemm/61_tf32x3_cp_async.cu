// @rung    61_tf32x3_cp_async
// @title   3xTF32 with a copy pipeline
// @after   60_tf32x3
// @idea    cp.async copies tiles several stages ahead of the tensor cores, which hides the memory latency
// @expect  registersPerThread up, achievedOccupancy down, sharedLoads down
// @param   BM 128 {64,128,256}
// @param   BN 128 {64,128,256}
// @param   BK 16 {16,32}
// @param   WARP_N 64 {32,64}
// @param   STAGES 4 {2,3,4,5}
// @param   GROUP 8 {1,4,8,16}
// @dtype   f32
// @requires sm_80

#include "tf32_common.cuh"

constexpr int kWarpRows = 64, kWarpCols = WARP_N;  // the part of C in a warp's registers
constexpr int kWarpsN = BN / kWarpCols, kThreads = BM / kWarpRows * kWarpsN * 32;
constexpr int kStrideA = BK + 4, kStrideB = BN + 8;  // in elements; see klLoadPartA
constexpr int kStageA = BM * kStrideA, kStage = kStageA + BK * kStrideB;
constexpr int kSharedBytes = STAGES * kStage * sizeof(float);
constexpr int kBlocksPerSm = kThreads * WARP_N <= 8192 && 2 * kSharedBytes <= 224 * 1024 ? 2 : 1;

static_assert(BM % kWarpRows == 0 && BN % kWarpCols == 0, "BM must be a multiple of 64 and BN of WARP_N, the size of a warp tile");
static_assert(kThreads * WARP_N <= 16384, "BM * BN must be at most 32768: the sums of C fill half of the registers");
static_assert(kSharedBytes <= 227 * 1024, "STAGES tiles of BM x BK and BK x BN must fit into the 227 KiB of a block");

// Starts copying kBytes into shared memory, or writes zeros if `inside` is false.
template <int kBytes>
__device__ inline void copyAsync(uint32_t to, const float* from, bool inside) {
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(inside ? 4 : 0) : "memory");
}

// Each copy moves kWide elements: 4, or 1 if rows are unaligned.
template <int kWide>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b, float beta,
                float* __restrict__ c) {
  extern __shared__ __align__(16) float stages[];

  // Blocks process bands of GROUP tile rows, column by column within a band, so that concurrent blocks share
  // rows of A and columns of B in L2.
  const int rows = ceilDiv(m, BM), cols = ceilDiv(n, BN);
  const int band = blockIdx.x / (GROUP * cols), inBand = blockIdx.x - band * GROUP * cols;
  const int bandRows = min(GROUP, rows - band * GROUP);
  const int row0 = (band * GROUP + inBand % bandRows) * BM, col0 = inBand / bandRows * BN;

  const int warp = threadIdx.x / 32;
  const int warpRow = warp / kWarpsN * kWarpRows, warpCol = warp % kWarpsN * kWarpCols;

  // Past the edge of C, the last row of A and the first column of B are read instead. Out-of-range results are never
  // stored. Elements past K must be zero in both A and B.
  constexpr int kPerRowA = BK / kWide, kPerRowB = BN / kWide;
  static_assert(BM * kPerRowA % kThreads == 0 && BK * kPerRowB % kThreads == 0, "the copies must divide evenly among the threads");
  const auto copyStage = [&](int step) {
    const int t = step * BK;
    if (t >= k) return;
    float* stage = stages + step % STAGES * kStage;
    constexpr int kUnroll = kWide == 4 ? 8 : 1;  // keeping sixteen addresses in registers would cause spills
#pragma unroll kUnroll
    for (int i = 0; i < BM * kPerRowA / kThreads; ++i) {
      const int e = threadIdx.x + i * kThreads, row = e / kPerRowA, col = e % kPerRowA * kWide;
      const bool inside = t + col < k;
      copyAsync<kWide * 4>(klSharedAddress(&stage[row * kStrideA + col]),
                           a + (long long)min(row0 + row, m - 1) * k + (inside ? t + col : 0), inside);
    }
#pragma unroll kUnroll
    for (int i = 0; i < BK * kPerRowB / kThreads; ++i) {
      const int e = threadIdx.x + i * kThreads, row = e / kPerRowB, col = e % kPerRowB * kWide;
      const bool inside = t + row < k;
      copyAsync<kWide * 4>(klSharedAddress(&stage[kStageA + row * kStrideB + col]),
                           b + (long long)(inside ? t + row : 0) * n + (col0 + col < n ? col0 + col : 0), inside);
    }
  };
  // Ends a group of copies. Empty groups at the end keep the number of pending groups constant.
  const auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };

  float sum[kWarpRows / 16][kWarpCols / 8][4] = {};
  const int steps = ceilDiv(k, BK);
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    copyStage(s);
    commit();
  }
  for (int step = 0; step < steps; ++step) {
    // This stage has arrived for every thread, and no thread still reads the stage that is filled next.
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    copyStage(step + STAGES - 1);
    commit();

    const float* aTile = stages + step % STAGES * kStage;
    const float* bTile = aTile + kStageA;
#pragma unroll
    for (int d = 0; d < BK; d += 8) {
      Tf32PartB bPart[kWarpCols / 8];
#pragma unroll
      for (int j = 0; j < kWarpCols / 8; ++j) bPart[j] = klLoadPartB(&bTile[d * kStrideB + warpCol + j * 8], kStrideB);
#pragma unroll
      for (int i = 0; i < kWarpRows / 16; ++i)
        klMultiplyThree(sum[i], klLoadPartA(&aTile[(warpRow + i * 16) * kStrideA + d], kStrideA), bPart);
    }
  }
  klStoreTf32(sum, c, row0 + warpRow, col0 + warpCol, m, n, alpha, beta);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) {
  if (const char* reason = klRequireF32(p)) return reason;
  int device = 0, room = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return "the shared memory of this GPU could not be read";
  if (room < kSharedBytes)
    return "its stages need more shared memory than a block has on this GPU: lower STAGES, BM, BN or BK";
  return (p->m + BM - 1) / BM * ((p->n + BN - 1) / BN) > 0x7fffffffLL ? "it has more tiles than a grid has blocks" : nullptr;
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const auto kernel = klRowsOfFour(p) ? gemm<4> : gemm<1>;
  const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (status != cudaSuccess) return status;
  kernel<<<ceilDiv(m, BM) * ceilDiv(n, BN), kThreads, kSharedBytes, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
