// Records the results of a GPU's special functions. `mufu mufu.cubin FOLDER` writes one FOLDER/<function>.<domain>.u32
// per domain.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#ifdef __CUDA_ARCH__
#define UNARY(name, text)                                                                                               \
  extern "C" __global__ void name(uint32_t start, uint32_t step, uint32_t twist, uint32_t count, uint32_t *out) {        \
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {                   \
      const float x = __uint_as_float(start + i * step + ((i * twist) & (step - 1)));                                    \
      float y;                                                                                                           \
      asm volatile(text " %0, %1;" : "=f"(y) : "f"(x));                                                                  \
      out[i] = __float_as_uint(y);                                                                                       \
    }                                                                                                                    \
  }
#define WIDE(name, text)                                                                                                \
  extern "C" __global__ void name(uint32_t start, uint32_t step, uint32_t twist, uint32_t count, uint32_t *out) {        \
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {                   \
      const uint32_t x = start + i * step + ((i * twist) & (step - 1));                                                  \
      double y;                                                                                                          \
      asm volatile(text " %0, %1;" : "=d"(y) : "d"(__hiloint2double(x, 0)));                                             \
      out[i] = __double2hiint(y);                                                                                        \
    }                                                                                                                    \
  }
#else
#define UNARY(name, text) extern "C" __global__ void name(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t *) {}
#define WIDE UNARY
#endif

UNARY(rcp, "rcp.approx.ftz.f32")
UNARY(rsq, "rsqrt.approx.ftz.f32")
UNARY(sqrt_, "sqrt.approx.ftz.f32")
UNARY(lg2, "lg2.approx.ftz.f32")
UNARY(ex2, "ex2.approx.ftz.f32")
UNARY(sin_, "sin.approx.ftz.f32")
UNARY(cos_, "cos.approx.ftz.f32")
UNARY(tanh_, "tanh.approx.f32")
WIDE(rcp64h, "rcp.approx.ftz.f64")
WIDE(rsq64h, "rsqrt.approx.ftz.f64")

struct Domain {
  const char *function, *name;
  uint32_t start, step, twist, count;
};
constexpr uint32_t binade = 1u << 23;
const Domain domains[] = {
    {"rcp", "1to2", 0x3f800000, 1, 0, binade},        {"rsq", "1to4", 0x3f800000, 1, 0, 2 * binade},
    {"sqrt_", "1to4", 0x3f800000, 1, 0, 2 * binade},  {"lg2", "halfto2", 0x3f000000, 1, 0, 2 * binade},
    {"ex2", "halfto2", 0x3f000000, 1, 0, 2 * binade}, {"sin_", "halfto2", 0x3f000000, 1, 0, 2 * binade},
    {"cos_", "halfto2", 0x3f000000, 1, 0, 2 * binade}, {"tanh_", "small", 0x39800000, 16, 0, 14 * (binade / 16)},
    {"rcp64h", "1to2", 0x3ff00000, 1, 0, 1u << 20},   {"rsq64h", "1to4", 0x3ff00000, 1, 0, 2u << 20},
    // For the domains "all", sample one of every 256 numbers, at a varying position.
    {"rcp", "all", 0, 256, 37, 1u << 24},             {"rsq", "all", 0, 256, 37, 1u << 24},
    {"sqrt_", "all", 0, 256, 37, 1u << 24},           {"lg2", "all", 0, 256, 37, 1u << 24},
    {"ex2", "all", 0, 256, 37, 1u << 24},             {"sin_", "all", 0, 256, 37, 1u << 24},
    {"cos_", "all", 0, 256, 37, 1u << 24},            {"tanh_", "all", 0, 256, 37, 1u << 24},
    {"rcp64h", "all", 0, 256, 37, 1u << 24},          {"rsq64h", "all", 0, 256, 37, 1u << 24},
};

int main(int count, char **words) {
  if (count < 3) return 2;
  std::vector<char> cubin;
  FILE *file = fopen(words[1], "rb");
  for (int byte; file && (byte = fgetc(file)) != EOF;) cubin.push_back((char)byte);
  cudaLibrary_t library;
  if (cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess) return 3;
  uint32_t *device;
  cudaMalloc(&device, 4u << 24);
  std::vector<uint32_t> result(1u << 24);
  for (Domain each : domains) {
    cudaKernel_t kernel;
    if (cudaLibraryGetKernel(&kernel, library, each.function) != cudaSuccess) return 4;
    void *arguments[] = {&each.start, &each.step, &each.twist, &each.count, &device};
    cudaLaunchKernel((const void *)kernel, dim3(1024), dim3(256), arguments, 0, nullptr);
    if (cudaMemcpy(result.data(), device, 4ull * each.count, cudaMemcpyDeviceToHost) != cudaSuccess) return 5;
    FILE *out = fopen((std::string(words[2]) + "/" + each.function + "." + each.name + ".u32").c_str(), "wb");
    fwrite(result.data(), 4, each.count, out);
    fclose(out);
  }
  return 0;
}
