// @rung    54_mma_sync
// @title   mma.sync and a copy pipeline
// @after   53_wmma_staged
// @idea    the kernel replaces WMMA with lower-level instructions. cp.async copies tiles several stages ahead, and ldmatrix reads them from a swizzled layout without padding. The next step's fragments load while mma.sync computes the current step
// @expect  sharedLoads down, sharedLoadBankConflicts down, tensorUtilization up
// @param   BM 256 {64,128,256}
// @param   BN 128 {64,128,256}
// @param   STAGES 4 {2,3,4,5}
// @dtype   bf16 f16
// @requires sm_80

#include "tensor_common.cuh"

constexpr int kDepth = 64;                      // elements of K per stage: 128 bytes of a row of A
constexpr int kWarpRows = 64, kWarpCols = 64;   // the part of C in a warp's registers
constexpr int kParts = kWarpRows / 16;
constexpr int kWarpsN = BN / kWarpCols, kThreads = BM / kWarpRows * kWarpsN * 32;
constexpr int kBytesA = BM * kDepth * 2, kBytesB = kDepth * BN * 2, kStageBytes = kBytesA + kBytesB;
constexpr int kSharedBytes = STAGES * kStageBytes;
constexpr int kCopiesA = kBytesA / 16 / kThreads, kCopiesB = kBytesB / 16 / kThreads;
constexpr int kBlocksPerSm = kThreads <= 128 && 2 * kSharedBytes <= 220 * 1024 ? 2 : 1;

static_assert(BM % kWarpRows == 0 && BN % kWarpCols == 0, "BM and BN must be multiples of 64, the size of a warp tile");
static_assert(kThreads <= 256, "BM * BN must be at most 32768: at 64 x 64 elements per warp, registers suffice for 8 warps");
static_assert(STAGES >= 2, "STAGES must be at least 2: one stage is filled while another is used");
static_assert(kSharedBytes <= 227 * 1024, "STAGES * (BM + BN) * 128 bytes must fit into the 227 KiB of a block");

// Returns the byte offset of eight elements in a stage. `eight` is the index of this group in its row. The index is
// XORed with the row, so the eight rows that ldmatrix reads together are in different banks.
__device__ inline uint32_t placeA(int row, int eight) { return row * (kDepth * 2) + ((eight ^ (row & 7)) << 4); }
__device__ inline uint32_t placeB(int row, int eight) { return row * (BN * 2) + ((eight ^ (row & 7)) << 4); }

