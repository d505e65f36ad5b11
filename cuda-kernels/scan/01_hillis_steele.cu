// @rung    01_hillis_steele
// @title   One pass per power of two
// @idea    passes use distances of 1, 2, 4, … (Hillis and Steele). After each pass, an element holds the sum of twice
//          as many elements. The scan takes log2(N) launches, each of which reads and writes all elements
// @param   THREADS 256 {128,256,512,1024}
#include "scan_common.cuh"

__global__ void __launch_bounds__(THREADS)
addBehind(const float* __restrict__ from, float* __restrict__ to, long long n, long long distance) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (i < n) to[i] = i < distance ? from[i] : from[i] + from[i - distance];
}

extern "C" size_t kl_workspace_bytes(const KlTask* p) { return size_t(p->N) * sizeof(float); }

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  int passes = 0;
  while (1LL << passes < p->N) ++passes;
  if (passes == 0) return cudaMemcpyAsync(p->y, p->x, sizeof(float), cudaMemcpyDeviceToDevice, stream);
  // Alternates the two buffers so that the last pass writes to y.
  const float* from = p->x;
  for (int pass = 0; pass < passes; ++pass) {
    float* to = (passes - pass) % 2 ? p->y : static_cast<float*>(p->workspace);
    addBehind<<<unsigned(klBlocks(p->N, THREADS)), THREADS, 0, stream>>>(from, to, p->N, 1LL << pass);
    from = to;
  }
  return cudaGetLastError();
}
