__global__ void k(float* c) {
  int i = threadIdx.x
  c[i] = 1.0f;
}
