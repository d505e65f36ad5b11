// What the tensor-core rungs share: the types, WMMA tiles at the edge of a matrix, a kernel for the
// shapes that a rung's fast path cannot take, and Hopper's instructions under readable names.
#pragma once

#include "gemm_common.cuh"

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

#include <algorithm>
#include <type_traits>

// ---- Types -----------------------------------------------------------------------------------

inline const char* klRequire16Bit(const KlGemm* p, int sm) {
  if (p->dtype == KL_F32) return "this rung takes f16 and bf16 inputs only";
  return p->dtype == KL_BF16 && sm < 80 ? "tensor cores take bf16 from compute capability 8.0 on" : nullptr;
}

// Calls `launch` with a value of the input type, for its type.
template <typename Launch>
cudaError_t klWithInputType(const KlGemm* p, Launch launch) {
  return p->dtype == KL_BF16 ? launch(__nv_bfloat16()) : launch(__half());
}

template <typename T>
constexpr bool kIsBfloat = std::is_same<T, __nv_bfloat16>::value;

// Whether the architecture being compiled for multiplies this type at all. Where it does not, a
// kernel is compiled empty; kl_unsupported() keeps it from being launched.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <typename T>
constexpr bool kMultiplies = !kIsBfloat<T>;
#else
template <typename T>
constexpr bool kMultiplies = true;
#endif

inline bool klAligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// What 128-bit copies of A, B and C need: every row starts at a multiple of 16 bytes.
inline bool klRowsAligned(const KlGemm* p) {
  return p->k % 8 == 0 && p->n % 8 == 0 && klAligned(p->a, 16) && klAligned(p->b, 16) && klAligned(p->c, 16);
}

__device__ inline void klStore(float2* c, float2 sum, float alpha, float beta) {
  float2 result = make_float2(alpha * sum.x, alpha * sum.y);
  if (beta != 0.0f) {
    const float2 old = *c;
    result.x += beta * old.x;
    result.y += beta * old.y;
  }
  *c = result;
}

// ---- WMMA ------------------------------------------------------------------------------------

constexpr int kWmma = 16;  // rows, columns and depth of a WMMA tile

template <typename T>
using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, kWmma, kWmma, kWmma, T, nvcuda::wmma::row_major>;
template <typename T>
using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, kWmma, kWmma, kWmma, T, nvcuda::wmma::row_major>;
using FragmentC = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kWmma, kWmma, kWmma, float>;

// WMMA reads and writes whole tiles at addresses that are multiples of 32 bytes, rows at multiples
// of 16. That much must hold of every row for a tile to be used where it lies.
inline bool klWmmaAligned(const KlGemm* p) {
  return klRowsAligned(p) && klAligned(p->a, 32) && klAligned(p->b, 32) && klAligned(p->c, 32);
}

// A tile of a rows x cols matrix; zeros beyond its edges. `scratch` holds a tile for this warp: what
// cannot be read where it lies goes through there element by element.
template <typename Fragment, typename T>
__device__ void klLoadTile(Fragment& fragment, const T* matrix, int row, int col, int rows, int cols,
                           bool aligned, T* scratch) {
  const T* tile = matrix + (long long)row * cols + col;
  if (aligned && row + kWmma <= rows && col + kWmma <= cols) {
    nvcuda::wmma::load_matrix_sync(fragment, tile, cols);
    return;
  }
  __syncwarp();
  for (int e = threadIdx.x % 32; e < kWmma * kWmma; e += 32) {
    const int i = e / kWmma, j = e % kWmma;
    scratch[e] = row + i < rows && col + j < cols ? tile[(long long)i * cols + j] : T(0.0f);
  }
  __syncwarp();
  nvcuda::wmma::load_matrix_sync(fragment, scratch, kWmma);
}

// C = alpha * sum + beta * C for one tile of an m x n matrix.
__device__ inline void klStoreTile(FragmentC& sum, float* c, int row, int col, int m, int n, float alpha,
                                   float beta, bool aligned, float* scratch) {
  float* tile = c + (long long)row * n + col;
  if (aligned && row + kWmma <= m && col + kWmma <= n) {
    FragmentC old;
    if (beta != 0.0f) nvcuda::wmma::load_matrix_sync(old, tile, n, nvcuda::wmma::mem_row_major);
#pragma unroll
    for (int i = 0; i < sum.num_elements; ++i)
      sum.x[i] = beta == 0.0f ? alpha * sum.x[i] : alpha * sum.x[i] + beta * old.x[i];
    nvcuda::wmma::store_matrix_sync(tile, sum, n, nvcuda::wmma::mem_row_major);
    return;
  }
  __syncwarp();
  nvcuda::wmma::store_matrix_sync(scratch, sum, kWmma, nvcuda::wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x % 32; e < kWmma * kWmma; e += 32) {
    const int i = e / kWmma, j = e % kWmma;
    if (row + i < m && col + j < n) klStore(&tile[(long long)i * n + j], scratch[e], alpha, beta);
  }
}

// ---- Any shape -------------------------------------------------------------------------------

