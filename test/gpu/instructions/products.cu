// Computes warpgroup products of selected operands and writes them to a file: `products FILE`. A
// row contains the type (an entry in `forms`), the kind of operands, A (64 x K), B (8 x K), and C
// and D (64 x 8 floats).
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

constexpr int m = 64, n = 8, rowBytes = 32, types = 6, kinds = 6, repeats = 6;

__device__ uint64_t descriptor(const void *start) {
  const uint64_t address = (uint64_t)__cvta_generic_to_shared(start);
  return ((address & 0x3ffff) >> 4);
}
__device__ uint64_t described(const void *start, uint64_t leading, uint64_t stride) {
  return descriptor(start) | ((leading >> 4) << 16) | ((stride >> 4) << 32);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define PRODUCT(text, more)                                                                                             \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned." text                                 \
               " {%0, %1, %2, %3}, %4, %5, p, 1, 1" more "; }"                                                           \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                          \
               : "l"(a), "l"(b))
#else
#define PRODUCT(text, more) (void)a, (void)b
#endif

// Rows of A and B are 32 bytes long. Shared memory stores the rows of A and B as core matrices of 8
// rows of 16 bytes each, without a swizzle.
__global__ void product(int type, const unsigned char *as, const unsigned char *bs, const float *c, float *out) {
  __shared__ __align__(1024) unsigned char left[m * rowBytes], right[n * rowBytes];
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  for (int at = thread; at < m * rowBytes; at += 128) {
    const int row = at / rowBytes, byte = at % rowBytes;
    left[(byte / 16) * (m * 16) + (row / 8) * 128 + (row % 8) * 16 + byte % 16] = as[at];
  }
  for (int at = thread; at < n * rowBytes; at += 128) {
    const int row = at / rowBytes, byte = at % rowBytes;
    right[(byte / 16) * (n * 16) + (row % 8) * 16 + byte % 16] = bs[at];
  }
  __syncthreads();
  float d[4];
  const int row = warp * 16 + lane / 4, column = 2 * (lane % 4);
  d[0] = c[row * n + column], d[1] = c[row * n + column + 1];
  d[2] = c[(row + 8) * n + column], d[3] = c[(row + 8) * n + column + 1];
  const uint64_t a = described(left, m * 16, 128), b = described(right, n * 16, 128);
  asm volatile("fence.proxy.async;" ::: "memory");
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  switch (type) {
  case 0: PRODUCT("m64n8k16.f32.f16.f16", ", 0, 0"); break;
  case 1: PRODUCT("m64n8k16.f32.bf16.bf16", ", 0, 0"); break;
  case 2: PRODUCT("m64n8k8.f32.tf32.tf32", ""); break;
  case 3: PRODUCT("m64n8k32.f32.e4m3.e4m3", ""); break;
  case 4: PRODUCT("m64n8k32.f32.e5m2.e5m2", ""); break;
  default: PRODUCT("m64n8k32.f32.e4m3.e5m2", ""); break;
  }
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
  out[row * n + column] = d[0], out[row * n + column + 1] = d[1];
  out[(row + 8) * n + column] = d[2], out[(row + 8) * n + column + 1] = d[3];
}

uint32_t state = 12345;
uint32_t random32() {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

// Returns a random element. The operand kind determines whether exponents are equal, vary, or include large outliers.
// Operands of kinds 4 and 5 have C = 0.
uint32_t element(int exponentBits, int mantissaBits, int kind, int place) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const int spread[] = {1, 6, 20, 3, 3, 12};
  int exponent = bias + int(random32() % spread[kind]) - spread[kind] / 2;
  if (kind == 3 && place % 7 == 3) exponent += exponentBits == 4 ? 4 : 10;
  const int most = (1 << exponentBits) - 2;
  exponent = exponent < 0 ? 0 : exponent > most ? most : exponent;
  return ((random32() & 1) << (exponentBits + mantissaBits)) | (uint32_t(exponent) << mantissaBits) |
         (random32() & ((1u << mantissaBits) - 1));
}

int main(int count, char **words) {
  if (count < 2) return 2;
  FILE *file = fopen(words[1], "wb");
  unsigned char *as, *bs;
  float *c, *out;
  cudaMalloc(&as, m * rowBytes), cudaMalloc(&bs, n * rowBytes), cudaMalloc(&c, 4 * m * n), cudaMalloc(&out, 4 * m * n);
  for (uint32_t type = 0; type < types; type++)
    for (uint32_t kind = 0; kind < kinds; kind++)
      for (int repeat = 0; repeat < repeats; repeat++) {
        unsigned char left[m * rowBytes], right[n * rowBytes];
        float before[m * n], after[m * n];
        const int bytes = type < 2 ? 2 : type == 2 ? 4 : 1;
        const auto fill = [&](unsigned char *into, int size, bool second) {
          for (int at = 0; at < size; at += bytes) {
            const bool five = type == 4 || (type == 5 && second);
            const uint32_t bits = type == 0   ? element(5, 10, kind, at / bytes)
                                  : type == 1 ? element(8, 7, kind, at / bytes)
                                  : type == 2 ? element(8, 23, kind, at / bytes)
                                  : five      ? element(5, 2, kind, at / bytes)
                                              : element(4, 3, kind, at / bytes);
            memcpy(into + at, &bits, bytes);
          }
        };
        fill(left, sizeof left, false), fill(right, sizeof right, true);
        for (int at = 0; at < m * n; at++) {
          const uint32_t bits = kind >= 4 ? 0 : element(8, 23, kind, at);
          memcpy(before + at, &bits, 4);
        }
        cudaMemcpy(as, left, sizeof left, cudaMemcpyHostToDevice);
        cudaMemcpy(bs, right, sizeof right, cudaMemcpyHostToDevice);
        cudaMemcpy(c, before, sizeof before, cudaMemcpyHostToDevice);
        product<<<1, 128>>>(type, as, bs, c, out);
        if (cudaMemcpy(after, out, sizeof after, cudaMemcpyDeviceToHost) != cudaSuccess) {
          printf("type %u: %s\n", type, cudaGetErrorString(cudaGetLastError()));
          return 1;
        }
        fwrite(&type, 4, 1, file), fwrite(&kind, 4, 1, file);
        fwrite(left, 1, sizeof left, file), fwrite(right, 1, sizeof right, file);
        fwrite(before, 1, sizeof before, file), fwrite(after, 1, sizeof after, file);
      }
  fclose(file);
  return 0;
}
