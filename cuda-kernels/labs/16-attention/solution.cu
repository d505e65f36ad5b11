// @rung    16-attention
// @title   Lab 16: attention in registers
// @after   03_online_softmax
// @dtype   bf16
// @idea    the first product leaves its result in the register layout that the second product needs for its left operand. Scores
//          become weights in place and are never stored

#include "attention_common.cuh"

constexpr int kWarps = 4, kThreads = kWarps * 32;
constexpr int kRows = kWarps * 16, kKeys = 64;  // rows of q per block, 16 per warp, and keys per step
constexpr int kRowBytes = kHead * 2;

// Returns the byte offset of a chunk of eight elements. The chunk index is XORed with the row, so the chunks of eight rows,
// which ldmatrix reads at once, are in different banks.
__device__ int tileOffset(int row, int chunk, int rowBytes = kRowBytes) { return row * rowBytes + ((chunk ^ (row & 7)) << 4); }

// Copies `count` tokens of a head, starting at firstToken, with zeros beyond the last token.
__device__ void copyTile(unsigned char* to, const KlElement* head, int count, int firstToken, int tokens) {
  for (int i = threadIdx.x; i < count * kHead / 8; i += kThreads) {
    const int row = i / (kHead / 8), chunk = i % (kHead / 8);
    const bool inside = firstToken + row < tokens;
    *reinterpret_cast<uint4*>(to + tileOffset(row, chunk)) =
        inside ? *reinterpret_cast<const uint4*>(head + (long long)(firstToken + row) * kHead + chunk * 8) : uint4{};
  }
}

// Loads four 8 x 8 matrices. Lane i addresses row i % 8 of matrix i / 8, and gets two adjacent elements of row i / 4 of each matrix.
__device__ void loadMatrices(uint32_t (&matrices)[4], const unsigned char* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(klSharedAddress(from))
               : "memory");
}

__device__ void loadMatricesTransposed(uint32_t (&matrices)[4], const unsigned char* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(klSharedAddress(from))
               : "memory");
}

// Computes d += a * b, where a is 16 x 16 and b is 16 x 8. Lane i has columns i % 4 * 2 and i % 4 * 2 + 1 of d: row i / 4 in d[0] and
// d[1], row i / 4 + 8 in d[2] and d[3]. a[0] and a[1] hold the same rows and columns of a, and a[2] and a[3] the columns 8 to the right.
__device__ void multiply(float* d, const uint32_t* a, uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Computes the scores of a warp's 16 rows. score[4 * j] to score[4 * j + 3] belong to keys 8 * j to 8 * j + 7 of a tile.
__device__ void multiplyByKeys(float (&score)[kKeys / 2], const unsigned char* q, const unsigned char* k) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int d = 0; d < kHead / 16; ++d) {
    uint32_t a[4], b[4];
    loadMatrices(a, q + tileOffset(lane % 16, d * 2 + lane / 16));
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {
      loadMatrices(b, k + tileOffset(j * 16 + lane / 16 * 8 + lane % 8, d * 2 + lane / 8 % 2));
      multiply(&score[j * 8], a, b[0], b[1]);
      multiply(&score[j * 8 + 4], a, b[2], b[3]);
    }
  }
}

// Adds weights * v to `sum` for the 16 keys from 16 * j. The weights are in `a`.
__device__ void multiplyByValues(float (&sum)[kHead / 2], const uint32_t* a, const unsigned char* v, int j) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int d = 0; d < kHead / 16; ++d) {
    uint32_t b[4];
    loadMatricesTransposed(b, v + tileOffset(j * 16 + lane % 16, d * 2 + lane / 16));
    multiply(&sum[d * 8], a, b[0], b[1]);
    multiply(&sum[d * 8 + 4], a, b[2], b[3]);
  }
}

// Shared memory of a block: q, and tiles of k and v.
struct Shared {
  unsigned char q[kRows * kRowBytes], k[kKeys * kRowBytes], v[kKeys * kRowBytes];
};

