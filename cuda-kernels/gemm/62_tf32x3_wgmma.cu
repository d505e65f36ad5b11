// @rung    62_tf32x3_wgmma
// @title   3xTF32 on WGMMA
// @after   61_tf32x3_cp_async
// @idea    unlike mma.sync, WGMMA runs the tensor cores at their full rate. One warpgroup splits B once for the whole block on its way into shared memory. The warpgroup also transposes B, as TF32 requires. Two other warpgroups split A in registers and multiply
// @expect  tensorUtilization up, registersPerThread down
// @param   STAGES 4 {2,3,4}
// @param   GROUP 8 {1,4,8,16}
// @dtype   f32
// @requires sm_90a

#include "tf32_wgmma.cuh"

constexpr int BM = 128, BN = 128, kDepth = 32;  // 32 elements along K are 128 bytes, one swizzled row
constexpr int kConsumers = 2, kThreads = (1 + kConsumers) * 128;
constexpr int kBytesA = BM * 128, kBytesB = BN * 128, kStageBytes = kBytesA + 2 * kBytesB;  // A, B high, B low
constexpr int kSharedBytes = STAGES * kStageBytes + 1024;  // tiles start at multiples of 1024 bytes

static_assert(STAGES >= 2 && kSharedBytes <= 226 * 1024, "STAGES must be at least 2, and STAGES * 48 KiB must fit into the 227 KiB of a block");

