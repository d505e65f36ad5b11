// The expected result for the rungs of gemm/: the product in FP64 on the GPU, and the scale of its rounding errors,
// |alpha|·(|A||B|) + |beta|·|C0| + |bias|.
#include "kl_reference.h"

#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

namespace {

constexpr int kTile = 64, kDepth = 16, kSide = 16;  // 16 x 16 threads with 4 x 4 elements of a tile each

__host__ __device__ float load(const void* data, int dtype, long long i) {
  if (dtype == KL_F16) return __half2float(static_cast<const __half*>(data)[i]);
  if (dtype == KL_BF16) return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
  return static_cast<const float*>(data)[i];
}

// Computes alpha * product + beta * C0 + bias, then the activation, and the error scale. ReLU never increases the
// distance between two numbers, so the bound on its input also holds for its output.
__host__ __device__ void finish(const KlReference& p, int row, int col, double product, float productAbs) {
  const long long i = (long long)row * p.n + col;
  const double c0 = p.beta == 0 ? 0 : double(p.c_in[i]);  // otherwise C may hold NaN
  const double bias = p.bias ? double(p.bias[col]) : 0;
  const double c = p.beta == 0 ? 0 : double(p.beta) * c0;
  const double total = double(p.alpha) * product + c + bias;
  double scale = fabs(double(p.alpha)) * productAbs;
  if (p.beta != 0) scale += fabs(double(p.beta)) * fabs(c0);
  scale += fabs(bias);
  p.c[i] = p.activation == KL_RELU && total < 0 ? 0 : total;
  p.c_scale[i] = scale;
}

// Computes A * B in FP64, and |A| * |B| in FP32. FP32 suffices for |A| * |B|, which only sets a tolerance and sums
// positive terms. Using FP32 here halves the FP64 work, which is slow on most GPUs.
__global__ void __launch_bounds__(kSide* kSide) computeTiles(KlReference p, long long firstTile) {
  __shared__ double aTile[kDepth][kTile + 1], bTile[kDepth][kTile];
  __shared__ float aAbs[kDepth][kTile + 1], bAbs[kDepth][kTile];
  const int m = int(p.m), n = int(p.n), k = int(p.k);
  const int tilesN = (n + kTile - 1) / kTile;
  const long long tile = firstTile + blockIdx.x;
  const int row0 = int(tile / tilesN) * kTile, col0 = int(tile % tilesN) * kTile;
  const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * kSide + tx;

  double sum[4][4] = {};
  float sumAbs[4][4] = {};
  for (int t = 0; t < k; t += kDepth) {
    for (int e = thread; e < kTile * kDepth; e += kSide * kSide) {
      const int aRow = e / kDepth, aCol = e % kDepth, bRow = e / kTile, bCol = e % kTile;
      const float av = row0 + aRow < m && t + aCol < k
                           ? load(p.a, p.dtype, (long long)(row0 + aRow) * k + t + aCol) : 0.0f;
      const float bv = t + bRow < k && col0 + bCol < n
                           ? load(p.b, p.dtype, (long long)(t + bRow) * n + col0 + bCol) : 0.0f;
      aTile[aCol][aRow] = av;
      aAbs[aCol][aRow] = fabsf(av);
      bTile[bRow][bCol] = bv;
      bAbs[bRow][bCol] = fabsf(bv);
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
      if (row < m && col < n) finish(p, row, col, sum[i][j], sumAbs[i][j]);
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

// Computes the reference result on the host, for emulation. Iterates along rows of B, so the compiler can vectorize.
extern "C" void kl_reference_host(const KlReference* p) {
  const long long m = p->m, n = p->n, k = p->k;
  std::vector<float> b(size_t(k * n)), bAbs(size_t(k * n));
  for (long long i = 0; i < k * n; ++i) bAbs[i] = fabsf(b[i] = load(p->b, p->dtype, i));
  std::vector<double> sum(n), sumAbs(n);
  for (long long row = 0; row < m; ++row) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(sumAbs.begin(), sumAbs.end(), 0.0);
    for (long long d = 0; d < k; ++d) {
      const double a = load(p->a, p->dtype, row * k + d), aAbs = fabs(a);
      const float *values = &b[d * n], *magnitudes = &bAbs[d * n];
      for (long long col = 0; col < n; ++col) {
        sum[col] += a * values[col];
        sumAbs[col] += aAbs * magnitudes[col];
      }
    }
    for (long long col = 0; col < n; ++col) finish(*p, int(row), int(col), sum[col], float(sumAbs[col]));
  }
}
