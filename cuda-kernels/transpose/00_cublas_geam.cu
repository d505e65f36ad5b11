// @rung    00_cublas_geam
// @title   cuBLAS geam
// @idea    cublasSgeam adds two matrices that may be transposed, here 1·xᵀ + 0. This library transpose is the baseline
//          for the ladder. Its share of DRAM bandwidth shows how it compares with a plain copy
#include "transpose_common.cuh"

#include <dlfcn.h>
#include <string>

// A machine may have nvcc but not cuBLAS or its header. The required functions are declared here, and the library is
// opened at run time. Without cuBLAS, this rung is reported as unsupported and does not fail.
namespace {

using Handle = void*;
using Status = int;  // cublasStatus_t
constexpr int kNoTranspose = 0, kTranspose = 1;

struct Cublas {
  Status (*create)(Handle*) = nullptr;
  Status (*setStream)(Handle, cudaStream_t) = nullptr;
  Status (*sgeam)(Handle, int, int, int, int, const float*, const float*, int, const float*, const float*, int, float*,
                  int) = nullptr;
  Handle handle = nullptr;
  const char* missing = nullptr;  // why the library cannot be used, or null

  Cublas() {
    void* library = open();
    if (!library)
      missing = "cuBLAS was not found: no libcublas.so.13, .12 or .11 on the library path or under /usr/local/cuda";
    else if (!find(library, "cublasCreate_v2", create) || !find(library, "cublasSetStream_v2", setStream) ||
             !find(library, "cublasSgeam", sgeam))
      missing = "the libcublas that was found lacks a function of the cuBLAS v2 API";
  }

  static void* open() {
    for (const char* version : {"13", "12", "11"}) {
      for (const std::string folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"}) {
        // libcublas needs libcublasLt. The loader finds libcublasLt by its soname if it is already open.
        dlopen((folder + "libcublasLt.so." + version).c_str(), RTLD_NOW);
        if (void* library = dlopen((folder + "libcublas.so." + version).c_str(), RTLD_NOW)) return library;
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

extern "C" const char* kl_unsupported(const KlTask*, int) { return cublas().missing; }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  Cublas& blas = cublas();
  if (blas.missing) return cudaErrorNotSupported;
  if (!blas.handle)
    if (Status status = blas.create(&blas.handle)) return toCuda(status);
  if (Status status = blas.setStream(blas.handle, stream)) return toCuda(status);

  // cuBLAS is column-major: x is COLS x ROWS and y is ROWS x COLS. The second matrix is multiplied by 0 and not read.
  const int rows = int(p->ROWS), cols = int(p->COLS);
  const float one = 1, zero = 0;
  return toCuda(blas.sgeam(blas.handle, kTranspose, kNoTranspose, rows, cols, &one, p->x, cols, &zero, p->y, rows, p->y,
                           rows));
}
