// Readable wrappers for Hopper's instructions: shared-memory barriers, TMA and warpgroup matrix
// products (WGMMA).
#pragma once

#include "kl_common.cuh"

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#include <type_traits>

template <typename T>
constexpr bool kIsBfloat = std::is_same<T, __nv_bfloat16>::value;

// ---- Barriers in shared memory (sm_90) -------------------------------------------------------

// Initializes a barrier. A phase completes after `arrivals` arrivals and after all expected bytes have arrived.
__device__ inline void klBarrierInit(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(klSharedAddress(barrier)), "r"(arrivals));
}

// Makes new barriers visible to TMA and to the other blocks of the cluster.
__device__ inline void klBarrierInitFence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void klBarrierExpect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(klSharedAddress(barrier)), "r"(bytes)
               : "memory");
}

__device__ inline void klBarrierArrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(klSharedAddress(barrier)) : "memory");
}

// Arrives on the barrier at the same address in block `rank` of the cluster. No release is needed, because the arrival
// orders only TMA and WGMMA work that is already complete. A release at cluster scope would also wait for all
// outstanding stores.
__device__ inline void klBarrierArriveAt(uint64_t* barrier, uint32_t rank) {
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(klSharedAddress(barrier)),
      "r"(rank)
      : "memory");
}

// Waits until the phase with this parity completes. A new barrier is in phase 0, so a wait for parity 1 returns
// immediately.
__device__ inline void klBarrierWait(uint64_t* barrier, uint32_t parity) {
  uint32_t done;
  do {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(klSharedAddress(barrier)), "r"(parity)
        : "memory");
  } while (!done);
}

__device__ inline uint32_t klClusterRank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ inline void klClusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Synchronizes the threads of one warpgroup; `id` is 1 to 15.
__device__ inline void klWarpgroupSync(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }

// Sets the registers per thread for all threads of a warpgroup, in multiples of 8 (sm_90a).
template <int kCount>
__device__ inline void klRegistersDown() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount)); }
template <int kCount>
__device__ inline void klRegistersUp() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount)); }

// ---- TMA (sm_90) -----------------------------------------------------------------------------

// TMA swizzles rows of 128 bytes, so the tiles of A and B are 64 elements wide.
constexpr int kTmaCols = 64;

// The driver's tensor map encoder, loaded through the runtime because a rung does not link libcuda.
using TensorMapEncoder = decltype(&cuTensorMapEncodeTiled);

inline TensorMapEncoder klTensorMapEncoder() {
  static const TensorMapEncoder encoder = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found);
#endif
    const bool ok = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<TensorMapEncoder>(ok ? entry : nullptr);
  }();
  return encoder;
}

// Describes a row-major matrix to TMA, which moves boxes of boxRows x boxCols. Outside the matrix, TMA reads zeros and
// writes nothing. A row of a box is 128 bytes. In shared memory, its 16-byte chunks are permuted by the row number
// modulo 8, so column accesses have no bank conflicts. The pointer and the row length must be multiples of 16 bytes.
template <typename T>
cudaError_t klTensorMap(CUtensorMap* map, const T* data, long long rows, long long cols, int boxRows, int boxCols) {
  const auto encode = klTensorMapEncoder();
  if (!encode) return cudaErrorNotSupported;
  constexpr CUtensorMapDataType kType = std::is_same<T, float>::value ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                        : kIsBfloat<T>                ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                                      : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  // The innermost dimension comes first. The stride of this dimension is one element.
  const cuuint64_t size[2] = {cuuint64_t(cols), cuuint64_t(rows)}, rowBytes[1] = {cols * sizeof(T)};
  const cuuint32_t box[2] = {cuuint32_t(boxCols), cuuint32_t(boxRows)}, step[2] = {1, 1};
  const CUresult result = encode(map, kType, 2, const_cast<T*>(data), size, rowBytes, box, step,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Copies a box into shared memory. The bytes of the copy count toward the barrier.
__device__ inline void klTmaLoad(uint32_t to, const CUtensorMap* map, int row, int col, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(map), "r"(klSharedAddress(barrier)), "r"(col), "r"(row)
      : "memory");
}

// Copies a box to the same offset in every block whose bit is set in `blocks`, the mask of blocks in the cluster. The
// bytes count toward the barrier of each block.
__device__ inline void klTmaLoadMulticast(uint32_t to, const CUtensorMap* map, int row, int col, uint64_t* barrier,
                                          uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%4, %5}], [%2], %3;" ::"r"(to),
      "l"(map), "r"(klSharedAddress(barrier)), "h"(blocks), "r"(col), "r"(row)
      : "memory");
}

__device__ inline void klTmaStore(const CUtensorMap* map, uint32_t from, int row, int col) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(from), "r"(col), "r"(row)
               : "memory");
}

