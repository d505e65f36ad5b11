// @rung    53_wmma_staged
// @title   WMMA through shared memory
// @after   52_wmma_warp_tile
// @idea    a block copies its tiles of A and B into shared memory once for all of its warps. The next tiles load while the current ones are multiplied. Rows are padded by 16 bytes, so reads have no bank conflicts
// @expect  sharedLoads up
// @param   BM 128 {64,128,256}
// @param   BN 128 {64,128,256}
// @param   BK 32 {16,32,64}
// @param   WARP_N 64 {32,64}
// @param   STAGES 4 {2,3,4,5}
// @dtype   bf16 f16
// @requires sm_80

#include "tensor_common.cuh"

constexpr int kWarpRows = 64, kWarpCols = WARP_N;  // the part of C in a warp's registers
constexpr int kWarpsN = BN / kWarpCols, kThreads = BM / kWarpRows * kWarpsN * 32;
constexpr int kPad = 8;  // 8 elements are 16 bytes
constexpr int kStrideA = BK + kPad, kStrideB = BN + kPad;
constexpr int kStageA = BM * kStrideA, kStage = kStageA + BK * kStrideB;  // elements
constexpr int kSharedBytes = STAGES * kStage * 2;
// Limits the registers so that two blocks fit on an SM. One block multiplies while the other waits for its tiles.
constexpr int kBlocksPerSm = kThreads * WARP_N <= 8192 && 2 * kSharedBytes <= 224 * 1024 ? 2 : 1;

static_assert(BM % kWarpRows == 0 && BN % kWarpCols == 0, "BM must be a multiple of 64 and BN of WARP_N, the size of a warp tile");
static_assert(kThreads * WARP_N <= 16384, "BM * BN must be at most 32768: the sums of C fill half of the registers");
static_assert(kSharedBytes <= 227 * 1024, "STAGES tiles of BM x BK and BK x BN must fit into the 227 KiB of a block");
static_assert(kStage * 2 >= kThreads / 32 * kWmma * kWmma * 4, "a stage must have room for one tile of C per warp");

