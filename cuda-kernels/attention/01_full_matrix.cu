// @rung    01_full_matrix
// @title   Full score matrix in memory
// @idea    three kernels compute the formula as written. The first stores all scores q·kᵀ. The second turns each row of scores into weights, and the third multiplies the weights by v. The score matrix is far larger than the inputs, and every kernel reads or writes it in memory
// @dtype   bf16
#include "attention_common.cuh"

constexpr int kThreads = 256;

// One thread per score. Neighboring threads process neighboring keys, which are separate rows of k.
__global__ void scores(KlTask p, float* __restrict__ matrix) {
  const long long key = (long long)blockIdx.x * kThreads + threadIdx.x, row = blockIdx.y + (long long)blockIdx.z * gridDim.y;
  if (row >= p.HEADS * p.TOKENS || key >= klKeys(p.TOKENS, p.causal, row % p.TOKENS)) return;
  const auto* q = static_cast<const KlElement*>(p.q) + row * p.HEAD;
  const auto* k = static_cast<const KlElement*>(p.k) + (row / p.TOKENS * p.TOKENS + key) * p.HEAD;
  float sum = 0;
  for (int d = 0; d < p.HEAD; d += 8) {
    float a[8], b[8];
    klLoadEight(a, q + d);
    klLoadEight(b, k + d);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += a[i] * b[i];
  }
  matrix[row * p.TOKENS + key] = sum;
}

template <typename Of>
__device__ float reduce(float value, Of of) {
  __shared__ float ofThread[kThreads];
  ofThread[threadIdx.x] = value;
  for (int threads = kThreads / 2; threads > 0; threads /= 2) {
    __syncthreads();
    if (threadIdx.x < threads) ofThread[threadIdx.x] = of(ofThread[threadIdx.x], ofThread[threadIdx.x + threads]);
  }
  __syncthreads();
  value = ofThread[0];
  __syncthreads();
  return value;
}

// Turns scores into weights in place, with one block per row.
__global__ void weights(KlTask p, float scale, float* __restrict__ matrix) {
  const long long row = blockIdx.x + (long long)blockIdx.y * gridDim.x;
  if (row >= p.HEADS * p.TOKENS) return;
  const long long keys = klKeys(p.TOKENS, p.causal, row % p.TOKENS);
  float* line = matrix + row * p.TOKENS;
  float largest = -INFINITY, sum = 0;
  for (long long key = threadIdx.x; key < keys; key += kThreads) largest = fmaxf(largest, line[key]);
  largest = reduce(largest, [](float a, float b) { return fmaxf(a, b); }) * scale;
  for (long long key = threadIdx.x; key < keys; key += kThreads) {
    const float weight = klPowerOfTwo(line[key] * scale - largest);
    line[key] = weight;
    sum += weight;
  }
  const float factor = 1 / reduce(sum, [](float a, float b) { return a + b; });
  for (long long key = threadIdx.x; key < keys; key += kThreads) line[key] *= factor;
}

// One thread per element of the result. Neighboring threads compute neighboring elements.
__global__ void products(KlTask p, const float* __restrict__ matrix) {
  const long long at = (long long)blockIdx.x * kThreads + threadIdx.x, row = at / p.HEAD;
  if (row >= p.HEADS * p.TOKENS) return;
  const long long keys = klKeys(p.TOKENS, p.causal, row % p.TOKENS);
  const float* line = matrix + row * p.TOKENS;
  const auto* v = static_cast<const KlElement*>(p.v) + row / p.TOKENS * p.TOKENS * p.HEAD + at % p.HEAD;
  float sum = 0;
  for (long long key = 0; key < keys; ++key) sum += line[key] * __bfloat162float(v[key * p.HEAD]);
  static_cast<KlElement*>(p.o)[at] = __float2bfloat16_rn(sum);
}

extern "C" const char* kl_unsupported(const KlTask* p, int) {
  return p->HEAD % 8 ? "it reads 16 bytes at a time: HEAD must be a multiple of 8" : nullptr;
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) { return size_t(p->HEADS) * p->TOKENS * p->TOKENS * sizeof(float); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  constexpr long long kMaxGridY = 65535;
  const long long rows = p->HEADS * p->TOKENS, fast = rows < kMaxGridY ? rows : kMaxGridY, slow = (rows + fast - 1) / fast;
  auto* matrix = static_cast<float*>(p->workspace);
  scores<<<dim3(unsigned((p->TOKENS + kThreads - 1) / kThreads), unsigned(fast), unsigned(slow)), kThreads, 0, stream>>>(*p, matrix);
  weights<<<dim3(unsigned(fast), unsigned(slow)), kThreads, 0, stream>>>(*p, klScoreScale(p), matrix);
  products<<<unsigned((rows * p->HEAD + kThreads - 1) / kThreads), kThreads, 0, stream>>>(*p, matrix);
  return cudaGetLastError();
}
