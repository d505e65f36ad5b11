__global__ void k(float* c) {
  int i = threadIdx.x;
  c[j] = 1.0f;
  unknown(c, i);
}
