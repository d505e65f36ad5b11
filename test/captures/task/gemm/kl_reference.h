/* Generated from the task gemm: Matrix product. What its reference reads and computes.
 * C = alpha·A·B + beta·C, row-major: A is m×k, B is k×n, C is m×n */
#ifndef KL_REFERENCE_H
#define KL_REFERENCE_H

#include "kl_abi.h"

enum KlActivation { KL_NONE = 0, KL_RELU = 1 };

struct KlReference {
  long long m;                        /* rows of A and C */
  long long n;                        /* columns of B and C */
  long long k;                        /* columns of A, rows of B */
  float alpha;
  float beta;
  int dtype;                          /* type of the inputs: f32 0, f16 1, bf16 2 */
  int activation;                     /* a KlActivation */
  const void* a;                      /* in, m×k of dtype */
  const void* b;                      /* in, k×n of dtype */
  const float* c_in;                  /* c before the launch, m×n; null where beta is 0 */
  double* c;                          /* expected, m×n */
  double* c_scale;                    /* what an element's error is measured by, m×n */
  const float* bias;                  /* in, n; null without bias */
  void (*progress)(double fraction);  /* to be called now and then: a silent reference is stopped */
  int smCount;                        /* of this GPU */
};

#ifdef __cplusplus
static_assert(offsetof(KlReference, m) == 0, "the runner fills m at 0");
static_assert(offsetof(KlReference, n) == 8, "the runner fills n at 8");
static_assert(offsetof(KlReference, k) == 16, "the runner fills k at 16");
static_assert(offsetof(KlReference, alpha) == 24, "the runner fills alpha at 24");
static_assert(offsetof(KlReference, beta) == 28, "the runner fills beta at 28");
static_assert(offsetof(KlReference, dtype) == 32, "the runner fills dtype at 32");
static_assert(offsetof(KlReference, activation) == 36, "the runner fills activation at 36");
static_assert(offsetof(KlReference, a) == 40, "the runner fills a at 40");
static_assert(offsetof(KlReference, b) == 48, "the runner fills b at 48");
static_assert(offsetof(KlReference, c_in) == 56, "the runner fills c_in at 56");
static_assert(offsetof(KlReference, c) == 64, "the runner fills c at 64");
static_assert(offsetof(KlReference, c_scale) == 72, "the runner fills c_scale at 72");
static_assert(offsetof(KlReference, bias) == 80, "the runner fills bias at 80");
static_assert(offsetof(KlReference, progress) == 88, "the runner fills progress at 88");
static_assert(offsetof(KlReference, smCount) == 96, "the runner fills smCount at 96");
static_assert(sizeof(KlReference) == 104, "the runner fills 104 bytes");

extern "C" {
#else
typedef struct KlReference KlReference;
#endif

/* A reference defines one of the two: over host memory, or over device memory. The second enqueues on
 * the stream, or waits for its own launches in between to report progress. */
KL_EXPORT void kl_reference(const KlReference* problem);
KL_EXPORT cudaError_t kl_reference_device(const KlReference* problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
