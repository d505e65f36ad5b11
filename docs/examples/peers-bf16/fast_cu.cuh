// Launches fast.cu's kernels for this ladder's task. The kernels' result is column-major, so the operands are
// swapped for a row-major result.
#pragma once

#include "fast.cuh"  // from the fast-cu example

#define KL_LAUNCH_NT(run)                                                       \
  extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t) {           \
    run(int(p->n), int(p->m), int(p->k), (bf16*)p->b, (bf16*)p->a, (bf16*)p->c, nullptr); \
    return cudaGetLastError();                                                  \
  }                                                                             \
  extern "C" const char* kl_unsupported(const KlGemmNt* p, int) {               \
    return p->m == p->n && p->m % 512 == 0 && p->k % 64 == 0 ? nullptr          \
      : "Its launcher is for square results of a multiple of 512.";             \
  }
