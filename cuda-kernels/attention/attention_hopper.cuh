// Helpers for the Hopper rungs of attention/: TMA copies of one head's tiles, the two products of a
// warpgroup's 64 rows with a tile of keys, and the softmax between the products, which stays in registers.
#pragma once

#include "attention_common.cuh"
#include "kl_hopper.cuh"

constexpr int kBoxes = kHead / kTmaCols;  // a row of a tile is two boxes of 128 bytes
constexpr int kWarpgroupRows = 64;

// ---- Tiles -----------------------------------------------------------------------------------

// Describes q, k, v or o as boxes of boxRows tokens by 64 elements of one head. TMA reads zeros after the last token
// and writes nothing there, so no tile reaches into the next head.
inline cudaError_t klHeadMap(CUtensorMap* map, const void* data, const KlTask* p, int boxRows) {
  const auto encode = klTensorMapEncoder();
  if (!encode) return cudaErrorNotSupported;
  const cuuint64_t size[3] = {kHead, cuuint64_t(p->TOKENS), cuuint64_t(p->HEADS)};
  const cuuint64_t bytes[2] = {kHead * sizeof(KlElement), p->TOKENS * kHead * sizeof(KlElement)};
  const cuuint32_t box[3] = {kTmaCols, cuuint32_t(boxRows), 1}, step[3] = {1, 1, 1};
  const CUresult result = encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, const_cast<void*>(data), size, bytes, box, step,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// Returns the size in bytes of a tile in shared memory. The tile's boxes are contiguous.
__host__ __device__ constexpr int klTileBytes(int rows) { return rows * kHead * int(sizeof(KlElement)); }

// Copies a tile of kRows tokens that begins at `token`. The bytes of the copy count toward the barrier.
template <int kRows>
__device__ inline void klLoadTile(uint32_t to, const CUtensorMap* map, int token, int head, uint64_t* barrier) {
#pragma unroll
  for (int box = 0; box < kBoxes; ++box)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(
            to + box * kRows * 128),
        "l"(map), "r"(klSharedAddress(barrier)), "r"(box * kTmaCols), "r"(token), "r"(head)
        : "memory");
}

// ---- Products --------------------------------------------------------------------------------

#define KL_NAMES_80 \
  KL_FIRST_TEN KL_TEN(1) KL_TEN(2) KL_TEN(3) KL_TEN(4) KL_TEN(5) KL_TEN(6) "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define KL_NAMES_88                                                                                                \
  KL_FIRST_TEN KL_TEN(1) KL_TEN(2) KL_TEN(3) KL_TEN(4) KL_TEN(5) KL_TEN(6) KL_TEN(7) "%80, %81, %82, %83, %84, " \
                                                                                     "%85, %86, %87"
#define KL_SUMS_80(i) KL_SUMS_64(i), KL_SUMS_8(i + 64), KL_SUMS_8(i + 72)
#define KL_SUMS_88(i) KL_SUMS_80(i), KL_SUMS_8(i + 80)

// Multiplies two operands in shared memory that are both contiguous along the summed dimension.
#define KL_SCORES(N, NAMES, SUMS, A, B, ADD)                                          \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " ADD ", 0;\n"                       \
               "wgmma.mma_async.sync.aligned.m64n" N "k16.f32.bf16.bf16 {" NAMES "}, " \
               A ", " B ", p, 1, 1, 0, 0;\n}\n"                                       \
               : SUMS                                                                 \
               : "l"(a), "l"(b), "n"(kAdd))

