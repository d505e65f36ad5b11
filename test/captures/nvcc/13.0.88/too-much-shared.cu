__global__ void k(float* c) {
  __shared__ float s[32768];
  s[threadIdx.x] = c[threadIdx.x];
  __syncthreads();
  c[threadIdx.x] = s[31 - threadIdx.x];
}
