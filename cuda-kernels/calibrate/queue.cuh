// The number of memory instructions that a sub-core can issue before it stalls.
#pragma once

#include "measure.cuh"

constexpr int kQueueSteps = 64;

// Fills the queue with loads. A shared-memory load takes 32 cycles, because all lanes use one bank. Each global load
// reads a separate line. The clock of the first warp after each load shows when the queue is full.
template <bool kShared>
__global__ void fillQueue(int stride, const unsigned char* data, long long* clocks, uint32_t* sink) {
  __shared__ uint32_t words[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = 0;
  __syncthreads();
  const uint32_t at = sharedAddress(words) + threadIdx.x % 32 * stride;
  const unsigned char* const global = data + (size_t(threadIdx.x / 32) * kQueueSteps * 128) + threadIdx.x % 32 * 4;
  uint32_t values[kQueueSteps];
  long long stamps[kQueueSteps];
#pragma unroll
  for (int i = 0; i < kQueueSteps; ++i) {
    if (kShared) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(values[i]) : "r"(at));
    else asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(values[i]) : "l"(global + i * 128));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(stamps[i]));
  }
  uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < kQueueSteps; ++i) sum += values[i];
  if (sum == 1) *sink = sum;
  if (threadIdx.x == 0)
#pragma unroll
    for (int i = 0; i < kQueueSteps; ++i) clocks[i] = stamps[i];
}

inline void benchQueue(const Gpu&) {
  Buffer<long long> clocks(kQueueSteps);
  Buffer<unsigned char> data(8 * kQueueSteps * 128);
  for (const bool shared : {true, false})
    for (const int warps : {1, 4, 8}) {
      for (int i = 0; i < 3; ++i) {
        if (shared) fillQueue<true><<<1, 32 * warps>>>(128, data.get(), clocks.get(), nullptr);
        else fillQueue<false><<<1, 32 * warps>>>(128, data.get(), clocks.get(), nullptr);
        check(cudaGetLastError(), "filling the queue");
        check(cudaDeviceSynchronize(), "filling the queue");
      }
      const std::vector<long long> all = clocks.read();
      std::vector<double> gaps;
      for (int i = 1; i < kQueueSteps; ++i) gaps.push_back(double(all[i] - all[i - 1]));
      Line("queue.lsu").text("space", shared ? "shared" : "global").number("warps", warps).numbers("gaps", gaps);
    }
}
