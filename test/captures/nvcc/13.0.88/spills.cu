// Two kernels: one whose registers are capped so that it spills, one with shared memory and none.
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(const float* a, float* c) {
  float t[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) t[i] = a[threadIdx.x + i * 1024];
  __syncthreads();
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int i = 0; i < 64; ++i) t[i] = t[i] * t[(i + 7) % 64] + t[(i + 31) % 64];
#pragma unroll
  for (int i = 0; i < 64; ++i) c[threadIdx.x + i * 1024] = t[i];
}
template <int T> __global__ void tile(const float* a, float* c) {
  __shared__ float s[T][T];
  s[threadIdx.y][threadIdx.x] = a[threadIdx.y * T + threadIdx.x];
  __syncthreads();
  c[threadIdx.x * T + threadIdx.y] = s[threadIdx.x][threadIdx.y];
}
template __global__ void tile<16>(const float*, float*);