// Starts copying 16 bytes into shared memory, or writes zeros if `inside` is false.
__device__ inline void copyAsync(uint32_t to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

// For a BF16 tile, nvcc emits generic loads, which take the global-memory path even if the tile is in shared memory.
// FP16 tiles have no such problem. BF16 tiles are therefore loaded with explicit instructions.
__device__ inline void loadTile(FragmentA<__half>& tile, const __half* from) {
  nvcuda::wmma::load_matrix_sync(tile, from, kStrideA);
}

__device__ inline void loadTile(FragmentB<__half>& tile, const __half* from) {
  nvcuda::wmma::load_matrix_sync(tile, from, kStrideB);
}

#define KL_LOAD_BF16(OPERAND, STRIDE)                                                                     \
  uint32_t* parts = reinterpret_cast<uint32_t*>(tile.x);                                                  \
  static_assert(sizeof tile.x == 16, "a BF16 tile must take four registers per thread");                        \
  asm volatile("wmma.load." OPERAND ".sync.aligned.row.m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;" \
               : "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]), "=r"(parts[3])                           \
               : "r"(klSharedAddress(from)), "r"(STRIDE)                                                  \
               : "memory")

__device__ inline void loadTile(FragmentA<__nv_bfloat16>& tile, const __nv_bfloat16* from) { KL_LOAD_BF16("a", kStrideA); }
__device__ inline void loadTile(FragmentB<__nv_bfloat16>& tile, const __nv_bfloat16* from) { KL_LOAD_BF16("b", kStrideB); }

template <typename T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
gemm(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
               float* __restrict__ c, bool wmmaAligned) {
  extern __shared__ __align__(128) unsigned char shared[];
  T* stages = reinterpret_cast<T*>(shared);
  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;
  const int warp = threadIdx.x / 32, warpRow = warp / kWarpsN * kWarpRows, warpCol = warp % kWarpsN * kWarpCols;

  // A thread copies eight adjacent elements of several rows, always in the same columns of a tile. Past the edge of C,
  // the last row of A and the first columns of B are read instead. Results outside C are never stored. Elements past
  // K must be zero in both A and B, because a NaN in either would propagate to the sum.
  constexpr int kEightsA = BK / 8, kEightsB = BN / 8, kStepA = kThreads / kEightsA, kStepB = kThreads / kEightsB;
  static_assert(kThreads % kEightsA == 0 && BM % kStepA == 0 && kThreads % kEightsB == 0 && BK % kStepB == 0,
                "the BM * BN / (64 * WARP_N) warps must copy whole rows of the tiles: increase BK");
  const int aRow = threadIdx.x / kEightsA, aCol = threadIdx.x % kEightsA * 8;
  const int bRow = threadIdx.x / kEightsB, bCol = threadIdx.x % kEightsB * 8;
  const T* bFrom = b + (col0 + bCol < n ? col0 + bCol : 0);
  const auto copyStage = [&](int step) {
    const int t = step * BK;
    if (t >= k) return;
    const uint32_t aTo = klSharedAddress(stages + step % STAGES * kStage), bTo = aTo + kStageA * 2;
    const bool aInside = t + aCol < k;
#pragma unroll
    for (int i = 0; i < BM; i += kStepA)
      copyAsync(aTo + ((aRow + i) * kStrideA + aCol) * 2,
                a + (long long)min(row0 + aRow + i, m - 1) * k + (aInside ? t + aCol : 0), aInside);
#pragma unroll
    for (int i = 0; i < BK; i += kStepB) {
      const bool bInside = t + bRow + i < k;
      copyAsync(bTo + ((bRow + i) * kStrideB + bCol) * 2, bFrom + (long long)(bInside ? t + bRow + i : 0) * n, bInside);
    }
  };
  // Ends a group of copies. Empty groups at the end keep the number of pending groups constant.
  const auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };

  constexpr int kTilesM = kWarpRows / kWmma, kTilesN = kWarpCols / kWmma;
  FragmentC sum[kTilesM][kTilesN];
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) nvcuda::wmma::fill_fragment(sum[i][j], 0.0f);

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

    const T* aTile = stages + step % STAGES * kStage;
    const T* bTile = aTile + kStageA;
#pragma unroll
    for (int d = 0; d < BK; d += kWmma) {
      FragmentA<T> aPart[kTilesM];
      FragmentB<T> bPart[kTilesN];
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
        loadTile(aPart[i], aTile + (warpRow + i * kWmma) * kStrideA + d);
#pragma unroll
      for (int j = 0; j < kTilesN; ++j)
        loadTile(bPart[j], bTile + d * kStrideB + warpCol + j * kWmma);
#pragma unroll
      for (int i = 0; i < kTilesM; ++i)
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) nvcuda::wmma::mma_sync(sum[i][j], aPart[i], bPart[j], sum[i][j]);
    }
  }
  __syncthreads();  // from here on, the stages' memory holds the tiles of C that cross an edge

  float* edge = reinterpret_cast<float*>(shared) + warp * kWmma * kWmma;
#pragma unroll
  for (int i = 0; i < kTilesM; ++i)
#pragma unroll
    for (int j = 0; j < kTilesN; ++j)
      klStoreTile(sum[i][j], c, row0 + warpRow + i * kWmma, col0 + warpCol + j * kWmma, m, n, alpha, beta, wmmaAligned,
                  edge);
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) {
  if (const char* reason = klRequire16Bit(p, sm)) return reason;
  int device = 0, room = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return "the shared memory of this GPU could not be read";
  return room < kSharedBytes ? "its stages need more shared memory than a block has on this GPU: lower STAGES, BM or BN"
                             : nullptr;
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    // Asynchronous copies of 16 bytes need aligned rows; other shapes use the slow kernel.
    if (!klRowsAligned(p)) return klLaunchAnyShape<T>(p, stream);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    const cudaError_t status =
        cudaFuncSetAttribute(gemm<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (status != cudaSuccess) return status;
    gemm<T><<<klTileGrid(ceilDiv(m, BM), ceilDiv(n, BN)), kThreads, kSharedBytes, stream>>>(
        m, n, k, p->alpha, static_cast<const T*>(p->a), static_cast<const T*>(p->b), p->beta, p->c, klWmmaAligned(p));
    return cudaGetLastError();
  });
}
