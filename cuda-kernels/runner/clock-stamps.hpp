// Counts the SM cycles of a launch. Unlike time, cycles do not depend on the clock rate.
#pragma once

#include "errors.hpp"

// An SM's clock value at one moment. One-thread kernels record the clock before and after a launch.
struct ClockStamp {
  long long clock;
  unsigned sm;
};

__global__ void stampClock(ClockStamp* to) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  *to = {clock64(), sm};
}

// Two clock stamps in host memory, written by the GPU.
class ClockStamps {
 public:
  ClockStamps() { check(cudaHostAlloc(&stamps_, 2 * sizeof(ClockStamp), cudaHostAllocMapped), "cudaHostAlloc"); }
  ~ClockStamps() { cudaFreeHost(stamps_); }
  ClockStamps(const ClockStamps&) = delete;
  ClockStamps& operator=(const ClockStamps&) = delete;

  void before(cudaStream_t stream) const { stamp(0, stream); }
  void after(cudaStream_t stream) const { stamp(1, stream); }

  // Returns the cycles between the two stamps, including the stamps' own cycles. Returns -1 if the stamps ran on
  // different SMs, because SM clocks differ.
  double cycles(cudaStream_t stream) const {
    check(cudaStreamSynchronize(stream), "reading the SM clock");
    return stamps_[0].sm == stamps_[1].sm ? double(stamps_[1].clock - stamps_[0].clock) : -1;
  }

 private:
  void stamp(int which, cudaStream_t stream) const {
    stampClock<<<1, 1, 0, stream>>>(stamps_ + which);
    check(cudaGetLastError(), "stamping the SM clock");
  }

  ClockStamp* stamps_ = nullptr;
};
