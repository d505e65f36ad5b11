__device__ float f(float a, float b);
template <typename T> __device__ float g(T t) { return f(t); }
__global__ void k(float* c) {
  c[0] = g(c);
}
