// @rung    deep_gemm
// @title   DeepGEMM
// @idea    the rung uses sm90_fp8_gemm_1d2d_impl with the configuration that DeepGEMM chooses at 4096 and 8192. All scales are 1
// @dtype   e4m3
// @requires sm_90a
#include "kernel_ladder.h"

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

namespace {

// DeepGEMM compiles N, K and the number of SMs into the kernel.
constexpr int kSms = 132, kBlockM = 256, kBlockN = 128, kBlockK = 128, kStages = 3, kCluster = 2;
constexpr int kTmaThreads = 128, kMathThreads = 256, kMaxStages = 16;

struct Scales {
  float *a = nullptr, *b = nullptr;  // [k/128][m] and [n/128][k/128]
} scales;

__global__ void fillWithOnes(float* values, long long count) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) values[i] = 1;
}

CUresult encode(CUtensorMap* map, CUtensorMapDataType type, int bytes, const void* data, long long inner, long long outer,
                unsigned boxInner, unsigned boxOuter, CUtensorMapSwizzle swizzle) {
  const cuuint64_t sizes[] = {cuuint64_t(inner), cuuint64_t(outer)}, strides[] = {cuuint64_t(inner * bytes)};
  const cuuint32_t box[] = {boxInner, boxOuter}, steps[] = {1, 1};
  return cuTensorMapEncodeTiled(map, type, 2, const_cast<void*>(data), sizes, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

template <uint32_t Size>
cudaError_t launch(const KlGemmNt* p, cudaStream_t stream) {
  CUtensorMap a, b, c, scaleA;
  const auto swizzled = CU_TENSOR_MAP_SWIZZLE_128B;
  if (encode(&a, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, p->a, p->k, p->m, kBlockK, kBlockM, swizzled) != CUDA_SUCCESS ||
      encode(&b, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, p->b, p->k, p->n, kBlockK, kBlockN, swizzled) != CUDA_SUCCESS ||
      encode(&c, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p->c, p->n, p->m, 64, kBlockM, swizzled) != CUDA_SUCCESS ||
      encode(&scaleA, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, scales.a, p->m, p->k / kBlockK, kBlockM, 1,
             CU_TENSOR_MAP_SWIZZLE_NONE) != CUDA_SUCCESS)
    return cudaErrorInvalidValue;

  const auto kernel = deep_gemm::sm90_fp8_gemm_1d2d_impl<
      cute::UMMA::Major::K, 0, Size, Size, 1, kBlockM, kBlockN, kBlockK, 128, 128, 128, kStages, kTmaThreads, kMathThreads,
      kCluster, true, kSms, deep_gemm::GemmType::Normal, cutlass::bfloat16_t,
      deep_gemm::epilogue::transform::EpilogueIdentity>;
  const int scaleBytes = (int(p->k) / kBlockK * 4 + 7) / 8 * 8;
  const int shared = kBlockM * kBlockN * 2 + kMaxStages * 16 + scaleBytes +
                     kStages * (kBlockM * kBlockK + kBlockN * kBlockK + kBlockM * 4);
  if (const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared))
    return error;

  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kCluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = kSms;
  config.blockDim = kTmaThreads + kMathThreads;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, scales.b, static_cast<int*>(nullptr), uint32_t(p->m), uint32_t(p->n),
                            uint32_t(p->k), a, b, c, scaleA);
}

}  // namespace

extern "C" const char* kl_unsupported(const KlGemmNt* p, int) {
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (sms != kSms) return "The kernel is compiled for 132 SMs.";
  if (p->m != p->n || p->m != p->k || (p->m != 4096 && p->m != 8192)) return "The kernel is compiled for 4096^3 and 8192^3.";
  return p->scale_a == 1 && p->scale_b == 1 ? nullptr : "The kernel is given scales of 1.";
}

extern "C" cudaError_t kl_prepare(const KlGemmNt* p) {
  const long long countA = p->k / kBlockK * p->m, countB = p->n / kBlockK * (p->k / kBlockK);
  if (const cudaError_t error = cudaMalloc(&scales.a, countA * 4)) return error;
  if (const cudaError_t error = cudaMalloc(&scales.b, countB * 4)) return error;
  fillWithOnes<<<132, 256>>>(scales.a, countA);
  fillWithOnes<<<132, 256>>>(scales.b, countB);
  return cudaDeviceSynchronize();
}

extern "C" void kl_release(const KlGemmNt*) {
  cudaFree(scales.a);
  cudaFree(scales.b);
  scales = {};
}

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  return p->n == 4096 ? launch<4096>(p, stream) : launch<8192>(p, stream);
}
