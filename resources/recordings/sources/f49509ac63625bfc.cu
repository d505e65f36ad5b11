// @rung    20_fused_epilogue
// @title   Fused epilogue through shared memory
// @after   21_unfused_epilogue
// @idea    bias and ReLU are applied to the sums on their way out, so that C is written once, not read again, and there is one launch less; the way leads through shared memory, where the sums become whole rows: a thread keeps its four columns, and needs four values of the bias
// @expect  dramBytes down, l2Bytes down, sharedStoreWavefronts up, registersPerThread up
// @param   BK 16 {8,16,32}
// @param   STAGES 3 {2,3,4}
// @param   GROUP 8 {1,2,4,8,16,32}
// @param   SNAKE 1 {0,1}
// @param   STAGED 1 {0,1}
// @dtype   f32
// @epilogue bias relu
// @requires sm_80
// Measured on an NVIDIA H200 at 4096^3 f32 after 21_unfused_epilogue (seed-cutlass-h200): time 2.67 ms ->
//   2.62 ms (1.02x), 1.03x as fast as 00_cublas, which computes the product alone; dramBytes 511 MiB -> 408
//   MiB (down as expected); l2Bytes 2.75 GiB -> 2.57 GiB (down as expected); sharedStoreWavefronts 0 -> 524 k
//   (up as expected); registersPerThread 210 -> 217 registers (up as expected)

// Written straight from the registers (STAGED 0), a warp's 128-bit store covers 128 bytes in each of four
// rows: whole sectors already. Through shared memory it covers 512 bytes of one row.

#include "rasterized_common.cuh"

constexpr int kStrideC = BN + 4;              // of the rows that leave, in the memory of the stages
constexpr int kPassRows = BM / (TM / 4);      // rows that leave at a time: each thread's next four
constexpr int kStepRows = kThreads * 4 / BN;  // of these, the rows that all threads write at once
static_assert(kThreads * 4 % BN == 0 && kPassRows % kStepRows == 0,
              "the threads of a block must cover whole rows of C, and a pass in whole steps");
static_assert(!STAGED || STAGES * kStageFloats >= kPassRows * kStrideC,
              "STAGES * BK * (BM + 4 + BN) must hold the 32 rows of C that leave at a time");

struct Finish {
  float alpha, beta, least;  // least: see klLeast
};

// Four neighbours of a row, of alpha already. What follows beta's part is the epilogue that the second
// kernel was for.
__device__ inline void finishFour(float* c, float4 result, float4 bias, Finish by) {
  if (by.beta != 0.0f) {  // else C may hold NaN
    const float4 old = *reinterpret_cast<const float4*>(c);
    result.x += by.beta * old.x;
    result.y += by.beta * old.y;
    result.z += by.beta * old.z;
    result.w += by.beta * old.w;
  }
  *reinterpret_cast<float4*>(c) =
      make_float4(klAtLeast(result.x + bias.x, by.least), klAtLeast(result.y + bias.y, by.least),
                  klAtLeast(result.z + bias.z, by.least), klAtLeast(result.w + bias.w, by.least));
}

__device__ inline void finishOne(float* c, float result, float bias, Finish by) {
  if (by.beta != 0.0f) result += by.beta * *c;
  *c = klAtLeast(result + bias, by.least);
}

template <bool kWhole>
__device__ inline void finish(float* c, int colsLeft, float4 result, float4 bias, Finish by) {
  if (kWhole) {
    finishFour(c, result, bias, by);
  } else {
    if (0 < colsLeft) finishOne(&c[0], result.x, bias.x, by);
    if (1 < colsLeft) finishOne(&c[1], result.y, bias.y, by);
    if (2 < colsLeft) finishOne(&c[2], result.z, bias.z, by);
    if (3 < colsLeft) finishOne(&c[3], result.w, bias.w, by);
  }
}

// The bias of four columns: zeros beyond N, and where there is none.
template <bool kWhole>
__device__ inline float4 biasOf(const float* __restrict__ bias, int colsLeft) {
  if (!bias) return make_float4(0, 0, 0, 0);
  if (kWhole) return *reinterpret_cast<const float4*>(bias);
  return make_float4(0 < colsLeft ? bias[0] : 0, 1 < colsLeft ? bias[1] : 0, 2 < colsLeft ? bias[2] : 0,
                     3 < colsLeft ? bias[3] : 0);
}

__device__ inline float4 scaledFour(float alpha, const float* sum) {
  return make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
}

template <bool kWhole>
__global__ void __launch_bounds__(kThreads, 1)
gemmFusedEpilogue(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                  const float* __restrict__ bias, Finish by, float* __restrict__ c) {
  extern __shared__ __align__(16) float stages[];
  const TilePart part(m, n);
  float sum[TM][TN] = {};
  multiplyTile<kWhole>(part, m, n, k, a, b, stages, sum);

  if (!STAGED) {
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int s = part.colOf(j);
      const float4 add = biasOf<kWhole>(bias ? bias + s : bias, n - s);
#pragma unroll
      for (int i = 0; i < TM; ++i) {
        const int r = part.rowOf(i);
        if (!kWhole && r >= m) break;  // a thread's rows ascend
        finish<kWhole>(c + (long long)r * n + s, n - s, scaledFour(by.alpha, &sum[i][j]), add, by);
      }
    }
    return;
  }

  // Group after group of four rows of each thread: 32 rows of the block's tile, in whole. A thread
  // writes the same four columns of all of them. Alpha comes first, because a 128-bit store takes four
  // neighbouring registers: of the sums themselves, that would bind the main loop's choice of registers,
  // and one FFMA in twenty would read three from one bank.
  const int s = part.col0 + threadIdx.x * 4 % BN;
  const float4 add = biasOf<kWhole>(bias ? bias + s : bias, n - s);
  awaitCopies<0>();
#pragma unroll
  for (int i = 0; i < TM; i += 4) {
    __syncthreads();  // nobody reads the last tile, or the rows of the pass before, any more
    // The rows of a warp's tile that this pass takes lie together, below those of the warps above it.
    float* in = stages + (part.row / WM * (4 * kLanesM) + part.row % WM) * kStrideC + part.col;
#pragma unroll
    for (int l = 0; l < 4; ++l)
#pragma unroll
      for (int j = 0; j < TN; j += 4)
        *reinterpret_cast<float4*>(&in[l * kStrideC + j * kLanesN]) = scaledFour(by.alpha, &sum[i + l][j]);
    __syncthreads();

#pragma unroll
    for (int from = 0; from < kPassRows; from += kStepRows) {
      const int at = from + threadIdx.x * 4 / BN;  // row of the pass, and where in the tile it belongs:
      const int to = at / (4 * kLanesM) * WM + i * kLanesM + at % (4 * kLanesM);
      const int r = part.row0 + to;
      if (!kWhole && r >= m) break;  // a thread's rows ascend
      const float4 total = *reinterpret_cast<const float4*>(&stages[at * kStrideC + s - part.col0]);
      finish<kWhole>(c + (long long)r * n + s, n - s, total, add, by);
    }
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRasterizedUnsupported(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const bool whole = klWholeTiles(p) && klAligned16(p->bias);
  const auto kernel = whole ? gemmFusedEpilogue<true> : gemmFusedEpilogue<false>;
  // More than 48 KiB of shared memory is granted only to a kernel that asks for it.
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  kernel<<<klRasterizedGrid(p), kThreads, kSharedBytes, stream>>>(
      m, n, k, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->bias,
      Finish{p->alpha, p->beta, klLeast(p)}, p->c);
  return cudaGetLastError();
}
