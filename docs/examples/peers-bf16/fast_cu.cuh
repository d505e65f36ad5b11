// Definitions that matmul.cu of fast.cu makes before it includes its kernels. Its result is column-major, so the operands
// are swapped for a row-major one.
#pragma once

#include "kernel_ladder.h"

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda/barrier>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define cudaCheck(call)                                                        \
  do {                                                                         \
    if (const cudaError_t error = (call)) {                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

#define KL_LAUNCH(run)                                                          \
  extern "C" cudaError_t kl_launch(const KlGemmNt* p, cudaStream_t) {           \
    run(int(p->n), int(p->m), int(p->k), (bf16*)p->b, (bf16*)p->a, (bf16*)p->c, nullptr); \
    return cudaGetLastError();                                                  \
  }                                                                             \
  extern "C" const char* kl_unsupported(const KlGemmNt* p, int) {               \
    return p->m == p->n && p->m % 512 == 0 && p->k % 64 == 0 ? nullptr          \
      : "Its launcher is for square results of a multiple of 512.";             \
  }
