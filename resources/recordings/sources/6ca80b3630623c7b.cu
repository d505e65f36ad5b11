// @rung    21_unfused_epilogue
// @title   Bias and ReLU by a second kernel
// @after   15_rasterized
// @idea    what most often follows a product, a bias and an activation, comes as a second kernel, which reads all of C and writes it again: what a library's GEMM and a framework's elementwise kernel cost together
// @expect  dramBytes up, l2Bytes up, sharedLoads same, registersPerThread same
// @param   BK 16 {8,16,32}
// @param   STAGES 3 {2,3,4}
// @param   GROUP 8 {1,2,4,8,16,32}
// @param   SNAKE 1 {0,1}
// @dtype   f32
// @epilogue bias relu
// @requires sm_80
// Measured on an NVIDIA H200 at 4096^3 f32 after 15_rasterized (seed-cutlass-h200): time 2.62 ms -> 2.67 ms
//   (0.982x), 1.01x as fast as 00_cublas, which computes the product alone; dramBytes 408 MiB -> 511 MiB (up
//   as expected); l2Bytes 2.57 GiB -> 2.75 GiB (up as expected); sharedLoads 139 M (same as expected);
//   registersPerThread 210 registers (same as expected)

#include "rasterized_common.cuh"

// The product as 15_rasterized writes it: straight from the registers.
template <bool kWhole>
__global__ void __launch_bounds__(kThreads, 1)
gemmRasterized(int m, int n, int k, float alpha, const float* __restrict__ a,
               const float* __restrict__ b, float beta, float* __restrict__ c) {
  extern __shared__ __align__(16) float stages[];
  const TilePart part(m, n);
  float sum[TM][TN] = {};
  multiplyTile<kWhole>(part, m, n, k, a, b, stages, sum);

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int r = part.rowOf(i);
    if (!kWhole && r >= m) break;  // a thread's rows ascend
    float* cRow = c + (long long)r * n;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int s = part.colOf(j);
      if (kWhole) {
        klStore(reinterpret_cast<float4*>(&cRow[s]),
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]), alpha, beta);
      } else {
#pragma unroll
        for (int l = 0; l < 4; ++l)
          if (s + l < n) klStore(&cRow[s + l], sum[i][j + l], alpha, beta);
      }
    }
  }
}

// A warp takes kWidth times 32 neighbours of a row and, kWarps rows further on, the same columns again:
// their bias is read once, and a thread's rows are all on their way before the first is written.
constexpr int kWarps = 8, kRows = 4;  // of a block, of a thread

template <int kWidth>
struct alignas(kWidth * sizeof(float)) Neighbours {
  float of[kWidth];
};

// In place. With kWidth 4, n is a multiple of it and C and bias begin at 16 bytes.
template <int kWidth>
__global__ void __launch_bounds__(kWarps * 32)
addBiasActivate(int m, int n, const float* __restrict__ bias, float least, float* c) {
  const int blocksN = ceilDiv(n, 32 * kWidth);
  const int col = (blockIdx.x % blocksN * 32 + threadIdx.x % 32) * kWidth;
  const int row = blockIdx.x / blocksN * (kWarps * kRows) + threadIdx.x / 32;
  if (col >= n) return;

  using Part = Neighbours<kWidth>;
  Part add = {};
  if (bias) add = *reinterpret_cast<const Part*>(bias + col);
  float* from = c + (long long)row * n + col;
  const long long step = (long long)kWarps * n;

  Part values[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i)
    if (row + i * kWarps < m) values[i] = *reinterpret_cast<const Part*>(from + i * step);
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (row + i * kWarps >= m) break;
#pragma unroll
    for (int l = 0; l < kWidth; ++l) values[i].of[l] = klAtLeast(values[i].of[l] + add.of[l], least);
    *reinterpret_cast<Part*>(from + i * step) = values[i];
  }
}

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) { return klRasterizedUnsupported(p, sm); }

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const auto multiply = klWholeTiles(p) ? gemmRasterized<true> : gemmRasterized<false>;
  // More than 48 KiB of shared memory is granted only to a kernel that asks for it.
  const cudaError_t error =
      cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (error != cudaSuccess) return error;
  multiply<<<klRasterizedGrid(p), kThreads, kSharedBytes, stream>>>(
      m, n, k, p->alpha, static_cast<const float*>(p->a), static_cast<const float*>(p->b), p->beta, p->c);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess || (!p->bias && p->activation == KL_NONE)) return status;

  const bool wide = n % 4 == 0 && klAligned16(p->c) && klAligned16(p->bias);
  const dim3 grid(ceilDiv(n, wide ? 128 : 32) * ceilDiv(m, kWarps * kRows));
  const auto finish = wide ? addBiasActivate<4> : addBiasActivate<1>;
  finish<<<grid, kWarps * 32, 0, stream>>>(m, n, p->bias, klLeast(p), p->c);
  return cudaGetLastError();
}
