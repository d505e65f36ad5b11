// @rung    04_mma_sync
// @title   Tensor cores, everything in registers
// @after   03_online_softmax
// @idea    a warp multiplies with mma.sync and keeps the sums of 32 rows in registers. Scores become weights in the registers that hold the left operand of the next product. Neither scores nor weights are stored in memory. cp.async copies tiles of k and v one tile ahead into a swizzled layout
// @expect  tensorUtilization up, sharedLoads down
// @param   KEYS 64 {32,64}
// @param   WARPS 4 {4,8}
// @dtype   bf16
// @requires sm_80

// ncu does not count ldmatrix as a shared load, but includes its wavefronts in those of shared loads.

#include "attention_common.cuh"

constexpr int kWarpTiles = 2, kRows = WARPS * kWarpTiles * 16, kThreads = WARPS * 32;
constexpr int kLine = kHead * 2, kBytesQ = kRows * kLine, kTile = KEYS * kLine;
constexpr int kSharedBytes = kBytesQ + 4 * kTile;  // holds q, and two tiles each of k and v
constexpr int kBlocksPerSm = WARPS == 4 ? 2 : 1;

// Returns the byte offset of eight elements in a tile. `eight` is the index of this group in its row. The index is
// XORed with the row, so the eight rows that ldmatrix reads together are in different banks.
__device__ inline uint32_t place(int row, int eight) { return row * kLine + ((eight ^ (row & 7)) << 4); }

// Starts copying kCount tokens of a head, beginning at `token`. Rows after the last token become zeros.
template <int kCount>
__device__ inline void copyTile(uint32_t to, const KlElement* head, int token, int tokens) {
  constexpr int kEights = kHead / 8, kStep = kThreads / kEights;
  const int eight = threadIdx.x % kEights;
#pragma unroll
  for (int i = 0; i < kCount / kStep; ++i) {
    const int row = threadIdx.x / kEights + i * kStep;
    const bool inside = token + row < tokens;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + place(row, eight)),
                 "l"(head + (inside ? (long long)(token + row) * kHead + eight * 8 : 0)), "r"(inside ? 16 : 0)
                 : "memory");
  }
}

__device__ inline void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until all copies except those of the last group have arrived and all threads are done with the previous tile.
__device__ inline void awaitCopies() {
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
}

// Loads four 8 x 8 matrices. Lane i passes the address of row i % 8 of matrix i / 8. The lane receives two adjacent
// elements from row i / 4 of each matrix.
__device__ inline void loadMatrices(uint32_t (&part)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(from)
               : "memory");
}

// Loads the transposes of four 8 x 8 matrices. The rows of v are keys, but the product needs adjacent keys per thread.
__device__ inline void loadMatricesTransposed(uint32_t (&part)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(from)
               : "memory");
}

