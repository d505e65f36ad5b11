// Kernels for measuring how Hopper counts shared and global memory accesses. The kernels run under
// ncu with the metrics in run.sh. `counters patterns FILE` performs one access by one warp for each
// line in FILE. `counters kernels` and `counters tiles` perform one launch per rule. `counters
// launches` needs no ncu and prints the errors of launches that a GPU rejects.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <cuda_runtime.h>

__global__ void load128(const int *offsets, uint32_t mask, uint32_t *out) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const int offset = offsets[threadIdx.x];
  if (!(mask >> threadIdx.x & 1)) return;
  uint32_t a, b, c, d;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"((uint32_t)__cvta_generic_to_shared(shared + offset)));
  if ((a ^ b ^ c ^ d) == 0x12345678) out[0] = 1;
}
__global__ void load64(const int *offsets, uint32_t mask, uint32_t *out) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const int offset = offsets[threadIdx.x];
  if (!(mask >> threadIdx.x & 1)) return;
  uint32_t a, b;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(a), "=r"(b)
               : "r"((uint32_t)__cvta_generic_to_shared(shared + offset)));
  if ((a ^ b) == 0x12345678) out[0] = 1;
}

// Performs generic accesses, whose memory space is known only at run time.
__device__ __noinline__ float *choose(float *a, float *b, int which) { return which ? a : b; }
__global__ void genericLoad(float *global, int shared_, int stride) {
  __shared__ float shared[4096];
  float local[64];
  for (int at = threadIdx.x; at < 4096; at += blockDim.x) shared[at] = at;
  for (int at = 0; at < 64; at++) local[at] = at * stride;
  __syncthreads();
  float *from = shared_ == 2 ? local : choose(shared, global, shared_ == 1 || (shared_ == 3 && threadIdx.x < 16));
  float value;
  asm volatile("ld.volatile.f32 %0, [%1];" : "=f"(value) : "l"(from + (shared_ == 2 ? 3 : threadIdx.x * stride)));
  if (value == -1) global[0] = 1;
}
__global__ void genericStore(float *global, int shared_, int stride) {
  __shared__ float shared[4096];
  float *to = choose(shared, global, shared_ == 1 || (shared_ == 3 && threadIdx.x < 16));
  asm volatile("st.volatile.f32 [%0], %1;" ::"l"(to + threadIdx.x * stride), "f"(2.0f));
  __syncthreads();
  if (shared[threadIdx.x] == -1) global[0] = 1;
}

// Copies `bytes` bytes per lane. The addresses are contiguous or strided. Some lanes may be inactive or copy zeros.
template <int bytes> __global__ void copies(const char *global, int stride, uint32_t mask, uint32_t zeros, int turns, int *out) {
  extern __shared__ __align__(1024) char target[];
  const int lane = threadIdx.x % 32;
  for (int turn = 0; turn < turns; turn++)
    if (mask >> lane & 1) {
      const uint32_t to = __cvta_generic_to_shared(target) + threadIdx.x * bytes + turn * 1024;
      const char *from = global + (size_t)threadIdx.x * stride + turn * 8192;
      const int size = zeros >> lane & 1 ? 0 : bytes;
      if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(size));
      else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(to), "l"(from), "r"(size), "n"(bytes));
    }
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  if (target[threadIdx.x] == 77) out[0] = 1;
}

// Computes one warpgroup product `turns` times, with A in shared memory or in registers.
template <bool inRegisters> __global__ void groupProducts(int turns, float *out) {
  __shared__ __align__(1024) unsigned char tiles[32768];
  for (int at = threadIdx.x; at < 8192; at += 128) ((uint32_t *)tiles)[at] = 0;
  __syncthreads();
  float d[32] = {};
  uint32_t registers[4] = {};
  const uint64_t at = (uint64_t)(__cvta_generic_to_shared(tiles) & 0x3ffff) >> 4;
  const uint64_t a = at | (64ull << 16) | (8ull << 32), b = (at + 512) | (64ull << 16) | (8ull << 32);
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("fence.proxy.async; wgmma.fence.sync.aligned;" ::: "memory");
  for (int turn = 0; turn < turns; turn++) {
#define D(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
    if constexpr (inRegisters)
      asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                   "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,"
                   "%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, p, 1, 1, 0; }"
                   : D(0), D(4), D(8), D(12), D(16), D(20), D(24), D(28)
                   : "r"(registers[0]), "r"(registers[1]), "r"(registers[2]), "r"(registers[3]), "l"(b));
    else
      asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                   "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,"
                   "%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0; }"
                   : D(0), D(4), D(8), D(12), D(16), D(20), D(24), D(28)
                   : "l"(a), "l"(b));
  }
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
  float sum = (float)(a + b + registers[0]);
  for (float each : d) sum += each;
  if (sum == 1) out[0] = sum;
}

