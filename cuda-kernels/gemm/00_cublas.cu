// @rung    00_cublas
// @title   cuBLAS
// @idea    NVIDIA's own FP32 kernel, without TF32, is the baseline for the ladder
// @dtype   f32

// A machine may have nvcc but not cuBLAS or its header. This rung therefore declares the four functions it uses and
// opens the library at run time. Without the library, the rung is reported as unsupported and does not fail.
#include "gemm_common.cuh"

#include <dlfcn.h>
#include <stdlib.h>
#include <string>

namespace {

using Handle = void*;
using Status = int;  // cublasStatus_t
constexpr int kDefaultMath = 0, kNoTranspose = 0;

struct Cublas {
  Status (*create)(Handle*) = nullptr;
  Status (*setStream)(Handle, cudaStream_t) = nullptr;
  Status (*setMathMode)(Handle, int) = nullptr;
  Status (*sgemm)(Handle, int, int, int, int, int, const float*, const float*, int, const float*,
                  int, const float*, float*, int) = nullptr;
  Handle handle = nullptr;
  std::string missing;  // why the library cannot be used; empty if it can

  Cublas() {
    setenv("NVIDIA_TF32_OVERRIDE", "0", 1);  // prevents environment settings from replacing FP32 with TF32
    void* library = open();
    if (!library) {
      missing = "cuBLAS was not found: no libcublas.so.13, .12 or .11 on the library path or under "
                "/usr/local/cuda";
      return;
    }
    const bool complete = find(library, "cublasCreate_v2", create) &&
                          find(library, "cublasSetStream_v2", setStream) &&
                          find(library, "cublasSetMathMode", setMathMode) &&
                          find(library, "cublasSgemm_v2", sgemm);
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

extern "C" const char* kl_unsupported(const KlGemm* p, int) {
  if (const char* reason = klRequireF32(p)) return reason;
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
  return toCuda(blas.sgemm(blas.handle, kNoTranspose, kNoTranspose, n, m, k, &p->alpha,
                           static_cast<const float*>(p->b), n, static_cast<const float*>(p->a), k,
                           &p->beta, p->c, n));
}