// Reductions over a row, whose columns are spread over four neighboring lanes.
__device__ float largestOfRow(float value) {
  value = fmaxf(value, __shfl_xor_sync(~0u, value, 1));
  return fmaxf(value, __shfl_xor_sync(~0u, value, 2));
}
__device__ float sumOfRow(float value) {
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

__global__ void __launch_bounds__(kThreads)
attend(const KlElement* q, const KlElement* k, const KlElement* v, KlElement* o, int tokens, int causal, float scale) {
  extern __shared__ __align__(128) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int lane = threadIdx.x % 32, warpRow = threadIdx.x / 32 * 16, row0 = blockIdx.x * kRows;
  const long long head = (long long)blockIdx.y * tokens * kHead;
  copyTile(shared.q, q + head, kRows, row0, tokens);

  // A lane has parts of two rows, eight rows apart. Registers i with equal i / 2 % 2 belong to the same row.
  const int row = row0 + warpRow + lane / 4;
  float largest[2] = {-INFINITY, -INFINITY}, weights[2] = {0, 0};
  float sum[kHead / 2] = {};
  const int keys = int(klKeys(tokens, causal, row0 + kRows - 1));
  for (int key0 = 0; key0 < keys; key0 += kKeys) {
    __syncthreads();
    copyTile(shared.k, k + head, kKeys, key0, tokens);
    copyTile(shared.v, v + head, kKeys, key0, tokens);
    __syncthreads();

    float score[kKeys / 2] = {};
    multiplyByKeys(score, shared.q + warpRow * kRowBytes, shared.k);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int visible = int(klKeys(tokens, causal, row + half * 8)) - key0 - lane % 4 * 2;
      float newLargest = largest[half];
#pragma unroll
      for (int i = 0; i < kKeys / 4; ++i) {
        float& own = score[i / 2 * 4 + half * 2 + i % 2];
        own = i / 2 * 8 + i % 2 < visible ? own * scale : -INFINITY;
        newLargest = fmaxf(newLargest, own);
      }
      newLargest = largestOfRow(newLargest);
      const float shift = klShift(newLargest), factor = klPowerOfTwo(largest[half] - shift);
      largest[half] = newLargest;
      weights[half] *= factor;
#pragma unroll
      for (int i = 0; i < kKeys / 4; ++i) {
        float& own = score[i / 2 * 4 + half * 2 + i % 2];
        own = klPowerOfTwo(own - shift);
        weights[half] += own;
      }
#pragma unroll
      for (int i = 0; i < kHead / 4; ++i) sum[i / 2 * 4 + half * 2 + i % 2] *= factor;
    }

    // The scores of 16 keys are in eight registers. Rounded and packed in pairs, they are the left operand, in this order.
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {
      uint32_t a[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] = klPack(score[j * 8 + i * 2], score[j * 8 + i * 2 + 1]);
      multiplyByValues(sum, a, shared.v, j);
    }
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float factor = 1 / sumOfRow(weights[half]);
    if (row + half * 8 >= tokens) continue;
    KlElement* to = o + head + (long long)(row + half * 8) * kHead + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kHead / 8; ++i)
      *reinterpret_cast<uint32_t*>(to + i * 8) = klPack(sum[i * 4 + half * 2] * factor, sum[i * 4 + half * 2 + 1] * factor);
  }
}

extern "C" const char* kl_unsupported(const KlTask* p, int) { return klRequireHead(p); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const cudaError_t status = cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
  if (status != cudaSuccess) return status;
  const dim3 grid(ceilDiv(int(p->TOKENS), kRows), unsigned(p->HEADS));
  attend<<<grid, kThreads, sizeof(Shared), stream>>>(klElements(p->q), klElements(p->k), klElements(p->v),
                                                     static_cast<KlElement*>(p->o), int(p->TOKENS), p->causal,
                                                     klScoreScale(p));
  return cudaGetLastError();
}