// Computes a tile of a matrix product with 8 x 8 results per thread. Reads shared memory as public 2D-tile kernels do.
__global__ void tile(const float *in, float *out, int turns) {
  __shared__ float as[128 * 8], bs[8 * 128];
  for (int at = threadIdx.x; at < 1024; at += blockDim.x) as[at] = in[at], bs[at] = in[1024 + at];
  __syncthreads();
  const int column = threadIdx.x % 16, row = threadIdx.x / 16 % 16;
  float sums[8][8] = {}, a[8], b[8];
  for (int turn = 0; turn < turns; turn++)
    for (int k = 0; k < 8; k++) {
      for (int i = 0; i < 8; i++) a[i] = ((volatile float *)as)[(row * 8 + i) * 8 + k];
      for (int i = 0; i < 8; i++) b[i] = ((volatile float *)bs)[k * 128 + column * 8 + i];
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) sums[i][j] += a[i] * b[j];
    }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) out[(threadIdx.x * 8 + i) * 8 + j] = sums[i][j];
}
// Loads words from shared memory with a stride of `words`. All warps read the same addresses.
__global__ void strided(const float *in, float *out, int words, int turns) {
  __shared__ float shared[8192];
  for (int at = threadIdx.x; at < 8192; at += blockDim.x) shared[at] = in[at % 1024];
  __syncthreads();
  float sum = 0;
  for (int turn = 0; turn < turns; turn++) sum += ((volatile float *)shared)[(threadIdx.x % 32 * words + turn) & 8191];
  if (sum == 77) out[0] = sum;
}
__global__ void stridedStores(float *out, int words, int turns) {
  __shared__ float shared[8192];
  for (int turn = 0; turn < turns; turn++) ((volatile float *)shared)[(threadIdx.x % 32 * words + turn) & 8191] = turn;
  __syncthreads();
  if (shared[threadIdx.x] == 77) out[0] = 1;
}

