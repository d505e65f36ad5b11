// @rung    16-attention
// @title   Lab 16: attention, through shared memory
// @after   03_online_softmax
// @dtype   bf16
// @idea    both products on tensor cores; between them the scores go to shared memory, become weights there, and are read back

#include "attention_common.cuh"

constexpr int kWarps = 4, kThreads = kWarps * 32;
constexpr int kRows = kWarps * 16, kKeys = 64;  // of q for a block, of k and v for a step; a warp has 16 of the rows
constexpr int kLineBytes = kHead * 2;

// Where eight elements lie in a tile whose lines have `lineBytes`. Eight lines of one column, which ldmatrix reads at once,
// lie in different banks.
__device__ int place(int line, int eight, int lineBytes = kLineBytes) { return line * lineBytes + ((eight ^ (line & 7)) << 4); }

// `count` tokens of a head from `token` on; zeros beyond the last one.
__device__ void copyTile(unsigned char* to, const KlElement* head, int count, int token, int tokens) {
  for (int i = threadIdx.x; i < count * kHead / 8; i += kThreads) {
    const int line = i / (kHead / 8), eight = i % (kHead / 8);
    const bool inside = token + line < tokens;
    *reinterpret_cast<uint4*>(to + place(line, eight)) =
        inside ? *reinterpret_cast<const uint4*>(head + (long long)(token + line) * kHead + eight * 8) : uint4{};
  }
}

// Four 8 x 8 matrices, of which lanes 0 to 7, 8 to 15, … name the lines. Lane i gets two neighbors of line i / 4 of each.
__device__ void loadMatrices(uint32_t (&part)[4], const unsigned char* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(klSharedAddress(from))
               : "memory");
}

__device__ void loadMatricesTransposed(uint32_t (&part)[4], const unsigned char* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(klSharedAddress(from))
               : "memory");
}

// d += a * b, of 16 x 16 and 16 x 8 elements. Lane i has d[0], d[1] of line i / 4 and d[2], d[3] of the line 8 further down, columns
// i % 4 * 2 and the next. Of a it has two neighbors in the same lines and columns: a[0], a[1]; and 8 columns further a[2], a[3].
__device__ void multiply(float* d, const uint32_t* a, uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Scores of a warp's 16 rows and a tile of keys: score[4 * j …] is of keys 8 * j to 8 * j + 7.
__device__ void multiplyByKeys(float (&score)[kKeys / 2], const unsigned char* q, const unsigned char* k) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int d = 0; d < kHead / 16; ++d) {
    uint32_t a[4], b[4];
    loadMatrices(a, q + place(lane % 16, d * 2 + lane / 16));
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {
      loadMatrices(b, k + place(j * 16 + lane / 16 * 8 + lane % 8, d * 2 + lane / 8 % 2));
      multiply(&score[j * 8], a, b[0], b[1]);
      multiply(&score[j * 8 + 4], a, b[2], b[3]);
    }
  }
}

// sum += weights * v for 16 keys from 16 * j on, whose weights are `a`.
__device__ void multiplyByValues(float (&sum)[kHead / 2], const uint32_t* a, const unsigned char* v, int j) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int d = 0; d < kHead / 16; ++d) {
    uint32_t b[4];
    loadMatricesTransposed(b, v + place(j * 16 + lane % 16, d * 2 + lane / 16));
    multiply(&sum[d * 8], a, b[0], b[1]);
    multiply(&sum[d * 8 + 4], a, b[2], b[3]);
  }
}

// Of a block: q, a tile of k and of v, and what goes from product to product.
struct Shared {
  unsigned char q[kRows * kLineBytes], k[kKeys * kLineBytes], v[kKeys * kLineBytes];
  float score[kRows][kKeys + 4];
  unsigned char weight[kRows * kKeys * 2];
  float factor[kRows];
};

// TODO: between the two products a warp writes its scores to shared memory, where two lanes per row turn them into weights,
//       and reads the weights back as the left operand of the second product. None of that is needed. Look where
//       multiply() has its result and where it wants its left operand. Four lanes have a row's scores: two shuffles
//       give them its maximum. Keep scores and weights in registers, and drop `score`, `weight` and `factor`.
__global__ void __launch_bounds__(kThreads)
attend(const KlElement* q, const KlElement* k, const KlElement* v, KlElement* o, int tokens, int causal, float scale) {
  extern __shared__ __align__(128) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int lane = threadIdx.x % 32, warpRow = threadIdx.x / 32 * 16, row0 = blockIdx.x * kRows;
  const long long head = (long long)blockIdx.y * tokens * kHead;
  copyTile(shared.q, q + head, kRows, row0, tokens);

  // Of row warpRow + lane / 2, in which a lane has half of the keys.
  const int row = warpRow + lane / 2;
  const int ownKeys = int(klKeys(tokens, causal, row0 + row));
  float largest = -INFINITY, weights = 0;
  float sum[kHead / 2] = {};
  const int keys = int(klKeys(tokens, causal, row0 + kRows - 1));
  for (int key0 = 0; key0 < keys; key0 += kKeys) {
    __syncthreads();
    copyTile(shared.k, k + head, kKeys, key0, tokens);
    copyTile(shared.v, v + head, kKeys, key0, tokens);
    __syncthreads();

    float score[kKeys / 2] = {};
    multiplyByKeys(score, shared.q + warpRow * kLineBytes, shared.k);
#pragma unroll
    for (int i = 0; i < kKeys / 2; ++i)
      shared.score[warpRow + i / 2 % 2 * 8 + lane / 4][i / 4 * 8 + lane % 4 * 2 + i % 2] = score[i] * scale;
    __syncwarp();

    const int first = lane % 2 * (kKeys / 2);
    const float* own = &shared.score[row][first];
    const int seen = max(0, min(kKeys / 2, ownKeys - key0 - first));
    float above = largest;
    for (int i = 0; i < seen; ++i) above = fmaxf(above, own[i]);
    above = fmaxf(above, __shfl_xor_sync(~0u, above, 1));
    const float shift = klShift(above), factor = klPowerOfTwo(largest - shift);
    largest = above;
    weights *= factor;
    for (int i = 0; i < kKeys / 2; i += 2) {
      const float one = i < seen ? klPowerOfTwo(own[i] - shift) : 0, next = i + 1 < seen ? klPowerOfTwo(own[i + 1] - shift) : 0;
      weights += one + next;
      const int key = first + i;
      *reinterpret_cast<uint32_t*>(shared.weight + place(row, key / 8, kKeys * 2) + key % 8 * 2) = klPack(one, next);
    }
    shared.factor[row] = factor;
    __syncwarp();

#pragma unroll
    for (int i = 0; i < kHead / 2; ++i) sum[i] *= shared.factor[warpRow + i / 2 % 2 * 8 + lane / 4];
#pragma unroll
    for (int j = 0; j < kKeys / 16; ++j) {
      uint32_t a[4];
      loadMatrices(a, shared.weight + place(warpRow + lane % 16, j * 2 + lane / 16, kKeys * 2));
      multiplyByValues(sum, a, shared.v, j);
    }
  }

  weights += __shfl_xor_sync(~0u, weights, 1);
  shared.factor[row] = 1 / weights;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kHead / 2; i += 2) {
    const int line = warpRow + i / 2 % 2 * 8 + lane / 4;
    if (row0 + line >= tokens) continue;
    const float factor = shared.factor[line];
    *reinterpret_cast<uint32_t*>(o + head + (long long)(row0 + line) * kHead + i / 4 * 8 + lane % 4 * 2) =
        klPack(sum[i] * factor, sum[i + 1] * factor);
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