// The slow path of the rungs whose copies move 16 bytes or more at a time: every element is copied
// by itself, so neither row lengths nor pointers need an alignment. A block of four warps computes
// 64 x 64 elements of C, a warp 32 x 32 of them.
constexpr int kAnyTile = 64, kAnyDepth = 32, kAnyThreads = 128;

template <typename T>
__global__ void __launch_bounds__(kAnyThreads)
gemmAnyShape(int m, int n, int k, float alpha, const T* __restrict__ a, const T* __restrict__ b, float beta,
             float* __restrict__ c) {
  if constexpr (kMultiplies<T>) {
    __shared__ __align__(32) T aTile[kAnyTile][kAnyDepth + 8], bTile[kAnyDepth][kAnyTile + 8];
    __shared__ __align__(32) float scratch[kAnyThreads / 32][kWmma * kWmma];

    const int row0 = klTileRow() * kAnyTile, col0 = blockIdx.x * kAnyTile;
    if (row0 >= m) return;
    const int warp = threadIdx.x / 32, warpRow = warp / 2 * 32, warpCol = warp % 2 * 32;

    FragmentC sum[2][2];
    for (auto& line : sum)
      for (FragmentC& tile : line) nvcuda::wmma::fill_fragment(tile, 0.0f);

    for (int t = 0; t < k; t += kAnyDepth) {
#pragma unroll 4
      for (int e = threadIdx.x; e < kAnyTile * kAnyDepth; e += kAnyThreads) {
        const int i = e / kAnyDepth, j = e % kAnyDepth;
        aTile[i][j] = row0 + i < m && t + j < k ? a[(long long)(row0 + i) * k + t + j] : T(0.0f);
      }
#pragma unroll 4
      for (int e = threadIdx.x; e < kAnyTile * kAnyDepth; e += kAnyThreads) {
        const int i = e / kAnyTile, j = e % kAnyTile;
        bTile[i][j] = t + i < k && col0 + j < n ? b[(long long)(t + i) * n + col0 + j] : T(0.0f);
      }
      __syncthreads();
#pragma unroll
      for (int d = 0; d < kAnyDepth; d += kWmma) {
        FragmentA<T> aPart[2];
        FragmentB<T> bPart[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          nvcuda::wmma::load_matrix_sync(aPart[i], &aTile[warpRow + i * kWmma][d], kAnyDepth + 8);
          nvcuda::wmma::load_matrix_sync(bPart[i], &bTile[d][warpCol + i * kWmma], kAnyTile + 8);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
#pragma unroll
          for (int j = 0; j < 2; ++j) nvcuda::wmma::mma_sync(sum[i][j], aPart[i], bPart[j], sum[i][j]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        klStoreTile(sum[i][j], c, row0 + warpRow + i * kWmma, col0 + warpCol + j * kWmma, m, n, alpha, beta,
                    false, scratch[warp]);
  }
}

template <typename T>
cudaError_t klLaunchAnyShape(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  gemmAnyShape<T><<<klTileGrid(ceilDiv(m, kAnyTile), ceilDiv(n, kAnyTile)), kAnyThreads, 0, stream>>>(
      m, n, k, p->alpha, static_cast<const T*>(p->a), static_cast<const T*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}

// ---- Barriers in shared memory (sm_90) -------------------------------------------------------

// A barrier turns to its next phase when `arrivals` have come and every byte announced has landed.
__device__ inline void klBarrierInit(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(klSharedAddress(barrier)), "r"(arrivals));
}

// Makes new barriers visible to the copy engine and to the other blocks of the cluster.
__device__ inline void klBarrierInitFence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void klBarrierExpect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(klSharedAddress(barrier)), "r"(bytes)
               : "memory");
}

__device__ inline void klBarrierArrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(klSharedAddress(barrier)) : "memory");
}

// On the barrier at the same place in block `rank` of the cluster. It orders nothing but what the copy
// engine and WGMMA did, whose ends have been waited for: a release at cluster scope would wait for
// every store under way as well.
__device__ inline void klBarrierArriveAt(uint64_t* barrier, uint32_t rank) {
  asm volatile(
      "{\n.reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(klSharedAddress(barrier)),
      "r"(rank)
      : "memory");
}

// Waits for the end of the phase of this parity. A fresh barrier is in phase 0; a wait for parity 1
// on it returns at once.
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

// The threads of one warpgroup; `id` is 1 to 15.
__device__ inline void klWarpgroupSync(int id) { asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory"); }

// Registers a thread, for all threads of a warpgroup alike. Multiples of 8 (sm_90a).
template <int kCount>
__device__ inline void klRegistersDown() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount)); }
template <int kCount>
__device__ inline void klRegistersUp() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount)); }

// ---- TMA (sm_90) -----------------------------------------------------------------------------

// The copy engine swizzles in rows of 128 bytes: the tiles of A and B are 64 elements wide in memory.
constexpr int kTmaCols = 64;

// The driver's encoder, found through the runtime: a rung does not link libcuda.
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

