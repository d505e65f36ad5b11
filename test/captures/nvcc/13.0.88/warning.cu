__global__ void k(float* c) {
  int unused = 3;
  c[threadIdx.x] = 1.0f;
}
