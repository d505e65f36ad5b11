// @rung    72_mma_sync_nt
// @title   mma.sync and a copy pipeline
// @after   71_shared_tile_nt
// @idea    cp.async copies tiles several stages ahead, and ldmatrix reads them from a swizzled layout. The next step's fragments load while mma.sync computes the current step. K is contiguous in A and B, so one layout fits both matrices and every type
// @param   BM 256 {64,128,256}
// @param   BN 128 {64,128,256}
// @param   STAGES 4 {2,3,4,5}
// @dtype   bf16 e4m3
// @requires sm_80

#include "nt_common.cuh"

constexpr int kRowBytes = 128;                 // bytes along K per stage
constexpr int kWarpRows = 64, kWarpCols = 64;  // the part of C in a warp's registers
constexpr int kParts = kWarpRows / 16;
constexpr int kWarpsN = BN / kWarpCols, kThreads = BM / kWarpRows * kWarpsN * 32;
constexpr int kBytesA = BM * kRowBytes, kStageBytes = (BM + BN) * kRowBytes, kSharedBytes = STAGES * kStageBytes;
constexpr int kRowsAtOnce = kThreads / 8;  // rows that all threads copy together, with eight threads per row

static_assert(kParts == kWarpCols / 16, "as many fragments of B as of A");
static_assert(BM % kWarpRows == 0 && BN % kWarpCols == 0, "BM and BN must be multiples of 64: the tile of a warp");
static_assert(kThreads >= 64, "BM * BN must be at least 8192: rows that are copied at once come in eights");
static_assert(kThreads <= 256, "BM * BN must be at most 32768: 64 x 64 elements a warp leave registers for 8 warps");
static_assert(STAGES >= 2, "STAGES must be at least 2: one stage is filled while another is used");
static_assert(kSharedBytes <= 227 * 1024, "STAGES * (BM + BN) * 128 bytes must fit into the 227 KiB of a block");

// True if the target can multiply this type. If not, the kernel body is empty, and kl_unsupported() prevents its
// launch.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
template <typename T>
constexpr bool kMultiplies = !kIsE4m3<T>;
#else
template <typename T>
constexpr bool kMultiplies = true;
#endif

// Returns the byte offset of 16 bytes in a tile. `sixteen` is the index of the 16 bytes in their row. The index is
// XORed with the row, so the eight rows that ldmatrix reads together are in different banks.
__device__ inline uint32_t place(int row, int sixteen) { return row * kRowBytes + ((sixteen ^ (row & 7)) << 4); }

// Starts copying 16 bytes into shared memory, or writes zeros if `inside` is false.
__device__ inline void copyAsync(uint32_t to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

__device__ inline void loadMatrices(uint32_t (&part)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(from)
               : "memory");
}

#define KL_MMA(SHAPE, TYPE)                                                                       \
  asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE                            \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                   \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

