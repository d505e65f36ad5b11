/* Generated from the task gemm: Matrix product.
 * C = alpha·A·B + beta·C, row-major: A is m×k, B is k×n, C is m×n */
#ifndef KL_TASK_H
#define KL_TASK_H

#include "kl_abi.h"

enum KlActivation { KL_NONE = 0, KL_RELU = 1 };

struct KlGemm {
  long long m;        /* rows of A and C */
  long long n;        /* columns of B and C */
  long long k;        /* columns of A, rows of B */
  float alpha;
  float beta;
  const void* a;      /* in, m×k of dtype */
  const void* b;      /* in, k×n of dtype */
  float* c;           /* inout, m×n; not to be read where beta is 0 */
  int dtype;          /* type of the inputs: f32 0, f16 1, bf16 2 */
  void* workspace;    /* kl_workspace_bytes() bytes, or null where that is 0 */
  size_t workspaceBytes;
  const float* bias;  /* in, n; null without bias */
  int activation;     /* a KlActivation */
};

#ifdef __cplusplus
static_assert(offsetof(KlGemm, m) == 0, "the runner fills m at 0");
static_assert(offsetof(KlGemm, n) == 8, "the runner fills n at 8");
static_assert(offsetof(KlGemm, k) == 16, "the runner fills k at 16");
static_assert(offsetof(KlGemm, alpha) == 24, "the runner fills alpha at 24");
static_assert(offsetof(KlGemm, beta) == 28, "the runner fills beta at 28");
static_assert(offsetof(KlGemm, a) == 32, "the runner fills a at 32");
static_assert(offsetof(KlGemm, b) == 40, "the runner fills b at 40");
static_assert(offsetof(KlGemm, c) == 48, "the runner fills c at 48");
static_assert(offsetof(KlGemm, dtype) == 56, "the runner fills dtype at 56");
static_assert(offsetof(KlGemm, workspace) == 64, "the runner fills workspace at 64");
static_assert(offsetof(KlGemm, workspaceBytes) == 72, "the runner fills workspaceBytes at 72");
static_assert(offsetof(KlGemm, bias) == 80, "the runner fills bias at 80");
static_assert(offsetof(KlGemm, activation) == 88, "the runner fills activation at 88");
static_assert(sizeof(KlGemm) == 96, "the runner fills 96 bytes");

extern "C" {
#else
typedef struct KlGemm KlGemm;
#endif

KL_EXPORT cudaError_t kl_launch(const KlGemm* problem, cudaStream_t stream);
KL_EXPORT size_t kl_workspace_bytes(const KlGemm* problem);
KL_EXPORT const char* kl_unsupported(const KlGemm* problem, int sm);

#ifdef __cplusplus
}
#endif

#endif
