// @rung    02_stream
// @title   Streaming reads
// @idea    the kernel reads a known number of bytes
#include "kernel_ladder.h"
#include "planted.h"

constexpr int kWork = 1000;

__global__ void __launch_bounds__(512) work(const float* x, float* y, long long n, long long m) {
  float acc = 0;
  const long long most = kWork * 65536ll / 4;
  const float4* four = reinterpret_cast<const float4*>(x);
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < most;
       i += (long long)gridDim.x * blockDim.x) {
    const float4 v = four[i];
    acc += v.x + v.y + v.z + v.w;
  }
  finish(x, y, m, acc);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  work<<<132 * 8, 512, 0, stream>>>(p->x, p->y, p->N, p->M);
  return cudaGetLastError();
}