// Each copy and each store moves kWide elements: 4, or 1 if rows are unaligned.
template <int kWide>
__global__ void __launch_bounds__(kThreads, 1)
gemm(int m, int n, int k, float alpha, const float* __restrict__ a, const float* __restrict__ b, float beta,
                float* __restrict__ c) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[STAGES];   // completes a phase when a stage has arrived
  __shared__ uint64_t empty[STAGES];  // completes a phase when both consumers are done with a stage
  unsigned char* stages = shared + (-klSharedAddress(shared) & 1023);

  // Blocks process bands of GROUP tile rows, column by column within a band, so that concurrent blocks share
  // rows of A and columns of B in L2.
  const int rows = ceilDiv(m, BM), cols = ceilDiv(n, BN);
  const int band = blockIdx.x / (GROUP * cols), inBand = blockIdx.x - band * GROUP * cols;
  const int bandRows = min(GROUP, rows - band * GROUP);
  const int row0 = (band * GROUP + inBand % bandRows) * BM, col0 = inBand / bandRows * BN;
  const int steps = ceilDiv(k, kDepth);

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      klBarrierInit(&full[s], 2 * 128);             // each producer arrives for its part of A and its part of B
      klBarrierInit(&empty[s], kConsumers * 4);     // each consumer warp arrives
    }
    klBarrierInitFence();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    // Asynchronous copies move A unchanged. B passes through registers, two stages ahead. A warp loads eight rows of
    // the tile along K. Each thread loads four adjacent columns of these rows and splits them into high and low parts.
    // Past K, elements of A and B are zero. Past M and N, the last row or column is read instead.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    constexpr int kRowsB = kDepth / 4;
    struct Patch {
      float4 row[kRowsB];
    };
    const int bCol = col0 + lane * 4;
    const auto fetch = [&](Patch& patch, int step) {
      const int t = step * kDepth + warp * kRowsB;
      const float* from = b + (long long)t * n;
      if (kWide == 4 && t + kRowsB <= k) {
        from += min(bCol, n - 4);
#pragma unroll
        for (int i = 0; i < kRowsB; ++i) patch.row[i] = *reinterpret_cast<const float4*>(from + (long long)i * n);
      } else {
#pragma unroll
        for (int i = 0; i < kRowsB; ++i) {
          const float* line = from + (long long)i * n;
          const auto at = [&](int j) { return t + i < k ? line[min(bCol + j, n - 1)] : 0.0f; };
          patch.row[i] = make_float4(at(0), at(1), at(2), at(3));
        }
      }
    };
    constexpr int kPerRow = kDepth / kWide, kRowStep = 128 / kPerRow;
    const int aRow = threadIdx.x / kPerRow, aCol = threadIdx.x % kPerRow * kWide;
    const float* aLine[kWide == 4 ? BM / kRowStep : 1];
    if constexpr (kWide == 4) {
#pragma unroll
      for (int i = 0; i < BM / kRowStep; ++i)
        aLine[i] = a + (long long)min(row0 + aRow + i * kRowStep, m - 1) * k + aCol;
    }
    int s = 0, phase = 0;
    const auto produce = [&](const Patch& patch, int step) {
      klBarrierWait(&empty[s], phase ^ 1);
      const uint32_t aTile = klSharedAddress(stages + s * kStageBytes);
      const int t = step * kDepth;
      const bool inside = t + aCol < k;
      if constexpr (kWide == 4) {
        const int ahead = inside ? t : -aCol;
#pragma unroll
        for (int i = 0; i < BM / kRowStep; ++i)
          copyAsync<4>(aTile + place(aRow, aCol / 4) + i * kRowStep * 128, aLine[i] + ahead, inside);
      } else {
#pragma unroll 4
        for (int row = aRow; row < BM; row += kRowStep)
          copyAsync<1>(aTile + place(row, aCol / 4) + aCol % 4 * 4,
                       a + (long long)min(row0 + row, m - 1) * k + (inside ? t + aCol : 0), inside);
      }
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(klSharedAddress(&full[s])) : "memory");

      // Column 4 l + j of the matrix is row 32 j + l of the tile. Neighboring threads write neighboring rows, which the
      // swizzle keeps in different banks.
      unsigned char* bTile = stages + s * kStageBytes + kBytesA;
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int half = 0; half < kRowsB / 4; ++half) {
          Tf32Pair pair[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const float4 row = patch.row[half * 4 + i];
            pair[i] = klSplit(j == 0 ? row.x : j == 1 ? row.y : j == 2 ? row.z : row.w);
          }
          unsigned char* to = bTile + place(j * 32 + lane, warp * (kRowsB / 4) + half);
          *reinterpret_cast<uint4*>(to) = make_uint4(pair[0].high, pair[1].high, pair[2].high, pair[3].high);
          *reinterpret_cast<uint4*>(to + kBytesB) = make_uint4(pair[0].low, pair[1].low, pair[2].low, pair[3].low);
        }
      klAsyncProxyFence();  // makes these writes visible to WGMMA
      klBarrierArrive(&full[s]);
      if (++s == STAGES) s = 0, phase ^= 1;
    };

    Patch even, odd;
    fetch(even, 0);
    fetch(odd, 1);
    for (int step = 0; step < steps; step += 2) {
      produce(even, step);
      fetch(even, step + 2);
      if (step + 1 < steps) produce(odd, step + 1);
      fetch(odd, step + 3);
    }
  } else {
    const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const int g = lane / 4, t = lane % 4, aRow = group * 64 + warp * 16 + g;
    struct Parts {
      uint32_t high[kDepth / 8][4], low[kDepth / 8][4];
    };
    float sum[BN / 2] = {};
    // Splits this warpgroup's part of A while the products of the previous stage run.
    const auto split = [&](Parts& parts, int step) {
      if (step >= steps) return;
      const int s = step % STAGES;
      klBarrierWait(&full[s], step / STAGES & 1);
      const unsigned char* aTile = stages + s * kStageBytes;
#pragma unroll
      for (int d = 0; d < kDepth / 8; ++d)
#pragma unroll
        for (int i = 0; i < 4; ++i) {  // in the order of Tf32PartA
          const Tf32Pair pair =
              klSplit(*reinterpret_cast<const float*>(aTile + place(aRow + i % 2 * 8, d * 2 + i / 2) + t * 4));
          parts.high[d][i] = pair.high;
          parts.low[d][i] = pair.low;
        }
    };
    const auto multiply = [&](const Parts& parts, int step) {
      // B: rows of 32 elements along K; eight rows are 1024 bytes.
      const uint32_t bTile = klSharedAddress(stages + step % STAGES * kStageBytes) + kBytesA;
      const uint64_t bHigh = klDescriptor(bTile, 16, 1024), bLow = klDescriptor(bTile + kBytesB, 16, 1024);
      klWgmmaFence();
#pragma unroll
      for (int d = 0; d < kDepth / 8; ++d) {  // 8 elements are 32 bytes; the small products come first
        multiplyTf32(sum, parts.low[d], bHigh + d * (32 >> 4));
        multiplyTf32(sum, parts.high[d], bLow + d * (32 >> 4));
        multiplyTf32(sum, parts.high[d], bHigh + d * (32 >> 4));
      }
      klWgmmaCommit();
    };
    const auto finish = [&](int step) {
      klWgmmaWait<0>();
      if (lane == 0) klBarrierArrive(&empty[step % STAGES]);
    };

    Parts even, odd;
    split(even, 0);
    for (int step = 0; step < steps; step += 2) {
      multiply(even, step);
      split(odd, step + 1);
      finish(step);
      if (step + 1 == steps) break;
      multiply(odd, step + 1);
      split(even, step + 2);
      finish(step + 1);
    }
    klStoreTransposedB<kWide>(sum, c, row0 + aRow, col0, m, n, alpha, beta);
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int) {
  if (const char* reason = klRequireF32(p)) return reason;
  return (p->m + BM - 1) / BM * ((p->n + BN - 1) / BN) > 0x7fffffffLL ? "it has more tiles than a grid has blocks" : nullptr;
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const auto kernel = klRowsOfFour(p) ? gemm<4> : gemm<1>;
  const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (status != cudaSuccess) return status;
  kernel<<<ceilDiv(m, BM) * ceilDiv(n, BN), kThreads, kSharedBytes, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta, p->c);
  return cudaGetLastError();
}