int patterns(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) return 2;
  int *offsets;
  uint32_t *out;
  cudaMalloc(&offsets, 128), cudaMalloc(&out, 4);
  int bits;
  uint32_t mask;
  cudaFuncSetAttribute(load128, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  cudaFuncSetAttribute(load64, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  while (fscanf(file, "%d %x", &bits, &mask) == 2) {
    int values[32];
    for (int &value : values)
      if (fscanf(file, "%d", &value) != 1) return 2;
    cudaMemcpy(offsets, values, 128, cudaMemcpyHostToDevice);
    (bits == 128 ? load128 : load64)<<<1, 32, 65536>>>(offsets, mask, out);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

int finished() {
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}

// Launches the kernels with generic accesses and copies.
int kernels() {
  float *in, *out;
  cudaMalloc(&in, 1 << 24), cudaMalloc(&out, 1 << 24), cudaMemset(in, 0, 1 << 24);
  for (int space = 0; space < 4; space++)
    for (int stride : {1, 2}) {
      genericLoad<<<1, 32>>>(out, space, stride);
      if (space != 2) genericStore<<<1, 32>>>(out, space, stride);
    }
  const uint32_t all = ~0u;
  const auto copy = [&](auto kernel, int stride, uint32_t mask, uint32_t zeros, int threads, int turns) {
    kernel<<<1, threads, 32768>>>((const char *)in, stride, mask, zeros, turns, (int *)out);
  };
  for (int turns : {1, 4}) {
    copy(copies<16>, 16, all, 0, 32, turns), copy(copies<16>, 64, all, 0, 32, turns);
    copy(copies<16>, 16, 0xffff, 0, 32, turns), copy(copies<16>, 16, all, 0xff00, 32, turns);
    copy(copies<16>, 16, all, all, 32, turns), copy(copies<16>, 16, all, 0, 128, turns);
    copy(copies<4>, 4, all, 0, 32, turns), copy(copies<4>, 32, all, 0, 32, turns);
    copy(copies<4>, 4, all, 0xff00, 32, turns), copy(copies<8>, 8, all, 0, 32, turns);
  }
  return finished();
}

// Launches warpgroup products and a 2D tile. Varying `turns`, warps, and blocks separates counter
// rules from noise.
int tiles() {
  float *in, *out;
  cudaMalloc(&in, 1 << 24), cudaMalloc(&out, 1 << 24), cudaMemset(in, 0, 1 << 24);
  for (int turns : {1, 4, 16}) groupProducts<false><<<1, 128>>>(turns, out), groupProducts<true><<<1, 128>>>(turns, out);
  for (int threads : {32, 64, 128, 256}) tile<<<1, threads>>>(in, out, 4);
  tile<<<132, 256>>>(in, out, 4), tile<<<1, 256>>>(in, out, 64);
  for (int words : {1, 2, 8})
    for (int threads : {32, 128, 512}) {
      strided<<<1, threads>>>(in, out, words, 64);
      stridedStores<<<1, threads>>>(out, words, 64);
    }
  return finished();
}

__global__ void large(int *out) {
  extern __shared__ __align__(1024) unsigned char shared[];
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[0] = shared[0];
}
__global__ void __launch_bounds__(128) bounded(int *out) { out[0] = 1; }
__global__ void __cluster_dims__(2, 1, 1) clustered(int *out) { out[0] = 1; }

// Prints the error of a launch that the GPU rejects.
int launches() {
  int *out;
  cudaMalloc(&out, 4096);
  const auto said = [](const char *what) {
    const cudaError_t launch = cudaGetLastError(), run = cudaDeviceSynchronize();
    printf("%s: %s, %s\n", what, cudaGetErrorName(launch), cudaGetErrorName(run));
    cudaGetLastError();
  };
  large<<<1, 32, 48 * 1024>>>(out), said("48 KiB of dynamic shared memory");
  large<<<1, 32, 48 * 1024 + 4>>>(out), said("48 KiB + 4");
  large<<<1, 32, 64 * 1024>>>(out), said("64 KiB");
  cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024), said("attribute of 64 KiB");
  large<<<1, 32, 64 * 1024>>>(out), said("64 KiB with the attribute");
  large<<<1, 32, 65 * 1024>>>(out), said("65 KiB with the attribute of 64 KiB");
  cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024), said("attribute of 227 KiB");
  large<<<1, 32, 227 * 1024>>>(out), said("227 KiB with the attribute");
  cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024), said("attribute of 228 KiB");
  large<<<1, 1024, 4096>>>(out), said("1024 threads"), large<<<1, 1025, 4096>>>(out), said("1025 threads");
  large<<<1, dim3(1, 1, 64), 4096>>>(out), said("64 threads along z"), large<<<1, dim3(1, 1, 65), 4096>>>(out), said("65 threads along z");
  large<<<0, 32, 4096>>>(out), said("no blocks"), large<<<1, 0, 4096>>>(out), said("no threads");
  large<<<dim3(1, 65535, 1), 32, 4096>>>(out), said("65535 blocks along y"), large<<<dim3(1, 65536, 1), 32, 4096>>>(out), said("65536 blocks along y");
  bounded<<<1, 128>>>(out), said("128 threads of 128"), bounded<<<1, 129>>>(out), said("129 threads of 128");
  clustered<<<2, 32>>>(out), said("2 blocks in clusters of 2"), clustered<<<3, 32>>>(out), said("3 blocks in clusters of 2");
  return 0;
}

int main(int count, char **words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "patterns" && count > 2) return patterns(words[2]);
  if (what == "kernels") return kernels();
  if (what == "tiles") return tiles();
  if (what == "launches") return launches();
  return 2;
}
