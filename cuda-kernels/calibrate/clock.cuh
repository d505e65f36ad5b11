// The SM clock under load: elapsed cycles divided by elapsed nanoseconds, for a kernel that keeps every SM busy. The
// kernel runs long enough to reach the power cap.
#pragma once

#include "measure.cuh"

struct ClockSample {
  long long cycles;
  unsigned long long nanoseconds;
};

// Runs `work` in every block for `milliseconds` and stores the elapsed cycles and nanoseconds. All warps of a block
// stop together, because warpgroup instructions require all warps.
template <typename Work>
__device__ void sampleClock(Work work, unsigned milliseconds, ClockSample* samples) {
  const unsigned long long begin = globalTimer();
  const long long start = clock64();
  unsigned long long now;
  do {
    work();
    now = globalTimer();
  } while (__syncthreads_and(now - begin < milliseconds * 1000000ull));
  if (threadIdx.x == 0) samples[blockIdx.x] = {clock64() - start, now - begin};
}

inline double medianMHz(const std::vector<ClockSample>& samples) {
  std::vector<double> rates;
  for (const ClockSample& s : samples)
    if (s.nanoseconds > 0) rates.push_back(1e3 * double(s.cycles) / double(s.nanoseconds));
  return valueOf(rates).median;
}

__global__ void __launch_bounds__(512) fp32Load(float factor, unsigned milliseconds, ClockSample* samples, float* sink) {
  float sum[8];
  for (int c = 0; c < 8; ++c) sum[c] = float(threadIdx.x + c);
  sampleClock(
      [&] {
        for (int turn = 0; turn < 64; ++turn)
#pragma unroll
          for (int step = 0; step < 64; ++step) sum[step % 8] = fmaf(sum[step % 8], factor, factor);
      },
      milliseconds, samples);
  float total = 0;
  for (int c = 0; c < 8; ++c) total += sum[c];
  if (total == -1.0f) *sink = total;
}

constexpr unsigned kClockMs = 100;  // duration of each launch

// Measures the clock while `launch(samples)` keeps all SMs busy for kClockMs with `blocks` blocks. Only the second half
// of the launches counts.
template <typename Launch>
void benchClockUnder(const char* load, int blocks, int launches, Launch launch) {
  Buffer<ClockSample> samples(blocks);
  std::vector<double> rates;
  for (int i = 0; i < launches; ++i) {
    launch(samples.get());
    check(cudaDeviceSynchronize(), "measuring the clock");
    rates.push_back(medianMHz(samples.read()));
  }
  Line("clock")
      .text("load", load)
      .number("seconds", launches * kClockMs / 1e3)
      .value("mhz", valueOf({rates.begin() + launches / 2, rates.end()}))
      .numbers("all", rates);
}

inline void benchClock(const Gpu& gpu) {
  const int blocks = gpu.sms() * 4;
  benchClockUnder("fp32", blocks, 10, [&](ClockSample* samples) {
    fp32Load<<<blocks, 512>>>(0.5f, kClockMs, samples, nullptr);
  });
}
