// @rung    50_cublas_tensor
// @title   cuBLAS on tensor cores
// @idea    NVIDIA's own kernel for 16-bit inputs, with FP32 accumulation and FP32 output, is the baseline for the tensor core ladder
// @dtype   bf16 f16

// The library is opened at run time, as in 00_cublas, because a machine may have nvcc but not cuBLAS.
#include "tensor_common.cuh"

#include <dlfcn.h>
#include <string>

namespace {

using Handle = void*;
using Status = int;  // cublasStatus_t
constexpr int kDefaultMath = 0, kNoTranspose = 0;
constexpr int kTypeF32 = 0, kTypeF16 = 2, kTypeBf16 = 14;  // cudaDataType
constexpr int kComputeF32 = 68, kDefaultAlgorithm = -1;    // cublasComputeType_t, cublasGemmAlgo_t

struct Cublas {
  Status (*create)(Handle*) = nullptr;
  Status (*setStream)(Handle, cudaStream_t) = nullptr;
  Status (*setMathMode)(Handle, int) = nullptr;
  Status (*gemmEx)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
                   int, const void*, void*, int, int, int, int) = nullptr;
  Handle handle = nullptr;
  std::string missing;  // why the library cannot be used; empty if it can

  Cublas() {
    void* library = open();
    if (!library) {
      missing = "cuBLAS was not found: no libcublas.so.13, .12 or .11 on the library path or under "
                "/usr/local/cuda";
      return;
    }
    const bool complete = find(library, "cublasCreate_v2", create) &&
                          find(library, "cublasSetStream_v2", setStream) &&
                          find(library, "cublasSetMathMode", setMathMode) &&
                          find(library, "cublasGemmEx", gemmEx);
    if (!complete) missing = "the libcublas that was found lacks a function of the cuBLAS v2 API";
  }

  static void* open() {
    for (const char* version : {"13", "12", "11"}) {
      for (const char* folder : {"", "/usr/local/cuda/lib64/",
                                 "/usr/local/cuda/targets/x86_64-linux/lib/"}) {
        // libcublas needs libcublasLt. The loader finds libcublasLt by its soname if it is already open.
        dlopen((folder + std::string("libcublasLt.so.") + version).c_str(), RTLD_NOW);
        if (void* library = dlopen((folder + std::string("libcublas.so.") + version).c_str(), RTLD_NOW))
          return library;
      }
    }
    return nullptr;
  }

  template <typename Function>
  static bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
};

Cublas& cublas() {
  static Cublas instance;
  return instance;
}

cudaError_t toCuda(Status status) {
  switch (status) {
    case 0: return cudaSuccess;
    case 1: return cudaErrorInitializationError;
    case 3: return cudaErrorMemoryAllocation;
    case 7: return cudaErrorInvalidValue;
    case 8: return cudaErrorNoKernelImageForDevice;
    case 13: return cudaErrorLaunchFailure;
    case 15: return cudaErrorNotSupported;
    default: return cudaErrorUnknown;
  }
}

}  // namespace

extern "C" const char* kl_unsupported(const KlGemm* p, int sm) {
  if (const char* reason = klRequire16Bit(p, sm)) return reason;
  return cublas().missing.empty() ? nullptr : cublas().missing.c_str();
}

extern "C" cudaError_t kl_launch(const KlGemm* p, cudaStream_t stream) {
  Cublas& blas = cublas();
  if (!blas.missing.empty()) return cudaErrorNotSupported;
  if (!blas.handle) {
    if (Status status = blas.create(&blas.handle)) return toCuda(status);
    if (Status status = blas.setMathMode(blas.handle, kDefaultMath)) return toCuda(status);
  }
  if (Status status = blas.setStream(blas.handle, stream)) return toCuda(status);

  // cuBLAS is column-major, so it sees C as its transpose, and Ct = Bt * At. The call passes B first and swaps m and n.
  // No data is moved or transposed.
  const int m = int(p->m), n = int(p->n), k = int(p->k);
  const int type = p->dtype == KL_BF16 ? kTypeBf16 : kTypeF16;
  const cudaError_t status =
      toCuda(blas.gemmEx(blas.handle, kNoTranspose, kNoTranspose, n, m, k, &p->alpha, p->b, type, n, p->a, type, k,
                         &p->beta, p->c, kTypeF32, n, kComputeF32, kDefaultAlgorithm));
  return status == cudaSuccess ? cudaGetLastError() : status;
}
