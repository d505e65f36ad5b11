/* The launch ABI of Kernel Ladder: what the runner and a rung know of each other.
 *
 * A rung is a shared library that computes C = alpha * A * B + beta * C, all matrices row-major
 * and dense: A is m x k, B is k x n, C is m x n. Every pointer is device memory.
 * When beta is 0, C must not be read: the runner poisons it with NaN.
 *
 * A rung whose header says `@epilogue` computes C = activation(alpha * A * B + beta * C + bias) with
 * what it names there; any other rung is given neither, and need not look at the two. */
#ifndef KERNEL_LADDER_H
#define KERNEL_LADDER_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#define KL_ABI_VERSION 1

/* No dimension is larger than this, so indices along one dimension (and a tile beyond it) fit in an
 * int. Products of two dimensions do not: form element offsets in 64 bits. */
#define KL_MAX_DIMENSION (1 << 28)

#define KL_EXPORT __attribute__((visibility("default")))

/* Element type of A and B. C is always float, and so is the accumulation. */
enum KlDtype { KL_F32 = 0, KL_F16 = 1, KL_BF16 = 2 };

/* What is applied to each element of C last. */
enum KlActivation { KL_NONE = 0, KL_RELU = 1 };

struct KlGemm {
  long long m, n, k;
  float alpha, beta;
  const void* a;
  const void* b;
  float* c;
  int dtype;             /* a KlDtype */
  void* workspace;       /* kl_workspace_bytes() bytes, or null when it is 0 */
  size_t workspaceBytes;
  const float* bias;     /* n floats, one for each column of C, or null */
  int activation;        /* a KlActivation */
};

#ifdef __cplusplus
extern "C" {
#else
typedef struct KlGemm KlGemm;
#endif

/* Enqueues the product on the stream and returns without waiting. A rung links its own copy of the
 * CUDA runtime, whose last error the runner cannot see: end with `return cudaGetLastError();`. */
KL_EXPORT cudaError_t kl_launch(const KlGemm* problem, cudaStream_t stream);

/* Optional. Scratch memory that the launch needs; its content is undefined. */
KL_EXPORT size_t kl_workspace_bytes(const KlGemm* problem);

/* Optional. Why the rung cannot run this problem on this GPU (sm is 90 for compute capability 9.0),
 * in words that finish "unsupported: ...", or null when it can. */
KL_EXPORT const char* kl_unsupported(const KlGemm* problem, int sm);

/* Defined here, so that a rung carries the version of the header it was built against. */
KL_EXPORT __attribute__((weak)) int kl_abi_version(void) { return KL_ABI_VERSION; }

#ifdef __cplusplus
}
#endif

#endif
