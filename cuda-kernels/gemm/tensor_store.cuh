// Stores FP32 results of a warpgroup or a warp through shared memory and TMA.
#pragma once

#include "tensor_common.cuh"

constexpr int kStoreCols = 32;                                  // columns of C: 128 bytes of a row per store
constexpr int kStoreBytes = 64 * kStoreCols * sizeof(float);    // bytes of 64 rows

// Stores 32 columns of a warpgroup's 64 rows, times `scale`, through shared memory and TMA. The stores
// cycle through kBuffers buffers: one is filled while TMA still reads the others.
template <int kBuffers>
__device__ inline void klStorePart(const float* sum, const CUtensorMap* cMap, uint32_t buffer, int group, int row0, int col0,
                                 float scale) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, g = lane / 4;
  const bool leader = threadIdx.x % 128 == 0, odd = g & 1;
  if (leader) klTmaStoreWaitRead<kBuffers - 1>();
  klWarpgroupSync(1 + group);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint32_t line = buffer + (warp * 16 + half * 8 + g) * 128 + lane % 2 * 8;
    // Odd rows store the third and fourth of four 8-column groups first. Sixteen threads then write to all 32
    // banks.
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int even = j * 4 + half * 2, other = (j ^ 2) * 4 + half * 2;
      const float x = odd ? sum[other] : sum[even], y = odd ? sum[other + 1] : sum[even + 1];
      const int sixteen = (odd ? j ^ 2 : j) * 2 + lane % 4 / 2;
      asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(line + ((sixteen ^ g) << 4)), "f"(scale * x), "f"(scale * y)
                   : "memory");
    }
  }
  klAsyncProxyFence();
  klWarpgroupSync(1 + group);
  if (leader) {
    klTmaStore(cMap, buffer, row0, col0);
    klTmaStoreCommit();
  }
}

// Stores a warp's 64 x 64 sums through its own 4 KiB of shared memory and TMA, 32 x 32 at a time. The
// TMA unit writes whole lines. Direct stores from registers would write pieces of eight rows.
__device__ inline void klStoreFragmentsByTma(const float (&sum)[4][8][4], const CUtensorMap* cMap, uint32_t staging,
                                             int row0, int col0, float alpha) {
  const int lane = threadIdx.x % 32, g = lane / 4;
  const bool odd = g & 1;
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const int i0 = part / 2 * 2, j0 = part % 2 * 4;
    if (lane == 0) klTmaStoreWaitRead<0>();
    __syncwarp();
#pragma unroll
    for (int eight = 0; eight < 4; ++eight) {  // groups of eight rows
      const float(&line)[8][4] = sum[i0 + eight / 2];
      const int half = eight % 2 * 2;
      const uint32_t to = staging + (eight * 8 + g) * 128 + lane % 2 * 8;
      // Odd rows store the third and fourth of four 8-column groups first. Sixteen threads then write to all 32 banks.
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float x = odd ? line[j0 + (j ^ 2)][half] : line[j0 + j][half];
        const float y = odd ? line[j0 + (j ^ 2)][half + 1] : line[j0 + j][half + 1];
        const int sixteen = (odd ? j ^ 2 : j) * 2 + lane % 4 / 2;
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to + ((sixteen ^ g) << 4)), "f"(alpha * x), "f"(alpha * y)
                     : "memory");
      }
    }
    klAsyncProxyFence();
    __syncwarp();
    if (lane == 0) {
      klTmaStore(cMap, staging, row0 + i0 * 16, col0 + j0 * 8);
      klTmaStoreCommit();
    }
  }
}
