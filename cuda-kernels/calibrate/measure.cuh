// Helpers for all benchmarks: CUDA errors, buffers, one JSON line per measurement, medians, and the cycles of a block's
// warps.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

inline void check(cudaError_t status, const char* activity) {
  if (status == cudaSuccess) return;
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", activity, cudaGetErrorString(status));
  exit(3);
}

struct Gpu {
  cudaDeviceProp properties;
  int clockKHz;
  int sms() const { return properties.multiProcessorCount; }
  // Returns the compute capability as an integer: 90 for 9.0.
  int capability() const { return properties.major * 10 + properties.minor; }
  // Returns the largest buffer size that a benchmark may allocate: a quarter of the free memory.
  size_t allowance() const {
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free / 4;
  }
};

// Device memory that is freed at the end of its scope.
template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
    check(cudaMemset(data_, 0, count * sizeof(T)), "cudaMemset");
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* get() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }

  std::vector<T> read() const {
    std::vector<T> host(count_);
    check(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }
  void write(const std::vector<T>& host) const {
    check(cudaMemcpy(data_, host.data(), std::min(bytes(), host.size() * sizeof(T)), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

// A measured value: the median of its repetitions, and half the width of their middle 80 %.
struct Value {
  double median = 0, spread = 0;
};

inline Value valueOf(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const size_t cut = samples.size() / 10, last = samples.size() - 1;
  return {samples[samples.size() / 2], (samples[last - cut] - samples[cut]) / 2};
}

// One measurement, printed as a JSON object on its own line.
class Line {
 public:
  explicit Line(const std::string& benchmark) : body_("{\"benchmark\":\"" + benchmark + "\"") {}
  Line& text(const char* key, const std::string& value) { return put(key, "\"" + value + "\""); }
  Line& number(const char* key, double value) { return put(key, digits(value)); }
  Line& value(const char* key, Value value) { return number(key, value.median).number("spread", value.spread); }
  Line& numbers(const char* key, const std::vector<double>& values) {
    std::string list;
    for (const double value : values) list += (list.empty() ? "" : ",") + digits(value);
    return put(key, "[" + list + "]");
  }
  ~Line() {
    printf("%s}\n", body_.c_str());
    fflush(stdout);
  }

 private:
  // Formats integers in full and other numbers with six digits. NaN and infinities become null.
  static std::string digits(double value) {
    char text[40];
    if (!std::isfinite(value)) return "null";
    snprintf(text, sizeof text, value == std::floor(value) && std::fabs(value) < 9e15 ? "%.0f" : "%.6g", value);
    return text;
  }
  Line& put(const char* key, const std::string& json) {
    body_ += std::string(",\"") + key + "\":" + json;
    return *this;
  }
  std::string body_;
};

// The first and last clock value of a warp.
struct Stamp {
  long long start, end;
};

constexpr int kMostWarps = 32;

__device__ inline void keepStamp(Stamp* stamps, long long start, long long end) {
  if (threadIdx.x % 32 == 0) stamps[threadIdx.x / 32] = {start, end};
}

// Returns the cycles from the first start to the last end among the warps of one block.
inline double cyclesOf(const std::vector<Stamp>& stamps, int warps) {
  long long start = stamps[0].start, end = stamps[0].end;
  for (int w = 1; w < warps; ++w) {
    start = std::min(start, stamps[w].start);
    end = std::max(end, stamps[w].end);
  }
  return double(end - start);
}

// Launches a one-block kernel several times and returns the kernel's cycles. The first launch only fills the caches.
template <typename Launch>
Value blockCycles(int warps, Launch launch, int repetitions = 9) {
  Buffer<Stamp> stamps(kMostWarps);
  std::vector<double> samples;
  for (int i = 0; i <= repetitions; ++i) {
    launch(stamps.get());
    check(cudaGetLastError(), "launching a benchmark");
    check(cudaDeviceSynchronize(), "running a benchmark");
    if (i > 0) samples.push_back(cyclesOf(stamps.read(), warps));
  }
  return valueOf(samples);
}

inline Value perStep(Value cycles, double steps) { return {cycles.median / steps, cycles.spread / steps}; }

// Returns (longer - shorter) / steps: the cost of one step, excluding the overhead that both measurements share.
inline Value slope(Value longer, Value shorter, double steps) {
  return {(longer.median - shorter.median) / steps, (longer.spread + shorter.spread) / steps};
}

__device__ inline unsigned long long globalTimer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Keeps the stream busy until the host has enqueued the timed work, so host time is not measured.
__global__ void holdStream(unsigned microseconds) {
  for (const unsigned long long begin = globalTimer(); globalTimer() - begin < microseconds * 1000ull;) continue;
}

// Measures the milliseconds between two events around a launch.
class EventTimer {
 public:
  EventTimer() {
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  ~EventTimer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  template <typename Work>
  double once(Work work, unsigned holdMicroseconds = 100) const {
    float ms = 0;
    holdStream<<<1, 1>>>(holdMicroseconds);
    check(cudaEventRecord(start_), "cudaEventRecord");
    work();
    check(cudaEventRecord(stop_), "cudaEventRecord");
    check(cudaGetLastError(), "launching a benchmark");
    check(cudaEventSynchronize(stop_), "running a benchmark");
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    return ms;
  }
  template <typename Work>
  Value repeat(int repetitions, Work work, unsigned holdMicroseconds = 100) const {
    std::vector<double> samples;
    work();
    for (int i = 0; i < repetitions; ++i) samples.push_back(once(work, holdMicroseconds));
    return valueOf(samples);
  }

 private:
  cudaEvent_t start_, stop_;
};

__device__ inline uint32_t sharedAddress(const void* pointer) { return uint32_t(__cvta_generic_to_shared(pointer)); }

__device__ inline uint32_t smNumber() {
  uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

// Returns pseudorandom bits from a counter.
__host__ __device__ inline uint32_t mixBits(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}
