// Computes the expected result for the gemm-nt rungs: the product in FP64, and |C| + sqrt(k)*2^-14*|A||B| per element,
// the error scale in task.yaml.
#include "kl_reference.h"

#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <math.h>
#include <vector>

namespace {

constexpr int kTile = 64, kDepth = 16, kSide = 16;  // 16 x 16 threads with 4 x 4 elements of a tile each

__host__ __device__ float load(const void* data, int dtype, long long i) {
  if (dtype == KL_E4M3) return float(static_cast<const __nv_fp8_e4m3*>(data)[i]);
  return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
}

__host__ __device__ void finish(const KlReference& p, long long i, double product, double productAbs) {
  const double scale = double(p.scale_a) * double(p.scale_b), c = scale * product;
  p.c[i] = c;
  p.c_scale[i] = fabs(c) + sqrt(double(p.k)) * ldexp(fabs(scale) * productAbs, -14);
}

// FP32 suffices for |A||B|, because it only sets a tolerance and all its terms are positive. FP32 halves the FP64 work,
// which is slow on most GPUs.
__global__ void __launch_bounds__(kSide* kSide) computeTiles(KlReference p, long long firstTile) {
  __shared__ double aTile[kDepth][kTile + 1], bTile[kDepth][kTile + 1];
  __shared__ float aAbs[kDepth][kTile + 1], bAbs[kDepth][kTile + 1];
  const int m = int(p.m), n = int(p.n), k = int(p.k);
  const int tilesN = (n + kTile - 1) / kTile;
  const long long tile = firstTile + blockIdx.x;
  const int row0 = int(tile / tilesN) * kTile, col0 = int(tile % tilesN) * kTile;
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * kSide + tx;

  double sum[4][4] = {};
  float sumAbs[4][4] = {};
  for (int t = 0; t < k; t += kDepth) {
    for (int e = thread; e < kTile * kDepth; e += kSide * kSide) {
      const int row = e / kDepth, depth = e % kDepth;
      const bool inside = t + depth < k;
      const float av = inside && row0 + row < m ? load(p.a, p.dtype, (long long)(row0 + row) * k + t + depth) : 0.0f;
      const float bv = inside && col0 + row < n ? load(p.b, p.dtype, (long long)(col0 + row) * k + t + depth) : 0.0f;
      aTile[depth][row] = av;
      aAbs[depth][row] = fabsf(av);
      bTile[depth][row] = bv;
      bAbs[depth][row] = fabsf(bv);
    }
    __syncthreads();
#pragma unroll 4
    for (int d = 0; d < kDepth; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          sum[i][j] += aTile[d][ty + kSide * i] * bTile[d][tx + kSide * j];
          sumAbs[i][j] += aAbs[d][ty + kSide * i] * bAbs[d][tx + kSide * j];
        }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + ty + kSide * i, col = col0 + tx + kSide * j;
      if (row < m && col < n) finish(p, (long long)row * n + col, sum[i][j], sumAbs[i][j]);
    }
}

}  // namespace

// Splits the work into launches short enough for a GPU with slow FP64 that also drives a display.
extern "C" cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  const auto tilesOf = [](long long size) { return (size + kTile - 1) / kTile; };
  const long long tiles = tilesOf(p->m) * tilesOf(p->n);
  const double flopsATile = 2.0 * kTile * kTile * double(p->k), flopsALaunch = 1e10;
  const long long chunk =
      std::min(1LL << 20, std::max(2LL * p->smCount, (long long)(flopsALaunch / flopsATile)));
  for (long long first = 0; first < tiles; first += chunk) {
    const unsigned blocks = unsigned(std::min(chunk, tiles - first));
    computeTiles<<<blocks, dim3(kSide, kSide), 0, stream>>>(*p, first);
    if (const cudaError_t error = cudaGetLastError()) return error;
    if (const cudaError_t error = cudaStreamSynchronize(stream)) return error;
    p->progress(double(first + blocks) / double(tiles));
  }
  return cudaSuccess;
}

// Computes the reference result on the host, for emulation.
extern "C" void kl_reference_host(const KlReference* p) {
  const long long m = p->m, n = p->n, k = p->k;
  std::vector<float> a(size_t(m * k)), b(size_t(n * k));
  for (long long i = 0; i < m * k; ++i) a[i] = load(p->a, p->dtype, i);
  for (long long i = 0; i < n * k; ++i) b[i] = load(p->b, p->dtype, i);
  for (long long row = 0; row < m; ++row)
    for (long long col = 0; col < n; ++col) {
      double sum = 0, sumAbs = 0;
      for (long long d = 0; d < k; ++d) {
        const double term = double(a[row * k + d]) * double(b[col * k + d]);
        sum += term;
        sumAbs += fabs(term);
      }
      finish(*p, row * n + col, sum, sumAbs);
    }
}