__device__ inline void klTmaStoreCommit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until at most kPending committed groups still read their shared memory.
template <int kPending>
__device__ inline void klTmaStoreWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Orders this thread's writes to shared memory before TMA's reads.
__device__ inline void klAsyncProxyFence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void klTmaPrefetch(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// ---- WGMMA (sm_90a) --------------------------------------------------------------------------

// Returns the descriptor of a 128-byte-swizzled operand: its address and two strides, in units of 16 bytes. A tile
// starts at a multiple of 1024 bytes.
__device__ inline uint64_t klDescriptor(uint32_t address, uint32_t leading, uint32_t stride) {
  return uint64_t((address & 0x3ffff) >> 4) | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 |
         uint64_t(1) << 62;
}

// Returns the descriptor of A: rows of 64 elements along K. Eight rows take 1024 bytes. The leading stride is unused.
__device__ inline uint64_t klDescriptorA(uint32_t address) { return klDescriptor(address, 16, 1024); }

// Returns the descriptor of B: rows of 64 elements along N. N is contiguous, so the instruction transposes B. Eight
// rows along K take 1024 bytes. The next 64 columns follow kDepth rows later.
template <int kDepth>
__device__ inline uint64_t klDescriptorB(uint32_t address) { return klDescriptor(address, kDepth * 128, 1024); }

__device__ inline void klWgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void klWgmmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int kPending>
__device__ inline void klWgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Register lists for the instruction: %0 to %127, and d[0] to d[127].
#define KL_TEN(t) "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define KL_FIRST_TEN "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, "
#define KL_NAMES_32 KL_FIRST_TEN KL_TEN(1) KL_TEN(2) "%30, %31"
#define KL_NAMES_64 KL_FIRST_TEN KL_TEN(1) KL_TEN(2) KL_TEN(3) KL_TEN(4) KL_TEN(5) "%60, %61, %62, %63"
#define KL_NAMES_128                                                                                      \
  KL_FIRST_TEN KL_TEN(1) KL_TEN(2) KL_TEN(3) KL_TEN(4) KL_TEN(5) KL_TEN(6) KL_TEN(7) KL_TEN(8) KL_TEN(9) \
      KL_TEN(10) KL_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127"
#define KL_SUMS_8(i)                                                                                    \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define KL_SUMS_32(i) KL_SUMS_8(i), KL_SUMS_8(i + 8), KL_SUMS_8(i + 16), KL_SUMS_8(i + 24)
#define KL_SUMS_64(i) KL_SUMS_32(i), KL_SUMS_32(i + 32)
#define KL_SUMS_128(i) KL_SUMS_64(i), KL_SUMS_64(i + 64)

#define KL_WGMMA(N, TYPE, NAMES, SUMS, A, B, ADD)                                                              \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " ADD ", 0;\n"                                                \
               "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TYPE "." TYPE " {" NAMES "}, " A ", " B       \
               ", p, 1, 1, 0, 1;\n}\n"                                                                         \
               : SUMS                                                                                          \
               : "l"(a), "l"(b), "r"(add))

// Enqueues d = a * b, or d += a * b if `add` is not 0: 64 x 2N' x 16 for N' accumulators per thread. In each group of 8
// columns, a thread holds two adjacent elements in row lane / 4 of its warp's 16 rows, and two more in the row 8 rows
// below.
template <typename T>
__device__ inline void klWgmma(float (&d)[128], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsBfloat<T>) KL_WGMMA("256", "bf16", KL_NAMES_128, KL_SUMS_128(0), "%128", "%129", "%130");
  else KL_WGMMA("256", "f16", KL_NAMES_128, KL_SUMS_128(0), "%128", "%129", "%130");
}

template <typename T>
__device__ inline void klWgmma(float (&d)[64], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsBfloat<T>) KL_WGMMA("128", "bf16", KL_NAMES_64, KL_SUMS_64(0), "%64", "%65", "%66");
  else KL_WGMMA("128", "f16", KL_NAMES_64, KL_SUMS_64(0), "%64", "%65", "%66");
}

template <typename T>
__device__ inline void klWgmma(float (&d)[32], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsBfloat<T>) KL_WGMMA("64", "bf16", KL_NAMES_32, KL_SUMS_32(0), "%32", "%33", "%34");
  else KL_WGMMA("64", "f16", KL_NAMES_32, KL_SUMS_32(0), "%32", "%33", "%34");
}

#undef KL_WGMMA

// Enqueues one stage as one group: 64 rows of A times the tile of B, kDepth (a multiple of 16) deep. `add` is 0 in the
// first stage of a sum.
template <typename T, int kDepth, int kSums>
__device__ inline void klWgmmaStage(float (&sum)[kSums], uint32_t aTile, uint32_t bTile, int add) {
  const uint64_t a = klDescriptorA(aTile), b = klDescriptorB<kDepth>(bTile);
  klWgmmaFence();
#pragma unroll
  for (int d = 0; d < kDepth / 16; ++d)  // 16 elements of A: 32 bytes; 16 rows of B: 2048 bytes
    klWgmma<T>(sum, a + d * (32 >> 4), b + d * (2048 >> 4), d ? 1 : add);
  klWgmmaCommit();
}