// Computes d += a b for a warp, where d is 16 x 8, a is 16 x 16 and b is 16 x 8. A lane has four sums, eight elements
// of a and four of b.
__device__ inline void multiply(float* d, const uint32_t* a, uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
attend(const KlElement* __restrict__ q, const KlElement* __restrict__ k, const KlElement* __restrict__ v,
       KlElement* __restrict__ o, int tokens, int causal, float scale) {
  extern __shared__ __align__(128) unsigned char shared[];
  // The addresses of q, the two tiles of k and the two tiles of v. A tile has kTile bytes.
  const uint32_t qTile = klSharedAddress(shared), keyTiles = qTile + kBytesQ, valueTiles = keyTiles + 2 * kTile;
  // Rows that see the most keys are processed first.
  const int row0 = (gridDim.x - 1 - blockIdx.x) * kRows;
  const int lane = threadIdx.x % 32, warpRow = threadIdx.x / 32 * kWarpTiles * 16;
  const long long head = (long long)blockIdx.y * tokens * kHead;
  q += head, k += head, v += head, o += head;

  // Processes the tiles of keys in reverse order, because the end of the keys or the diagonal cuts through the last
  // tile.
  const int blocks = ceilDiv(causal ? min(tokens, row0 + kRows) : tokens, KEYS);
  copyTile<kRows>(qTile, q, row0, tokens);
  copyTile<KEYS>(keyTiles, k, (blocks - 1) * KEYS, tokens);
  commitCopies();
  copyTile<KEYS>(valueTiles, v, (blocks - 1) * KEYS, tokens);
  commitCopies();

  float sum[kWarpTiles][kHead / 2] = {};
  KlRows rows[kWarpTiles];
  for (int block = blocks - 1, at = 0; block >= 0; --block, at ^= 1) {
    const uint32_t keyTo = keyTiles + (at ^ 1) * kTile, valueTo = valueTiles + (at ^ 1) * kTile;
    awaitCopies();
    if (block > 0) copyTile<KEYS>(keyTo, k, (block - 1) * KEYS, tokens);
    commitCopies();

    float score[kWarpTiles][KEYS / 2] = {};
#pragma unroll
    for (int d = 0; d < kHead / 16; ++d) {
      uint32_t a[kWarpTiles][4];
#pragma unroll
      for (int i = 0; i < kWarpTiles; ++i)
        loadMatrices(a[i], qTile + place(warpRow + i * 16 + lane % 16, d * 2 + lane / 16));
#pragma unroll
      for (int j = 0; j < KEYS / 16; ++j) {
        uint32_t b[4];  // eight keys in b[0] and b[1], the next eight in b[2] and b[3]
        loadMatrices(b, keyTiles + at * kTile + place(j * 16 + lane / 16 * 8 + lane % 8, d * 2 + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < kWarpTiles; ++i) {
          multiply(&score[i][j * 8], a[i], b[0], b[1]);
          multiply(&score[i][j * 8 + 4], a[i], b[2], b[3]);
        }
      }
    }

    uint32_t weight[kWarpTiles][KEYS / 4];
    const bool cut = block == blocks - 1 || (causal && (block + 1) * KEYS > row0 + warpRow);
#pragma unroll
    for (int i = 0; i < kWarpTiles; ++i) {
      if (cut) klMask(score[i], row0 + warpRow + i * 16 + lane / 4, block * KEYS + lane % 4 * 2, tokens, causal);
      float factor[2];
      rows[i].add(score[i], scale, factor);  // turns scores into weights
      klRescale(sum[i], factor);
      klRound(weight[i], score[i]);
    }

    awaitCopies();
    if (block > 0) copyTile<KEYS>(valueTo, v, (block - 1) * KEYS, tokens);
    commitCopies();
#pragma unroll
    for (int j = 0; j < KEYS / 16; ++j)
#pragma unroll
      for (int d = 0; d < kHead / 16; ++d) {
        uint32_t b[4];  // eight columns in b[0] and b[1], the next eight in b[2] and b[3]
        loadMatricesTransposed(b, valueTiles + at * kTile + place(j * 16 + lane % 16, d * 2 + lane / 16));
#pragma unroll
        for (int i = 0; i < kWarpTiles; ++i) {
          multiply(&sum[i][d * 8], &weight[i][j * 4], b[0], b[1]);
          multiply(&sum[i][d * 8 + 4], &weight[i][j * 4], b[2], b[3]);
        }
      }
  }

#pragma unroll
  for (int i = 0; i < kWarpTiles; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float factor = rows[i].last(half);
      const int row = row0 + warpRow + i * 16 + half * 8 + lane / 4;
      if (row >= tokens) continue;
      auto* line = reinterpret_cast<uint32_t*>(o + (long long)row * kHead) + lane % 4;
#pragma unroll
      for (int j = 0; j < kHead / 8; ++j)
        line[j * 4] = klPack(sum[i][j * 4 + half * 2] * factor, sum[i][j * 4 + half * 2 + 1] * factor);
    }
}

extern "C" const char* kl_unsupported(const KlTask* p, int) {
  if (const char* reason = klRequireHead(p)) return reason;
  int device = 0, room = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
    return "the shared memory of this GPU could not be read";
  return room < kSharedBytes ? "its tiles need more shared memory than a block has on this GPU: lower KEYS" : nullptr;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const cudaError_t status = cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (status != cudaSuccess) return status;
  const int tokens = int(p->TOKENS);
  attend<<<dim3(ceilDiv(tokens, kRows), unsigned(p->HEADS)), kThreads, kSharedBytes, stream>>>(
      klElements(p->q), klElements(p->k), klElements(p->v), static_cast<KlElement*>(p->o), tokens, p->causal, klScoreScale(p));
  return cudaGetLastError();
}
