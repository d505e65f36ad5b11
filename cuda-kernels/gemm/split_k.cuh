// The second kernel of split-K, which adds the partial results of the slices.
#pragma once

#include "async_tiles.cuh"

#include <algorithm>

__device__ inline float plus(float a, float b) { return a + b; }
__device__ inline float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// Computes C = alpha * (sum of the partial results) + beta * C for `count` elements of type T, float or float4.
template <typename T>
__global__ void __launch_bounds__(256)
addPartials(long long count, int splits, float alpha, const T* __restrict__ partials, float beta,
            T* __restrict__ c) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    T sum = partials[i];
#pragma unroll 4
    for (int s = 1; s < splits; ++s) sum = plus(sum, partials[s * count + i]);
    klStore(&c[i], sum, alpha, beta);
  }
}

// Combines the partial results in the workspace, stored one matrix after another, into C.
inline cudaError_t klAddPartials(const KlGemm* p, int slices, cudaStream_t stream) {
  const long long elements = p->m * p->n;
  const auto blocks = [](long long count) {
    return unsigned(std::min<long long>((count + 255) / 256, 1 << 20));
  };
  const float* partials = static_cast<const float*>(p->workspace);
  if (klAligned16(p->c) && klAligned16(partials) && elements % 4 == 0) {
    addPartials<<<blocks(elements / 4), 256, 0, stream>>>(
        elements / 4, slices, p->alpha, reinterpret_cast<const float4*>(partials), p->beta,
        reinterpret_cast<float4*>(p->c));
  } else {
    addPartials<<<blocks(elements), 256, 0, stream>>>(elements, slices, p->alpha, partials, p->beta, p->c);
  }
  return cudaGetLastError();
}

// Returns the size in bytes of the partial results, or 0 if K has one slice.
inline size_t klPartialBytes(const KlGemm* p, int slices) {
  return slices == 1 ? 0 : size_t(slices) * p->m * p->n * sizeof(float);
}

// Returns the number of SMs of this GPU.
inline int klSmCount() {
  int device = 0, sms = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  return sms;
}

// Launches a kernel whose argument after k is the slice length. Each slice writes to its part of the workspace, then
// the parts are added. A single slice writes directly to C.
template <typename Kernel>
cudaError_t klLaunchSlices(Kernel* kernel, int tiles, int slices, int length, int threads, int sharedBytes,
                           const KlGemm* p, cudaStream_t stream) {
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sharedBytes);
  if (error != cudaSuccess) return error;
  const bool partial = slices > 1;
  kernel<<<dim3(tiles, slices), threads, sharedBytes, stream>>>(
      int(p->m), int(p->n), int(p->k), length, partial ? 1.0f : p->alpha,
      static_cast<const float*>(p->a), static_cast<const float*>(p->b), partial ? 0.0f : p->beta,
      partial ? static_cast<float*>(p->workspace) : p->c);
  const cudaError_t status = cudaGetLastError();
  return status != cudaSuccess || !partial ? status : klAddPartials(p, slices, stream);
}
