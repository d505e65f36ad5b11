// Kernels with one fault each, at the line that says so; `right…` has none. Built with
//   nvcc -std=c++17 -O3 -arch=sm_90a -lineinfo -cubin faults.cu
#include <stdint.h>

__device__ inline uint32_t address(const void* shared) { return uint32_t(__cvta_generic_to_shared(shared)); }

extern "C" __global__ void outsideStore(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = i;  // outside-global
}

extern "C" __global__ void misalignedLoad(float* out, int n) {
  const float4 four = *reinterpret_cast<const float4*>(out + n + threadIdx.x * 4 + 1);  // misaligned
  out[threadIdx.x] = four.x + four.w;
}

extern "C" __global__ void outsideShared(float* out, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x + n] = 1;  // outside-shared
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void missingBarrier(float* out, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = n;
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];  // race
}

extern "C" __global__ void unwrittenShared(float* out, int n) {
  extern __shared__ float tile[];
  if (threadIdx.x != 5) tile[threadIdx.x] = n;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];  // unwritten-shared
}

extern "C" __global__ void unwrittenGlobal(float* out, int n) {
  out[threadIdx.x] = out[n + threadIdx.x];  // unwritten-global
}

extern "C" __global__ void barrierInBranch(float* out, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = n;
  if (threadIdx.x % 32 < 16) {
    __syncthreads();  // divergent-barrier
    out[threadIdx.x] = tile[threadIdx.x];
  } else {
    out[threadIdx.x] = tile[threadIdx.x] * 2;
    __syncthreads();
  }
}

// Reads what the copy engine brings, with and without waiting for it.
template <bool kWaits>
__device__ void copied(float* out, int n) {
  extern __shared__ __align__(128) float tile[];
  __shared__ uint64_t barrier;
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[n + i] = i;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(address(&barrier)));
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&barrier)), "r"(n * 4));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(tile)),
        "l"(out + n), "r"(n * 4), "r"(address(&barrier))
        : "memory");
  }
  uint32_t done = !kWaits;
  while (!done)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(address(&barrier))
                 : "memory");
  out[threadIdx.x] = tile[n - 1 - threadIdx.x];  // race
}

extern "C" __global__ void rightCopy(float* out, int n) { copied<true>(out, n); }
extern "C" __global__ void copyNotWaitedFor(float* out, int n) { copied<false>(out, n); }

extern "C" __global__ void neverEnds(float* out, int n) {
  while (*reinterpret_cast<volatile float*>(out) != n) {
  }
}
