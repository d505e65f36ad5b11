// Measured ceilings of the GPU: FP32 arithmetic, and reads from L1, L2 and device memory.
#pragma once

#include "device.hpp"
#include "read-memory.hpp"

#include <algorithm>
#include <cfloat>
#include <chrono>

// The roofline plot uses these ceilings. Each ceiling is the best result of a few launches that run after the clocks
// have ramped up.

constexpr int kChains = 8;     // independent accumulators per thread, to hide latency
constexpr int kFmaSteps = 16;  // FMAs per chain and loop iteration

__global__ void __launch_bounds__(kReadThreads) fmaChains(int turns, float factor, float* sink) {
  float sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = float(threadIdx.x + c);
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int step = 0; step < kFmaSteps; ++step)
#pragma unroll
      for (int c = 0; c < kChains; ++c) sum[c] = fmaf(sum[c], factor, factor);
  float total = 0;
  for (int c = 0; c < kChains; ++c) total += sum[c];
  if (total == -1.0f) *sink = total;  // never true: keeps the compiler from removing the work
}

class CeilingBench {
 public:
  explicit CeilingBench(const Device& device) : device_(device) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  ~CeilingBench() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }

  void print() {
    warmUp();
    Json("ceilings")
        .numberOrNull("fp32Gflops", fp32())
        .numberOrNull("l1GBs", l1())
        .numberOrNull("l2GBs", l2())
        .numberOrNull("dramGBs", dram())
        .print();
  }

 private:
  static constexpr double kUnknown = -1;

  size_t l2Bytes() const { return size_t(device_.properties.l2CacheSize); }
  int blocks() const {
    return device_.properties.multiProcessorCount * (device_.properties.maxThreadsPerMultiProcessor / kReadThreads);
  }

  static size_t powerOfTwoBelow(size_t bytes) {
    size_t power = 1;
    while (power * 2 <= bytes) power *= 2;
    return power;
  }

  void warmUp() {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(100)) {
      fmaChains<<<blocks(), kReadThreads, 0, stream_>>>(256, 0.5f, nullptr);
      check(cudaStreamSynchronize(stream_), "warming up");
    }
  }

  // Returns the shortest time of a few launches, in milliseconds.
  template <typename Launch>
  double best(Launch launch) {
    float least = FLT_MAX;
    for (int i = 0; i < 8; ++i) {
      float ms = 0;
      cudaEventRecord(start_, stream_);
      launch();
      cudaEventRecord(stop_, stream_);
      if (cudaEventSynchronize(stop_) != cudaSuccess || cudaEventElapsedTime(&ms, start_, stop_) != cudaSuccess) {
        cudaGetLastError();
        return kUnknown;
      }
      if (i > 0) least = std::min(least, ms);  // the first launch fills the caches
    }
    return least;
  }

  double fp32() {
    const int turns = 512;
    const double ms = best([&] { fmaChains<<<blocks(), kReadThreads, 0, stream_>>>(turns, 0.5f, nullptr); });
    return ms <= 0 ? kUnknown : 2.0 * kChains * kFmaSteps * turns * kReadThreads * blocks() / (ms * 1e6);
  }

  // Returns the GB/s of `grid` blocks that read at least `bytes` in total from a buffer of `size` bytes.
  template <bool kThroughL1>
  double read(size_t size, Walk walk, int grid, double bytes) {
    const double perTurn = double(grid) * kReadThreads * kReads * 16;
    const int turns = int(bytes / perTurn) + 1;
    void* data = nullptr;
    if (cudaMalloc(&data, size) != cudaSuccess) {
      cudaGetLastError();
      return kUnknown;
    }
    cudaMemsetAsync(data, 0, size, stream_);
    const double ms = best([&] {
      readMany<kThroughL1><<<grid, kReadThreads, 0, stream_>>>(static_cast<const uint4*>(data), walk, turns, nullptr);
    });
    cudaFree(data);
    return ms <= 0 ? kUnknown : perTurn * turns / (ms * 1e6);
  }

  static constexpr double kEnough = 5e9;  // in bytes; reading them takes half a millisecond at 10 TB/s

  // Measures L1: every SM reads the same 16 KiB.
  double l1() {
    const unsigned units = (16 << 10) / 16;
    return read<true>(units * 16, {0, units - 1}, blocks(), 4 * kEnough);
  }

  // Measures L2: each block reads its own 32 KiB, and the number of blocks is chosen so that their data fits into half
  // of L2. Blocks must not share lines, because two requests for the same line at the same time would be merged on the
  // way to L2.
  double l2() {
    const unsigned units = kReads * kReadThreads;
    const int sms = device_.properties.multiProcessorCount;
    const int grid = sms * std::max(1, std::min(2, int(l2Bytes() / 2 / (size_t(units) * 16) / sms)));
    return read<false>(size_t(grid) * units * 16, {units, units - 1}, grid, kEnough);
  }

  // Measures device memory. Returns `kUnknown` unless the buffer is at least eight times as large as L2. Otherwise, L2
  // hits would count as memory reads.
  double dram() {
    size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return kUnknown;
    const size_t bytes = std::min(size_t(2) << 30, powerOfTwoBelow(free / 4));
    if (bytes < 8 * l2Bytes()) return kUnknown;
    return read<false>(bytes, {0, unsigned(bytes / 16 - 1)}, blocks(), double(bytes));
  }

  const Device& device_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};
