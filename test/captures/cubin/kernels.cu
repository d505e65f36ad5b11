// nvcc -std=c++17 -O3 -lineinfo -shared -Xcompiler -fPIC -cudart none -gencode arch=compute_80,code=sm_80
//   -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90,code=compute_90 kernels.cu -o kernels.so
#include <cstdio>

__device__ int counter = 5;
__device__ float zeros[10];
__constant__ float weights[4] = {1, 2, 3, 4};

__device__ __noinline__ float called(float x) { return x > 1 ? x * zeros[1] + weights[2] : x - 2; }

__device__ __forceinline__ float twice(float x) {
  return x * x + 1;
}

__device__ __forceinline__ float inlined(float x) {
  return twice(x) * 3;
}

__global__ void __launch_bounds__(128) everything(float* a, int n, char small, double wide) {
  __shared__ int shared[7];
  shared[threadIdx.x % 7] = n;
  __syncthreads();
  if (a[1] > 0) printf("counter %d of %s\n", counter, "all");
  a[threadIdx.x] = called(a[n]) + shared[n] + wide + small;
  float local[100];
  for (int i = 0; i < 100; i++) local[i * n % 100] = a[i];
  a[3] = inlined(local[n]);
}

__global__ void plain(float* out, unsigned long long n) { out[threadIdx.x] = n / (threadIdx.x + 3ull); }
