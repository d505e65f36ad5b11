// Reference for the rungs of attention/, in FP64. The error scale of an element is the sum of two terms. |o| covers the
// rounding of the result. The root of the sum of the squared weighted values covers the rounding of the weights.
#include "kl_reference.h"

#include <cuda_bf16.h>
#include <math.h>

namespace {

constexpr int kThreads = 256, kRows = 16, kKeys = 32;

__host__ __device__ double load(const void* data, long long i) {
  return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
}

__host__ __device__ long long keysOf(const KlReference& p, long long row) { return p.causal ? row + 1 : p.TOKENS; }

// Computes kRows rows of a head per block. The first pass finds the largest score; the weights are relative to it. A block
// writes 128 elements of each row of the result. Other blocks (grid.z) write the remaining elements.
__global__ void __launch_bounds__(kThreads) attention(KlReference p) {
  extern __shared__ double shared[];
  double* const q = shared;                      // kRows x HEAD elements
  double* const k = q + kRows * p.HEAD;          // kKeys x (HEAD + 1) elements
  double* const weight = k + kKeys * (p.HEAD + 1);  // kRows x kKeys elements
  __shared__ double largest[kRows], sum[kRows];

  const long long row0 = (long long)blockIdx.x * kRows, base = (long long)blockIdx.y * p.TOKENS;
  const int rows = int(min((long long)kRows, p.TOKENS - row0)), head = int(p.HEAD);
  const long long keys = keysOf(p, row0 + rows - 1);
  const double scale = 1 / sqrt(double(head));
  for (int i = threadIdx.x; i < kRows * head; i += kThreads)
    q[i] = i / head < rows ? load(p.q, (base + row0) * head + i) * scale : 0;
  if (threadIdx.x < kRows) largest[threadIdx.x] = -INFINITY, sum[threadIdx.x] = 0;

  // In both passes, a thread computes the scores of one key for kOwn rows.
  const int key = threadIdx.x % kKeys, firstRow = threadIdx.x / kKeys;
  constexpr int kOwn = kRows * kKeys / kThreads, kStep = kThreads / kKeys;
  const auto scores = [&](long long key0, double (&score)[kOwn]) {
    __syncthreads();
    for (int i = threadIdx.x; i < kKeys * head; i += kThreads)
      k[i / head * (head + 1) + i % head] = key0 + i / head < p.TOKENS ? load(p.k, (base + key0) * head + i) : 0;
    __syncthreads();
    for (int r = 0; r < kOwn; ++r) score[r] = 0;
    for (int d = 0; d < head; ++d)
      for (int r = 0; r < kOwn; ++r) score[r] += q[(firstRow + r * kStep) * head + d] * k[key * (head + 1) + d];
    for (int r = 0; r < kOwn; ++r)
      if (key0 + key >= min(p.TOKENS, keysOf(p, row0 + firstRow + r * kStep))) score[r] = -INFINITY;
  };

  double score[kOwn];
  for (long long key0 = 0; key0 < keys; key0 += kKeys) {
    scores(key0, score);
    for (int r = 0; r < kOwn; ++r) weight[(firstRow + r * kStep) * kKeys + key] = score[r];
    __syncthreads();
    if (threadIdx.x < kRows)
      for (int i = 0; i < kKeys; ++i) largest[threadIdx.x] = fmax(largest[threadIdx.x], weight[threadIdx.x * kKeys + i]);
  }

  // Two groups of threads compute the result. Each group handles half of the rows, and each thread one element per row.
  constexpr int kWide = 128, kParts = kThreads / kWide, kSums = kRows / kParts;
  const int element = blockIdx.z * kWide + threadIdx.x % kWide, part = threadIdx.x / kWide;
  double o[kSums] = {}, squares[kSums] = {};
  for (long long key0 = 0; key0 < keys; key0 += kKeys) {
    scores(key0, score);
    for (int r = 0; r < kOwn; ++r) {
      const int row = firstRow + r * kStep;
      weight[row * kKeys + key] = exp(score[r] - largest[row]);
    }
    __syncthreads();
    if (threadIdx.x < kRows)
      for (int i = 0; i < kKeys; ++i) sum[threadIdx.x] += weight[threadIdx.x * kKeys + i];
    const int here = int(min((long long)kKeys, p.TOKENS - key0));
    if (element < head)
      for (int i = 0; i < here; ++i) {
        const double value = load(p.v, (base + key0 + i) * head + element);
        for (int r = 0; r < kSums; ++r) {
          if (key0 + i >= keysOf(p, row0 + part * kSums + r)) continue;  // 0 times infinity would be NaN
          const double term = weight[(part * kSums + r) * kKeys + i] * value;
          o[r] += term;
          squares[r] += term * term;
        }
      }
  }
  __syncthreads();
  if (element < head)
    for (int r = 0; r < kSums; ++r) {
      const int row = part * kSums + r;
      if (row >= rows) continue;
      const long long at = (base + row0 + row) * head + element;
      p.o[at] = o[r] / sum[row];
      p.o_scale[at] = fabs(o[r] / sum[row]) + sqrt(squares[r]) / sum[row];
    }
}

}  // namespace

extern "C" cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  const int bytes = int(sizeof(double)) * (kRows * int(p->HEAD) + kKeys * (int(p->HEAD) + 1) + kRows * kKeys);
  const cudaError_t status = cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  const dim3 grid(unsigned((p->TOKENS + kRows - 1) / kRows), unsigned(p->HEADS), unsigned((p->HEAD + 127) / 128));
  attention<<<grid, kThreads, bytes, stream>>>(*p);
  return cudaGetLastError();
}

// Computes the reference result on the host, for emulation.
extern "C" void kl_reference_host(const KlReference* p) {
  const long long head = p->HEAD;
  const double scale = 1 / sqrt(double(head));
  double* const weight = new double[p->TOKENS];
  for (long long line = 0; line < p->HEADS * p->TOKENS; ++line) {
    const long long base = line / p->TOKENS * p->TOKENS, keys = keysOf(*p, line - base);
    double largest = -INFINITY, sum = 0;
    for (long long key = 0; key < keys; ++key) {
      double score = 0;
      for (long long d = 0; d < head; ++d) score += load(p->q, line * head + d) * load(p->k, (base + key) * head + d);
      weight[key] = score * scale;
      largest = fmax(largest, weight[key]);
    }
    for (long long key = 0; key < keys; ++key) sum += weight[key] = exp(weight[key] - largest);
    for (long long d = 0; d < head; ++d) {
      double o = 0, squares = 0;
      for (long long key = 0; key < keys; ++key) {
        const double term = weight[key] * load(p->v, (base + key) * head + d);
        o += term;
        squares += term * term;
      }
      p->o[line * head + d] = o / sum;
      p->o_scale[line * head + d] = fabs(o / sum) + sqrt(squares) / sum;
    }
    p->progress(double(line + 1) / double(p->HEADS * p->TOKENS));
  }
  delete[] weight;
}
