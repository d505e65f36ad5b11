// Keeps a GPU busy from a separate process for the given number of seconds.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void spin(float* out) {
  float x = threadIdx.x;
  for (int i = 0; i < 100000; ++i) x = x * 1.0001f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main(int count, char** words) {
  const double seconds = count > 1 ? std::atof(words[1]) : 5;
  float* out = nullptr;
  if (cudaMalloc(&out, 264 * 256 * sizeof(float)) != cudaSuccess) return 3;
  const auto start = std::chrono::steady_clock::now();
  bool told = false;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    spin<<<264, 256>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    if (!told) std::puts("busy");
    std::fflush(stdout);
    told = true;
  }
  return cudaFree(out) == cudaSuccess ? 0 : 1;
}
