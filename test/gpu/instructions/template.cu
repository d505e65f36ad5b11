// The kernel whose machine code each trial replaces. The cubin has two pointers and 60 words as
// parameters. The cubin also has 8 KiB of shared memory, more than 64 registers, and space for
// 1,200 instructions.
#include <cstdint>

struct Words {
  uint32_t word[60];
};

extern "C" __global__ void __launch_bounds__(32) slot(uint32_t *in, uint32_t *out, Words words) {
  __shared__ volatile uint32_t shared[2048];
  const int lane = threadIdx.x;
  uint32_t value[72];
#pragma unroll
  for (int row = 0; row < 72; row++) value[row] = ((volatile uint32_t *)in)[row * 32 + lane];
#pragma unroll
  for (int row = 0; row < 32; row++) shared[row * 32 + lane] = value[row] + words.word[row];
  __syncthreads();
#pragma unroll
  for (int turn = 0; turn < 6; turn++)
#pragma unroll
    for (int row = 0; row < 72; row++)
      value[row] = value[row] * value[(row + 7) % 72] + shared[(value[row] & 1023) ^ turn] + words.word[row % 60];
#pragma unroll
  for (int row = 0; row < 72; row++) out[row * 32 + lane] = value[row];
}
