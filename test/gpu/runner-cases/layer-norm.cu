// Computes y = (x - mean) * rstd per row in f16, and rstd in f32. REFERENCE builds the reference in device memory.
#include "kl_abi.h"

#include <cuda_fp16.h>

#ifdef REFERENCE
struct KlReference {
  long long rows, cols;
  double eps;
  const void* x;
  double* y;
  double* y_scale;
  double* rstd;
  int smCount;
};
using Task = KlReference;
using Real = double;
#else
struct KlTask {
  long long rows, cols;
  double eps;
  const void* x;
  void* y;
  float* rstd;
};
using Task = KlTask;
using Real = float;
#endif

__global__ void normalize(Task p) {
  const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= p.rows) return;
  const __half* x = static_cast<const __half*>(p.x) + row * p.cols;
  Real sum = 0, squares = 0;
  for (long long i = 0; i < p.cols; ++i) sum += Real(__half2float(x[i]));
  const Real mean = sum / Real(p.cols);
  for (long long i = 0; i < p.cols; ++i)
    squares += (Real(__half2float(x[i])) - mean) * (Real(__half2float(x[i])) - mean);
  const Real rstd = 1 / sqrt(squares / Real(p.cols) + Real(p.eps));
  p.rstd[row] = rstd;
  for (long long i = 0; i < p.cols; ++i) {
    const Real y = (Real(__half2float(x[i])) - mean) * rstd;
#ifdef REFERENCE
    p.y[row * p.cols + i] = y;
    p.y_scale[row * p.cols + i] = fabs(y) + 1;
#else
    static_cast<__half*>(p.y)[row * p.cols + i] = __float2half_rn(y);
#endif
  }
#if defined(FAULT)  // the fault changes only the second output
  if (row == 17) p.rstd[row] += 1;
#endif
}

#ifdef REFERENCE
extern "C" KL_EXPORT cudaError_t kl_reference_device(const KlReference* p, cudaStream_t stream) {
  if (p->smCount < 1) return cudaErrorInvalidValue;
  normalize<<<unsigned((p->rows + 127) / 128), 128, 0, stream>>>(*p);
  return cudaGetLastError();
}
#else
extern "C" KL_EXPORT cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  normalize<<<unsigned((p->rows + 127) / 128), 128, 0, stream>>>(*p);
  return cudaGetLastError();
}
#endif