// Describes a row-major matrix to the copy engine, which moves boxes of boxRows x boxCols of it and
// reads zeros and writes nothing beyond its edges. A row of a box is 128 bytes; in shared memory its
// sixteen-byte pieces are permuted by the row's number modulo 8, so that a column is free of bank
// conflicts. Pointer and row length must be multiples of 16 bytes.
template <typename T>
cudaError_t klTensorMap(CUtensorMap* map, const T* data, long long rows, long long cols, int boxRows, int boxCols) {
  const auto encode = klTensorMapEncoder();
  if (!encode) return cudaErrorNotSupported;
  constexpr CUtensorMapDataType kType = std::is_same<T, float>::value ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                        : kIsBfloat<T>                ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                                      : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  // The innermost dimension comes first; its stride is the element.
  const cuuint64_t size[2] = {cuuint64_t(cols), cuuint64_t(rows)}, rowBytes[1] = {cols * sizeof(T)};
  const cuuint32_t box[2] = {cuuint32_t(boxCols), cuuint32_t(boxRows)}, step[2] = {1, 1};
  const CUresult result = encode(map, kType, 2, const_cast<T*>(data), size, rowBytes, box, step,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Copies a box into shared memory; its bytes count on the barrier.
__device__ inline void klTmaLoad(uint32_t to, const CUtensorMap* map, int row, int col, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to),
      "l"(map), "r"(klSharedAddress(barrier)), "r"(col), "r"(row)
      : "memory");
}

// The same to the same place in every block of the cluster whose bit is set; the bytes count on the
// barrier of each.
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

// Until at most kPending committed groups still read their shared memory.
template <int kPending>
__device__ inline void klTmaStoreWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Orders this thread's writes to shared memory before what the copy engine reads of it.
__device__ inline void klAsyncProxyFence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void klTmaPrefetch(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// ---- WGMMA (sm_90a) --------------------------------------------------------------------------

// Where a 128-byte-swizzled operand lies, in units of 16 bytes: its address, and two strides. A tile
// starts at a multiple of 1024 bytes.
__device__ inline uint64_t klDescriptor(uint32_t address, uint32_t leading, uint32_t stride) {
  return uint64_t((address & 0x3ffff) >> 4) | uint64_t(leading >> 4) << 16 | uint64_t(stride >> 4) << 32 |
         uint64_t(1) << 62;
}

// A: rows of 64 elements along K; eight rows are 1024 bytes. The leading stride is not used.
__device__ inline uint64_t klDescriptorA(uint32_t address) { return klDescriptor(address, 16, 1024); }

// B: rows of 64 elements along N, so N is the contiguous dimension and the instruction transposes.
// Eight rows of K are 1024 bytes; the next 64 columns follow kDepth rows later.
template <int kDepth>
__device__ inline uint64_t klDescriptorB(uint32_t address) { return klDescriptor(address, kDepth * 128, 1024); }

__device__ inline void klWgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void klWgmmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int kPending>
__device__ inline void klWgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// The lists of registers that the instruction takes: %0 to %127, and d[0] to d[127].
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

// d = a * b, or d += a * b where `add` is not 0: 64 x 2N' x 16 for N' sums a thread, enqueued. Of each
// group of 8 columns, a thread holds two neighbours in row lane / 4 of its warp's 16 rows and two in
// the row 8 further down.
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

// One stage: 64 rows of A by the tile of B, kDepth (a multiple of 16) deep. `add` is 0 in the first
// stage of a sum. What it enqueues is one group.
template <typename T, int kDepth, int kSums>
__device__ inline void klWgmmaStage(float (&sum)[kSums], uint32_t aTile, uint32_t bTile, int add) {
  const uint64_t a = klDescriptorA(aTile), b = klDescriptorB<kDepth>(bTile);
  klWgmmaFence();
#pragma unroll
  for (int d = 0; d < kDepth / 16; ++d)  // 16 elements of A are 32 bytes, 16 rows of B 2048
    klWgmma<T>(sum, a + d * (32 >> 4), b + d * (2048 >> 4), d ? 1 : add);
  klWgmmaCommit();
}

// Stores what klWgmma left in a warpgroup's registers: 64 rows from row0, 2 * kSums columns from
// col0. n is a multiple of 8, so two neighbouring columns are both inside or both outside; the four
// threads that share a row write 32 bytes of it, a whole sector.
template <int kSums>
__device__ inline void klStoreSums(const float (&sum)[kSums], float* c, int row0, int col0, int m, int n,
                                   float alpha, float beta) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row0 + warp * 16 + half * 8 + lane / 4;
    if (row >= m) continue;
    float* line = c + (long long)row * n;
#pragma unroll
    for (int j = 0; j < kSums / 4; ++j) {
      const int col = col0 + j * 8 + lane % 4 * 2;
      if (col >= n) break;
      klStore(reinterpret_cast<float2*>(line + col), make_float2(sum[j * 4 + half * 2], sum[j * 4 + half * 2 + 1]),
              alpha, beta);
    }
  }
}