template <int kAdd>
__device__ inline void klScoresStep(float (&d)[32], uint64_t a, uint64_t b) {
  KL_SCORES("64", KL_NAMES_32, KL_SUMS_32(0), "%32", "%33", "%34");
}
template <int kAdd>
__device__ inline void klScoresStep(float (&d)[64], uint64_t a, uint64_t b) {
  KL_SCORES("128", KL_NAMES_64, KL_SUMS_64(0), "%64", "%65", "%66");
}
template <int kAdd>
__device__ inline void klScoresStep(float (&d)[80], uint64_t a, uint64_t b) {
  KL_SCORES("160", KL_NAMES_80, KL_SUMS_80(0), "%80", "%81", "%82");
}
template <int kAdd>
__device__ inline void klScoresStep(float (&d)[88], uint64_t a, uint64_t b) {
  KL_SCORES("176", KL_NAMES_88, KL_SUMS_88(0), "%88", "%89", "%90");
}
#undef KL_SCORES

// Enqueues score = q kᵀ as one group, for 64 rows at `q` of a kRows-row tile and a tile of 2 * kScores keys at `k`.
template <int kRows, int kScores>
__device__ inline void klScores(float (&score)[kScores], uint32_t q, uint32_t k) {
  const uint64_t a = klDescriptorA(q), b = klDescriptorA(k);
  klWgmmaFence();
  klScoresStep<0>(score, a, b);
#pragma unroll
  for (int d = 1; d < kHead / 16; ++d) {  // 16 elements are 32 bytes of a box row; the unit is 16 bytes
    const int box = d / 4, within = d % 4 * 2;
    klScoresStep<1>(score, a + box * kRows * 8 + within, b + box * kScores * 2 * 8 + within);
  }
  klWgmmaCommit();
}

// Enqueues o += weights * v as one group, with the weights of kKeys keys in registers.
template <int kKeys>
__device__ inline void klValues(float (&d)[kHead / 2], const uint32_t (&weight)[kKeys / 4], uint32_t v) {
  const uint64_t b = klDescriptorB<kKeys>(v);
  klWgmmaFence();
#pragma unroll
  for (int i = 0; i < kKeys / 16; ++i)  // 16 rows of v are 2048 bytes
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" KL_NAMES_64
                 "}, {%64, %65, %66, %67}, %68, p, 1, 1, 1;\n}\n"
                 : KL_SUMS_64(0)
                 : "r"(weight[4 * i]), "r"(weight[4 * i + 1]), "r"(weight[4 * i + 2]), "r"(weight[4 * i + 3]),
                   "l"(b + i * (2048 >> 4)));
  klWgmmaCommit();
}

// Keeps the compiler from using the registers of a product before the product is complete.
template <int kCount>
__device__ inline void klSettled(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// ---- The result ------------------------------------------------------------------------------

// Stages a warpgroup's 64 rows in its part of a kRows-row tile in shared memory and stores them with TMA. The TMA unit
// may still read the tile after the function returns. `barrier` is a named barrier for this warpgroup only.
template <int kRows>
__device__ inline void klStoreRows(const float (&d)[kHead / 2], const KlRows& rows, uint32_t staging, const CUtensorMap* map,
                                   int token, int head, int barrier) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, g = lane / 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float factor = rows.last(half);
    const uint32_t line = staging + (warp * 16 + half * 8 + g) * 128 + lane % 4 * 4;
#pragma unroll
    for (int j = 0; j < kHead / 8; ++j) {
      const uint32_t to = line + j / 8 * kRows * 128 + ((j % 8 ^ g) << 4);
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(to),
                   "r"(klPack(d[j * 4 + half * 2] * factor, d[j * 4 + half * 2 + 1] * factor))
                   : "memory");
    }
  }
  klAsyncProxyFence();
  klWarpgroupSync(barrier);
  if (threadIdx.x % 128 == 0) {
#pragma unroll
    for (int box = 0; box < kBoxes; ++box)
      asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
                   "r"(staging + box * kRows * 128), "r"(box * kTmaCols), "r"(token), "r"(head)
                   : "memory");
    klTmaStoreCommit();
  }
}

// Waits until TMA has read the data of the last store by the warpgroup's first thread.
__device__ inline void klAwaitStore() {
  if (threadIdx.x % 128 == 0) klTmaStoreWaitRead<0>();
}
