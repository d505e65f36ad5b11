__device__ float pick(float a, int b);
__device__ float pick(double a, float* b);
__global__ void k(float* c) {
  c[0] = pick(c, c, 1);
}
