// Helpers for the scan rungs: launches over several levels of blocks, warp scans, and look-back states.
#pragma once

#include "kernel_ladder.h"

#include <stdint.h>

inline long long klBlocks(long long n, long long perBlock) { return (n + perBlock - 1) / perBlock; }

// ---- Levels: blocks scan their elements; the block sums are scanned in the same way, then added ---------------------

// Returns the size, in bytes, of the block sums of all levels. `perBlock` is a multiple of 4, and each level starts at
// a multiple of 4.
inline size_t klLevelBytes(long long n, long long perBlock) {
  long long floats = 0;
  for (n = klBlocks(n, perBlock); n > 1; n = klBlocks(n, perBlock)) floats += klBlocks(n, 4) * 4;
  return size_t(floats) * sizeof(float);
}

// Runs all levels. scan(from, to, sums, n, blocks) scans each block and writes the block sums unless sums is null.
// add(to, sums, n, blocks) adds the scanned sum of the preceding blocks to each block except the first.
template <typename Scan, typename Add>
cudaError_t klLevels(const float* from, float* to, float* sums, long long n, long long perBlock, Scan scan, Add add) {
  const long long blocks = klBlocks(n, perBlock);
  scan(from, to, blocks > 1 ? sums : nullptr, n, unsigned(blocks));
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess || blocks == 1) return status;
  status = klLevels(sums, sums, sums + klBlocks(blocks, 4) * 4, blocks, perBlock, scan, add);
  if (status != cudaSuccess) return status;
  add(to, sums, n, unsigned(blocks));
  return cudaGetLastError();
}

// ---- Warps -----------------------------------------------------------------------------------------------------------

// Returns the sum of the values of this lane and all lower lanes.
__device__ inline float klWarpScan(float value) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const float before = __shfl_up_sync(~0u, value, distance);
    if (int(threadIdx.x % 32) >= distance) value += before;
  }
  return value;
}

__device__ inline float klWarpSum(float value) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(~0u, value, lanes);
  return value;
}

// Scans kQuads rows of 128 elements, with four adjacent elements per lane. Returns the total to all lanes.
template <int kQuads>
__device__ inline float klScanRows(float4 (&quad)[kQuads]) {
  const int lane = threadIdx.x % 32;
  float sum[kQuads];  // sums up to and including this lane
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    quad[i].y += quad[i].x;
    quad[i].z += quad[i].y;
    quad[i].w += quad[i].z;
    sum[i] = klWarpScan(quad[i].w);
  }
  float before = 0;  // sum of the rows above
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    const float left = __shfl_up_sync(~0u, sum[i], 1), add = lane == 0 ? before : before + left;
    quad[i].x += add;
    quad[i].y += add;
    quad[i].z += add;
    quad[i].w += add;
    before += __shfl_sync(~0u, sum[i], 31);
  }
  return before;
}

// Returns four elements from index `i`, with 0 beyond the end; `i` is a multiple of 4.
__device__ inline float4 klLoadQuad(const float* x, long long i, long long n) {
  if (i + 4 <= n) return *reinterpret_cast<const float4*>(&x[i]);
  return make_float4(i < n ? x[i] : 0, i + 1 < n ? x[i + 1] : 0, i + 2 < n ? x[i + 2] : 0, 0);
}

// Stores four elements. With kStreaming, L2 may evict the elements first, because they are not read again.
template <int kStreaming = 0>
__device__ inline void klStoreQuad(float* y, long long i, long long n, float4 quad, float add) {
  quad.x += add;
  quad.y += add;
  quad.z += add;
  quad.w += add;
  if (i + 4 <= n) {
    if (kStreaming) __stcs(reinterpret_cast<float4*>(&y[i]), quad);
    else *reinterpret_cast<float4*>(&y[i]) = quad;
    return;
  }
  if (i < n) y[i] = quad.x;
  if (i + 1 < n) y[i + 1] = quad.y;
  if (i + 2 < n) y[i + 2] = quad.z;
}

// ---- Look-back -------------------------------------------------------------------------------------------------------

// The kind of sum that a tile has published: of its own elements, or of all elements up to its end. Kind and sum share
// one 64-bit word that is read and written atomically, so they are always consistent without a fence.
enum class KlTold : unsigned { nothing = 0, own = 1, all = 2 };

struct KlState {
  unsigned long long word;

  // Packs a sum and its kind. `epoch` distinguishes states of this launch from states of earlier launches.
  __device__ static KlState of(KlTold told, unsigned epoch, float sum) {
    return {(unsigned long long)(epoch << 2 | unsigned(told)) << 32 | __float_as_uint(sum)};
  }
  __device__ KlTold told(unsigned epoch) const {
    const unsigned high = unsigned(word >> 32);
    return high >> 2 == (epoch & 0x3fffffff) ? KlTold(high & 3) : KlTold::nothing;
  }
  __device__ float sum() const { return __uint_as_float(unsigned(word)); }

  __device__ void storeTo(unsigned long long* place) const {
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(place), "l"(word) : "memory");
  }
  __device__ static KlState loadFrom(const unsigned long long* place) {
    KlState state;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(state.word) : "l"(place) : "memory");
    return state;
  }
};

// Returns the sum of all elements before `tile`; called by a whole warp, which checks 32 * kWords tiles at a time. The
// search goes back to the nearest tile in state `all` and adds the sums of the later tiles.
template <int kWords>
__device__ inline float klLookBack(const unsigned long long* states, long long tile, unsigned epoch) {
  const int lane = threadIdx.x % 32;
  float before = 0;
  for (long long nearest = tile - 1 - lane;; nearest -= 32 * kWords) {
    KlState state[kWords];
    const auto look = [&](int i) {
      // Positions before the first tile count as a known sum of 0.
      const long long at = nearest - 32 * i;
      state[i] = at < 0 ? KlState::of(KlTold::all, epoch, 0) : KlState::loadFrom(&states[at]);
    };
#pragma unroll
    for (int i = 0; i < kWords; ++i) look(i);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      unsigned all, needed;  // lanes whose tile is in state `all`; lanes up to the lowest of them
      while (true) {
        all = __ballot_sync(~0u, state[i].told(epoch) == KlTold::all);
        needed = all ? all ^ (all - 1) : ~0u;
        if (!(__ballot_sync(~0u, state[i].told(epoch) == KlTold::nothing) & needed)) break;
        look(i);
      }
      before += klWarpSum(needed >> lane & 1 ? state[i].sum() : 0);
      if (all) return before;
    }
  }
}