// Multiplies 32 bytes along K (16 elements of 16 bits, or 32 elements of 8 bits). A register holds four bytes of a row.
template <typename T>
__device__ inline void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (kIsE4m3<T>) KL_MMA("m16n8k32", "e4m3");
  else KL_MMA("m16n8k16", "bf16");
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 1)
gemm(int m, int n, int k, float scale, const T* __restrict__ a, const T* __restrict__ b,
              __nv_bfloat16* __restrict__ c) {
  if constexpr (kMultiplies<T>) {
    constexpr int kDepth = kRowBytes / sizeof(T), kSixteen = 16 / sizeof(T);  // elements
    extern __shared__ __align__(128) unsigned char shared[];
    const uint32_t stages = klSharedAddress(shared);
    const int row0 = klGridRow() * BM, col0 = blockIdx.x * BN;
    if (row0 >= m) return;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warpRow = warp / kWarpsN * kWarpRows, warpCol = warp % kWarpsN * kWarpCols;
    const int steps = (k + kDepth - 1) / kDepth;

    // A thread copies the same 16-byte column of every kRowsAtOnce-th row, for A and B.
    const int copyRow = threadIdx.x / 8, copyCol = threadIdx.x % 8 * kSixteen;
    const uint32_t copyTo = stages + place(copyRow, threadIdx.x % 8);
    const T* const aFrom = a + (long long)(row0 + copyRow) * k + copyCol;
    const T* const bFrom = b + (long long)(col0 + copyRow) * k + copyCol;
    const int rowsOfA = m - row0 - copyRow, rowsOfB = n - col0 - copyRow;  // number of rows from copyRow to the end
    const auto copyStage = [&](int step) {
      const int depth = step * kDepth;
      const uint32_t to = copyTo + step % STAGES * kStageBytes;
      const bool deep = depth + copyCol < k;
#pragma unroll
      for (int i = 0; i < BM / kRowsAtOnce; ++i) {
        const bool inside = deep && i * kRowsAtOnce < rowsOfA;
        copyAsync(to + i * kRowsAtOnce * kRowBytes, inside ? aFrom + (long long)i * kRowsAtOnce * k + depth : a, inside);
      }
#pragma unroll
      for (int i = 0; i < BN / kRowsAtOnce; ++i) {
        const bool inside = deep && i * kRowsAtOnce < rowsOfB;
        copyAsync(to + kBytesA + i * kRowsAtOnce * kRowBytes, inside ? bFrom + (long long)i * kRowsAtOnce * k + depth : a, inside);
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float sum[kParts][kWarpCols / 8][4] = {};
    // Fragments are loaded one step ahead, except for FP8. Hopper has no mma.sync for FP8, so the compiler converts
    // each FP8 fragment into two FP16 fragments. The converted fragments need the registers of the second set.
    constexpr bool kAhead = !kIsE4m3<T>;
    uint32_t aPart[1 + kAhead][kParts][4], bPart[1 + kAhead][kWarpCols / 16][4];
    const auto loadA = [&](int buffer, uint32_t stage, int d, int i) {
      loadMatrices(aPart[buffer][i], stage + place(warpRow + i * 16 + lane % 16, d * 2 + lane / 16));
    };
    const auto loadB = [&](int buffer, uint32_t stage, int d, int i) {
      loadMatrices(bPart[buffer][i],
                   stage + kBytesA + place(warpCol + i * 16 + lane / 16 * 8 + lane % 8, d * 2 + lane / 8 % 2));
    };
    // Waits until the next stage has arrived for every thread. The current stage can then be overwritten.
    const auto nextStageArrives = [] {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
      __syncthreads();
    };

#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) copyStage(s);
    nextStageArrives();
    if constexpr (kAhead)
#pragma unroll
      for (int i = 0; i < kParts; ++i) loadA(0, stages, 0, i), loadB(0, stages, 0, i);

    constexpr int kSteps = kRowBytes / 32;
    for (int step = 0; step < steps; ++step) {
      const uint32_t stage = stages + step % STAGES * kStageBytes;
      const uint32_t nextStage = stages + (step + 1) % STAGES * kStageBytes;
#pragma unroll (kAhead ? kSteps : 1)
      for (int d = 0; d < kSteps; ++d) {
        const int now = kAhead ? d % 2 : 0;
        if constexpr (!kAhead)
#pragma unroll
          for (int i = 0; i < kParts; ++i) loadB(0, stage, d, i);
        if (kAhead && d == kSteps - 1) nextStageArrives();  // the last fragments of this stage are in registers
#pragma unroll
        for (int i = 0; i < kParts; ++i) {
          if constexpr (kAhead) {
            // Loads alternate with products, so neither waits for the other. The loads after the last step are unused.
            const uint32_t from = d == kSteps - 1 ? nextStage : stage;
            loadA((d + 1) % 2, from, (d + 1) % kSteps, i), loadB((d + 1) % 2, from, (d + 1) % kSteps, i);
          } else {
            loadA(0, stage, d, i);
          }
#pragma unroll
          for (int j = 0; j < kWarpCols / 8; ++j)
            multiply<T>(sum[i][j], aPart[now][i], bPart[now][j / 2][j % 2 * 2], bPart[now][j / 2][j % 2 * 2 + 1]);
        }
        if (d == 0) copyStage(step + STAGES - 1);  // the overwritten stage was finished at the end of the previous step
      }
      if (!kAhead) nextStageArrives();
    }

#pragma unroll
    for (int i = 0; i < kParts; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = row0 + warpRow + i * 16 + half * 8 + lane / 4;
        if (row >= m) continue;
        __nv_bfloat16* line = c + (long long)row * n;
#pragma unroll
        for (int j = 0; j < kWarpCols / 8; ++j) {
          const int col = col0 + warpCol + j * 8 + lane % 4 * 2;  // n is even, so both columns are inside or both are outside
          if (col < n)
            *reinterpret_cast<uint32_t*>(line + col) = klPair(scale * sum[i][j][half * 2], scale * sum[i][j][half * 2 + 1]);
        }
      }
  }
}

extern "C" const char* kl_unsupported(const KlGemmNt* p, int sm) {
  if (p->dtype == KL_E4M3 && sm < 89) return "tensor cores take e4m3 from compute capability 8.9 on";
  int device = 0, room = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return "the shared memory of this GPU could not be read";
  return room < kSharedBytes ? "its stages need more shared memory than a block has on this GPU: lower STAGES, BM or BN"
                             : nullptr;
}

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return klWithInputType(p, [&](auto type) {
    using T = decltype(type);
    // Asynchronous copies of 16 bytes need aligned rows; other shapes use the slow kernel.
    if (!klRowsAligned(p)) return klLaunchAnyShape<T>(p, stream);
    const int m = int(p->m), n = int(p->n), k = int(p->k);
    const cudaError_t status =
        cudaFuncSetAttribute(gemm<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
    if (status != cudaSuccess) return status;
    gemm<T><<<klGrid(ceilDiv(n, BN), ceilDiv(m, BM)), kThreads, kSharedBytes, stream>>>(
        m, n, k, klScale(p), static_cast<const T*>(p->a), static_cast<const T*>(p->b), static_cast<__nv_bfloat16*>(p->c));
    return cudaGetLastError();
  });
}
