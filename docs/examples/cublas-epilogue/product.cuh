// Computes C = A B with cuBLAS. The cuBLAS handle is created once per library load.
#pragma once

#include "kernel_ladder.h"

#include <cublas_v2.h>

inline cudaError_t multiply(const KlTask* p, cudaStream_t stream) {
  static cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    cublasCreate(&made);
    return made;
  }();
  const float one = 1, zero = 0;
  if (handle == nullptr || cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS) return cudaErrorUnknown;
  // cuBLAS is column-major, so this call computes Cᵀ = Bᵀ Aᵀ.
  const cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, int(p->N), int(p->M), int(p->K), &one, p->b,
                                            int(p->N), p->a, int(p->K), &zero, p->c, int(p->N));
  return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}
