// WGMMA for tiles with K contiguous in both operands, as FP8 requires. TMA swizzles the 128-byte rows.
#pragma once

#include "kl_hopper.cuh"
#include "nt_common.cuh"

// Bytes along K per row of a stage: 64 elements of 16 bits, or 128 of 8 bits.
constexpr int kRowBytes = 128;
template <typename T>
constexpr int kStageDepth = kRowBytes / sizeof(T);

// Describes a row-major matrix to TMA in boxes of boxRows rows of 128 bytes.
template <typename T>
cudaError_t klRowMap(CUtensorMap* map, const void* data, long long rows, long long cols, int boxRows) {
  const auto encode = klTensorMapEncoder();
  if (!encode) return cudaErrorNotSupported;
  constexpr CUtensorMapDataType kType = kIsE4m3<T> ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const cuuint64_t size[2] = {cuuint64_t(cols), cuuint64_t(rows)}, rowBytes[1] = {cols * sizeof(T)};
  const cuuint32_t box[2] = {kStageDepth<T>, cuuint32_t(boxRows)}, step[2] = {1, 1};
  const CUresult result = encode(map, kType, 2, const_cast<void*>(data), size, rowBytes, box, step,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

#define KL_WGMMA_NT(SHAPE, TYPE, TRANSPOSED, NAMES, SUMS, A, B, ADD)                                           \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " ADD ", 0;\n"                                               \
               "wgmma.mma_async.sync.aligned." SHAPE ".f32." TYPE "." TYPE " {" NAMES "}, " A ", " B          \
               ", p, 1, 1" TRANSPOSED ";\n}\n"                                                                \
               : SUMS                                                                                         \
               : "l"(a), "l"(b), "r"(add))

// Enqueues d = a * b^T, or d += a * b^T if `add` is not 0, over 32 bytes along K (16 or 32 elements). d is 64 x 2N' for
// N' accumulators per thread, in klWgmma's layout.
template <typename T>
__device__ inline void klWgmmaNt(float (&d)[128], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsE4m3<T>) KL_WGMMA_NT("m64n256k32", "e4m3", "", KL_NAMES_128, KL_SUMS_128(0), "%128", "%129", "%130");
  else KL_WGMMA_NT("m64n256k16", "bf16", ", 0, 0", KL_NAMES_128, KL_SUMS_128(0), "%128", "%129", "%130");
}
template <typename T>
__device__ inline void klWgmmaNt(float (&d)[64], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsE4m3<T>) KL_WGMMA_NT("m64n128k32", "e4m3", "", KL_NAMES_64, KL_SUMS_64(0), "%64", "%65", "%66");
  else KL_WGMMA_NT("m64n128k16", "bf16", ", 0, 0", KL_NAMES_64, KL_SUMS_64(0), "%64", "%65", "%66");
}
template <typename T>
__device__ inline void klWgmmaNt(float (&d)[32], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsE4m3<T>) KL_WGMMA_NT("m64n64k32", "e4m3", "", KL_NAMES_32, KL_SUMS_32(0), "%32", "%33", "%34");
  else KL_WGMMA_NT("m64n64k16", "bf16", ", 0, 0", KL_NAMES_32, KL_SUMS_32(0), "%32", "%33", "%34");
}

#undef KL_WGMMA_NT

// Enqueues one stage as a group: 64 rows of A times the rows of B, over 128 bytes along K. `add` is 0 in the first
// stage.
template <typename T, int kSums>
__device__ inline void klWgmmaNtStage(float (&sum)[kSums], uint32_t aTile, uint32_t bTile, int add) {
  const uint64_t a = klDescriptorA(aTile), b = klDescriptorA(bTile);
  klWgmmaFence();
#pragma unroll
  for (int d = 0; d < kRowBytes / 32; ++d) klWgmmaNt<T>(sum, a + d * (32 >> 4), b + d * (32 >> 4), d ? 1 : add);
  klWgmmaCommit();
}

// Stores a warpgroup's sums: 64 rows from row0, 2 * kSums columns from col0. n is a multiple of 8, so two adjacent
// columns are either both inside C or both outside. The four threads that share a row write 16 bytes of the row.
template <int kSums>
__device__ inline void klStoreNt(const float (&sum)[kSums], __nv_bfloat16* c, int row0, int col0, int m, int n, float scale) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row0 + warp * 16 + half * 8 + lane / 4;
    if (row >= m) continue;
    __nv_bfloat16* line = c + (long long)row * n;
#pragma unroll
    for (int j = 0; j < kSums / 4; ++j) {
      const int col = col0 + j * 8 + lane % 4 * 2;
      if (col >= n) break;
      *reinterpret_cast<uint32_t*>(line + col) =
          klPair(scale * sum[j * 4 + half * 2], scale * sum[j * 4 + half * 2 + 1]);
    }
  }
}
