// Definitions that fast.cu's matmul.cu makes before it includes the kernels.
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

#define KL_LAUNCH(run)                                                    \
  extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t) {            \
    run(int(p->M), int(p->N), int(p->K), (bf16*)p->a, (bf16*)p->b, (bf16*)p->c, nullptr); \
    return cudaGetLastError();                                                 \
  }