// Starts copying 16 bytes into shared memory, or writes zeros if `inside` is false.
__device__ inline void copyAsync(uint32_t to, const void* from, bool inside = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

template <typename T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
gemm(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
            float* __restrict__ c) {
  extern __shared__ __align__(128) unsigned char shared[];
  const uint32_t stages = klSharedAddress(shared);
  const int row0 = klTileRow() * BM, col0 = blockIdx.x * BN;
  if (row0 >= m) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warpRow = warp / kWarpsN * kWarpRows, warpCol = warp % kWarpsN * kWarpCols;

  // The 16 bytes that a thread copies: always the same column of each tile, in rows a fixed distance apart. Past
  // the edge of C, the last row of A and the first columns of B are read instead. Out-of-range results are never
  // stored.
  constexpr int kEightsA = kDepth / 8, kEightsB = BN / 8, kStepA = kThreads / kEightsA, kStepB = kThreads / kEightsB;
  static_assert(kStepA % 8 == 0 && kThreads % kEightsB == 0, "the swizzle of a thread's copies must not change");
  const int aRow = threadIdx.x / kEightsA, aEight = threadIdx.x % kEightsA;
  const int bRow = threadIdx.x / kEightsB, bEight = threadIdx.x % kEightsB;
  const T* aFrom[kCopiesA];
#pragma unroll
  for (int i = 0; i < kCopiesA; ++i)
    aFrom[i] = a + (long long)min(row0 + aRow + i * kStepA, m - 1) * k + aEight * 8;
  const T* bFrom = b + (long long)bRow * n + (col0 + bEight * 8 < n ? col0 + bEight * 8 : 0);

  const int steps = (k + kDepth - 1) / kDepth;
  const auto copyStage = [&](int step) {
    if (step >= steps) return;
    const uint32_t aTo = stages + step % STAGES * kStageBytes, bTo = aTo + kBytesA;
    const int t = step * kDepth;
    const T* bStep = bFrom + (long long)t * n;
    if (t + kDepth <= k) {
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i) copyAsync(aTo + placeA(aRow, aEight) + i * kStepA * kDepth * 2, aFrom[i] + t);
#pragma unroll
      for (int i = 0; i < kCopiesB; ++i)
        copyAsync(bTo + placeB(bRow + i * kStepB, bEight), bStep + (long long)(i * kStepB) * n);
    } else {
      // Elements past K must be zero in both A and B, because a NaN in either would propagate to the sum.
#pragma unroll
      for (int i = 0; i < kCopiesA; ++i) {
        const bool inside = t + aEight * 8 < k;
        copyAsync(aTo + placeA(aRow, aEight) + i * kStepA * kDepth * 2, inside ? aFrom[i] + t : a, inside);
      }
#pragma unroll
      for (int i = 0; i < kCopiesB; ++i) {
        const bool inside = t + bRow + i * kStepB < k;
        copyAsync(bTo + placeB(bRow + i * kStepB, bEight), inside ? bStep + (long long)(i * kStepB) * n : b, inside);
      }
    }
  };
  // Ends a group of copies. Empty groups at the end keep the number of pending groups constant.
  const auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };

  // Fragments of two steps of 16 along K: one step is multiplied while the next one loads.
  uint32_t aPart[2][kWarpRows / 16][4], bPart[2][kWarpCols / 16][4];
  float sum[kWarpRows / 16][kWarpCols / 8][4] = {};
  // Loads a quarter of the fragments: 16 rows of A and 16 columns of B.
  const auto loadPart = [&](int buffer, uint32_t stage, int d, int i) {
    klLoadMatrices(aPart[buffer][i], stage + placeA(warpRow + i * 16 + lane % 16, d * 2 + lane / 16));
    klLoadMatricesTransposed(bPart[buffer][i],
                             stage + kBytesA + placeB(d * 16 + lane % 16, (warpCol + i * 16) / 8 + lane / 16));
  };

#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    copyStage(s);
    commit();
  }
  asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kParts; ++i) loadPart(0, stages, 0, i);

  constexpr int kSteps = kDepth / 16;
  for (int step = 0; step < steps; ++step) {
    const uint32_t stage = stages + step % STAGES * kStageBytes;
    const uint32_t nextStage = stages + (step + 1) % STAGES * kStageBytes;
#pragma unroll
    for (int d = 0; d < kSteps; ++d) {
      if (d == kSteps - 1) {
        // The last fragments of this stage are in registers. Every thread waits until the next stage has arrived. After
        // this barrier, no thread reads the stage, so copyStage may overwrite it.
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
      }
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        // Loads alternate with products, so neither waits for the other. After the last step, the loaded values are not
        // used.
        loadPart((d + 1) % 2, d == kSteps - 1 ? nextStage : stage, (d + 1) % kSteps, i);
#pragma unroll
        for (int j = 0; j < kWarpCols / 8; ++j)
          klMmaSync<T>(sum[i][j], aPart[d % 2][i], bPart[d % 2][j / 2][j % 2 * 2], bPart[d % 2][j / 2][j % 2 * 2 + 1]);
      }
      if (d == 0) {  // the threads finished the overwritten stage at the end of the previous step
        copyStage(step + STAGES - 1);
        commit();
      }
    }
  }

  klStoreFragments(sum, c, row0 + warpRow, col0 + warpCol, m, n, alpha, beta);
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
        m, n, k, p->alpha, static_cast<const T*>(p->a), static_cast<const T*>(p->b), p->beta, p->c);
    return cudaGetLastError();
  });
}
