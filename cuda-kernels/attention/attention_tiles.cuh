// Helpers for the CUDA-core rungs of attention/: 64 rows of a head and tiles of 64 keys, in FP32 in shared memory.
#pragma once

#include "attention_common.cuh"

constexpr int kTile = 64, kThreads = 256, kAcross = 16;      // 16 x 16 threads with 4 x 4 scores each
constexpr int kOwn = kTile / kAcross, kOwnElements = kHead / kAcross;
// Row lengths, padded to avoid bank conflicts when threads read 16 bytes from adjacent rows or store words to two
// different rows.
constexpr int kLine = kHead + 4, kWeightLine = kTile + 16;
// The tiles take about 119 KiB, so an SM has room for only one block.
constexpr int kTilesBytes = (3 * kTile * kLine + kTile * kWeightLine) * int(sizeof(float));

// The tiles of a block in shared memory. A thread has kOwn rows y, y + 16, … of the block and kOwn keys x, x + 16, … of
// a tile. In each result row, the thread has four elements from column 4x on and four from column 64 + 4x on.
struct Tiles {
  const KlTask& p;
  float *const q, *const k, *const v, *const weight;
  const int x = threadIdx.x % kAcross, y = threadIdx.x / kAcross, row0 = blockIdx.x * kTile;
  const long long head = (long long)blockIdx.y * p.TOKENS;
  const int keys;  // number of keys that at least one row of the block sees

  __device__ Tiles(const KlTask& task, float* shared)
      : p(task), q(shared), k(q + kTile * kLine), v(k + kTile * kLine), weight(v + kTile * kLine),
        keys(int(klKeys(task.TOKENS, task.causal, blockIdx.x * kTile + kTile - 1))) {
    load(q, p.q, row0);
  }

  // Loads a tile of tokens that begins at `token`. Rows after the last token are filled with zeros.
  __device__ void load(float* to, const void* from, int token) const {
    for (int i = threadIdx.x; i < kTile * kHead / 8; i += kThreads) {
      const int row = i / (kHead / 8), element = i % (kHead / 8) * 8;
      float eight[8] = {};
      if (token + row < p.TOKENS)
        klLoadEight(eight, static_cast<const KlElement*>(from) + (head + token + row) * kHead + element);
      const float4 low = make_float4(eight[0], eight[1], eight[2], eight[3]);
      const float4 high = make_float4(eight[4], eight[5], eight[6], eight[7]);
      auto* line = reinterpret_cast<float4*>(to + row * kLine + element);
      // Four of eight adjacent threads store their second half first, so the eight threads write to all 32 banks.
      const bool second = threadIdx.x / 4 % 2;
      line[second] = second ? high : low;
      line[!second] = second ? low : high;
    }
  }

  // Computes a thread's scores, scaled for base-2 exponentials. Keys that a row does not see get a score of -infinity.
  __device__ void scores(float (&score)[kOwn][kOwn], int key0, float scale) const {
    __syncthreads();
    load(k, p.k, key0);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kOwn; ++r)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) score[r][j] = 0;
#pragma unroll 4
    for (int d = 0; d < kHead; d += 4) {
      float4 a[kOwn], b[kOwn];
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        a[i] = *reinterpret_cast<const float4*>(&q[(y + i * kAcross) * kLine + d]);
        b[i] = *reinterpret_cast<const float4*>(&k[(x + i * kAcross) * kLine + d]);
      }
#pragma unroll
      for (int r = 0; r < kOwn; ++r)
#pragma unroll
        for (int j = 0; j < kOwn; ++j)
          score[r][j] += a[r].x * b[j].x + a[r].y * b[j].y + a[r].z * b[j].z + a[r].w * b[j].w;
    }
#pragma unroll
    for (int r = 0; r < kOwn; ++r) {
      const long long seen = klKeys(p.TOKENS, p.causal, row0 + y + r * kAcross);
#pragma unroll
      for (int j = 0; j < kOwn; ++j)
        score[r][j] = key0 + x + j * kAcross < seen ? score[r][j] * scale : -INFINITY;
    }
  }

  // Returns the largest score of a row that is spread over sixteen adjacent threads.
  __device__ static float largestOf(const float (&score)[kOwn]) {
    float top = score[0];
#pragma unroll
    for (int j = 1; j < kOwn; ++j) top = fmaxf(top, score[j]);
#pragma unroll
    for (int lanes = kAcross / 2; lanes > 0; lanes /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, lanes));
    return top;
  }
  __device__ static float sumOf(float sum) {
#pragma unroll
    for (int lanes = kAcross / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    return sum;
  }

  // Adds weights * v to o for a tile of keys.
  __device__ void addValues(float (&o)[kOwn][kOwnElements], const float (&weights)[kOwn][kOwn], int key0) const {
#pragma unroll
    for (int r = 0; r < kOwn; ++r)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) weight[(y + r * kAcross) * kWeightLine + x + j * kAcross] = weights[r][j];
    load(v, p.v, key0);
    __syncthreads();
#pragma unroll 2
    for (int key = 0; key < kTile; key += 4) {
      float4 a[kOwn];
#pragma unroll
      for (int r = 0; r < kOwn; ++r) a[r] = *reinterpret_cast<const float4*>(&weight[(y + r * kAcross) * kWeightLine + key]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float* line = &v[(key + i) * kLine + x * 4];
        const float4 low = *reinterpret_cast<const float4*>(line), high = *reinterpret_cast<const float4*>(line + kHead / 2);
#pragma unroll
        for (int r = 0; r < kOwn; ++r) {
          const float one = i == 0 ? a[r].x : i == 1 ? a[r].y : i == 2 ? a[r].z : a[r].w;
          o[r][0] += one * low.x, o[r][1] += one * low.y, o[r][2] += one * low.z, o[r][3] += one * low.w;
          o[r][4] += one * high.x, o[r][5] += one * high.y, o[r][6] += one * high.z, o[r][7] += one * high.w;
        }
      }
    }
    __syncthreads();  // weights and v are overwritten next
  }

  __device__ void store(const float (&o)[kOwn][kOwnElements], const float (&sum)[kOwn]) const {
#pragma unroll
    for (int r = 0; r < kOwn; ++r) {
      const int row = row0 + y + r * kAcross;
      if (row >= p.TOKENS) continue;
      const float factor = 1 / sum[r];
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        const float* own = &o[r][part * 4];
        auto* to = static_cast<KlElement*>(p.o) + (head + row) * kHead + part * kHead / 2 + x * 4;
        *reinterpret_cast<uint2*>(to) =
            make_uint2(klPack(own[0] * factor, own[1] * factor), klPack(own[2] * factor, own[3] * factor));
      }
    }
  }
};

// Defines kl_unsupported and kl_launch for a rung that uses these tiles.
#define KL_TILES_LAUNCH(kernel)                                                                            \
  extern "C" const char* kl_unsupported(const KlTask* p, int) { return klRequireHead(p); }                \
  extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {                                \
    const auto status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kTilesBytes); \
    if (status != cudaSuccess) return status;                                                             \
    const dim3 grid(ceilDiv(int(p->TOKENS), kTile), unsigned(p->HEADS));                                  \
    kernel<<<grid, kThreads, kTilesBytes, stream>>>(*p, klScoreScale(p));                                 \
    return cudaGetLastError();                                                                            \
  }
