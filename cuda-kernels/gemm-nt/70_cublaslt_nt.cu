// @rung    70_cublaslt_nt
// @title   cuBLASLt
// @idea    cuBLASLt runs NVIDIA's own kernel, the first that it suggests for these types, this layout, and 32 MiB of workspace. FAST enables fast accumulation, which keeps FP8 sums in the tensor cores
// @param   FAST 1 {0,1}
// @dtype   bf16 e4m3

// The library is opened at run time, because a machine may have nvcc but not cuBLAS.
#include "nt_common.cuh"

#include <dlfcn.h>
#include <string>

namespace {

using Status = int;  // cublasStatus_t
using Opaque = void*;
constexpr size_t kWorkspaceBytes = 32 << 20;
constexpr int kTypeF32 = 0, kTypeBf16 = 14, kTypeE4m3 = 28;  // cudaDataType
constexpr int kComputeF32 = 68;                                            // cublasComputeType_t
constexpr int kTransposeFirst = 3, kFastAccumulation = 25;                 // cublasLtMatmulDescAttributes_t
constexpr int kMaxWorkspace = 1;                                           // cublasLtMatmulPreferenceAttributes_t

struct Heuristic {  // cublasLtMatmulHeuristicResult_t
  uint64_t algorithm[8];
  size_t workspaceBytes;
  Status state;
  float waves;
  int reserved[4];
};

struct CublasLt {
  Status (*create)(Opaque*) = nullptr;
  Status (*describe)(Opaque*, int, int) = nullptr;
  Status (*set)(Opaque, int, const void*, size_t) = nullptr;
  Status (*layout)(Opaque*, int, uint64_t, uint64_t, int64_t) = nullptr;
  Status (*preference)(Opaque*) = nullptr;
  Status (*prefer)(Opaque, int, const void*, size_t) = nullptr;
  Status (*propose)(Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, int, Heuristic*, int*) = nullptr;
  Status (*multiply)(Opaque, Opaque, const void*, const void*, Opaque, const void*, Opaque, const void*, const void*, Opaque,
                     void*, Opaque, const void*, void*, size_t, cudaStream_t) = nullptr;
  std::string missing;  // why the library cannot be used; empty if it can

  CublasLt() {
    void* library = open();
    if (!library) {
      missing = "cuBLASLt was not found: no libcublasLt.so.13 or .12 on the library path or under /usr/local/cuda";
      return;
    }
    const bool complete = find(library, "cublasLtCreate", create) && find(library, "cublasLtMatmulDescCreate", describe) &&
                          find(library, "cublasLtMatmulDescSetAttribute", set) &&
                          find(library, "cublasLtMatrixLayoutCreate", layout) &&
                          find(library, "cublasLtMatmulPreferenceCreate", preference) &&
                          find(library, "cublasLtMatmulPreferenceSetAttribute", prefer) &&
                          find(library, "cublasLtMatmulAlgoGetHeuristic", propose) &&
                          find(library, "cublasLtMatmul", multiply);
    if (!complete) missing = "the libcublasLt that was found lacks a function";
  }

  static void* open() {
    for (const char* version : {"13", "12"})
      for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"})
        if (void* library = dlopen((folder + std::string("libcublasLt.so.") + version).c_str(), RTLD_NOW)) return library;
    return nullptr;
  }

  template <typename Function>
  static bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
};

CublasLt& cublasLt() {
  static CublasLt instance;
  return instance;
}

// The descriptors and algorithm for a problem, created once, so that a launch is a single call.
struct Prepared {
  Opaque handle = nullptr, operation = nullptr, first = nullptr, second = nullptr, result = nullptr;
  Heuristic chosen{};
  long long m = 0, n = 0, k = 0;
  int dtype = -1;
};

// cuBLAS is column-major: it sees A as k x m, B as k x n, and C as its transpose, n x m. B is passed first, transposed.
Status prepare(const CublasLt& blas, const KlGemmNt* p, Prepared& to) {
  if (to.m == p->m && to.n == p->n && to.k == p->k && to.dtype == p->dtype) return 0;
  const int type = p->dtype == KL_E4M3 ? kTypeE4m3 : kTypeBf16;
  const int transpose = 1;
  const int8_t fast = FAST;
  const size_t room = kWorkspaceBytes;
  Opaque preference = nullptr;
  int found = 0;
  if (!to.handle)
    if (Status status = blas.create(&to.handle)) return status;
  if (Status status = blas.describe(&to.operation, kComputeF32, kTypeF32)) return status;
  if (Status status = blas.set(to.operation, kTransposeFirst, &transpose, sizeof transpose)) return status;
  if (p->dtype == KL_E4M3)
    if (Status status = blas.set(to.operation, kFastAccumulation, &fast, sizeof fast)) return status;
  if (Status status = blas.layout(&to.first, type, p->k, p->n, p->k)) return status;
  if (Status status = blas.layout(&to.second, type, p->k, p->m, p->k)) return status;
  if (Status status = blas.layout(&to.result, kTypeBf16, p->n, p->m, p->n)) return status;
  if (Status status = blas.preference(&preference)) return status;
  if (Status status = blas.prefer(preference, kMaxWorkspace, &room, sizeof room)) return status;
  if (Status status = blas.propose(to.handle, to.operation, to.first, to.second, to.result, to.result, preference, 1,
                                   &to.chosen, &found))
    return status;
  if (found == 0) return 15;  // CUBLAS_STATUS_NOT_SUPPORTED
  to.m = p->m, to.n = p->n, to.k = p->k, to.dtype = p->dtype;
  return 0;
}

cudaError_t toCuda(Status status) {
  switch (status) {
    case 0: return cudaSuccess;
    case 1: return cudaErrorInitializationError;
    case 3: return cudaErrorMemoryAllocation;
    case 7: return cudaErrorInvalidValue;
    case 13: return cudaErrorLaunchFailure;
    case 15: return cudaErrorNotSupported;
    default: return cudaErrorUnknown;
  }
}

}  // namespace

extern "C" size_t kl_workspace_bytes(const KlGemmNt*) { return kWorkspaceBytes; }

extern "C" const char* kl_unsupported(const KlGemmNt* p, int) {
  if (p->dtype == KL_E4M3 && !klRowsAligned(p)) return "cuBLASLt takes e4m3 with rows of a multiple of 16 bytes only";
  return cublasLt().missing.empty() ? nullptr : cublasLt().missing.c_str();
}

extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t stream) {
  const CublasLt& blas = cublasLt();
  if (!blas.missing.empty()) return cudaErrorNotSupported;
  static Prepared prepared;
  if (Status status = prepare(blas, p, prepared)) return toCuda(status);
  const float alpha = klScale(p), beta = 0;
  return toCuda(blas.multiply(prepared.handle, prepared.operation, &alpha, p->b, prepared.first, p->a, prepared.second, &beta,
                              p->c, prepared.result, p->c, prepared.result, prepared.chosen.algorithm, p->workspace,
                              p->workspaceBytes, stream));
}
