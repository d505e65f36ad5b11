// The GPU: its properties, and its SM clock (through NVML, if available).
#pragma once

#include "errors.hpp"

#include <algorithm>
#include <cfloat>
#include <chrono>
#include <dlfcn.h>
#include <string>

// NVML is part of the driver but its header is not always installed: the functions needed are
// declared here. Without it what it would say is null and nothing else changes.
class Nvml {
 public:
  explicit Nvml(const char* pciBusId) {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) return;
    const auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
    const auto find =
        reinterpret_cast<int (*)(const char*, void**)>(dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
    clock_ = reinterpret_cast<ClockFunction>(dlsym(library, "nvmlDeviceGetClockInfo"));
    maxClock_ = reinterpret_cast<ClockFunction>(dlsym(library, "nvmlDeviceGetMaxClockInfo"));
    temperature_ = reinterpret_cast<ClockFunction>(dlsym(library, "nvmlDeviceGetTemperature"));
    power_ = reinterpret_cast<PowerFunction>(dlsym(library, "nvmlDeviceGetPowerUsage"));
    powerLimit_ = reinterpret_cast<PowerFunction>(dlsym(library, "nvmlDeviceGetEnforcedPowerLimit"));
    // Renamed to ...ClocksEventReasons; the old name is in every driver.
    reasons_ = reinterpret_cast<ReasonsFunction>(dlsym(library, "nvmlDeviceGetCurrentClocksThrottleReasons"));
    if (!init || !find || init() != 0 || find(pciBusId, &device_) != 0) device_ = nullptr;
  }

  // MHz, or -1 if unknown.
  double smClock() const { return read(clock_, kSmClock); }
  double smClockMax() const { return read(maxClock_, kSmClock); }
  double memoryClock() const { return read(clock_, kMemoryClock); }

  // Degrees Celsius and watts, or -1 if unknown.
  double temperature() const { return read(temperature_, kGpuSensor); }
  double power() const { return read(power_); }
  double powerLimit() const { return read(powerLimit_); }

  // A bit for each reason why the clocks are not higher (nvmlClocksThrottleReason...), or -1 if unknown.
  long long clockReasons() const {
    unsigned long long reasons = 0;
    return device_ && reasons_ && reasons_(device_, &reasons) == 0 ? (long long)reasons : -1;
  }

 private:
  using ClockFunction = int (*)(void*, int, unsigned*);
  using PowerFunction = int (*)(void*, unsigned*);
  using ReasonsFunction = int (*)(void*, unsigned long long*);
  static constexpr int kSmClock = 1, kMemoryClock = 2;  // NVML_CLOCK_SM, NVML_CLOCK_MEM
  static constexpr int kGpuSensor = 0;                  // NVML_TEMPERATURE_GPU

  double read(ClockFunction function, int which) const {
    unsigned value = 0;
    return device_ && function && function(device_, which, &value) == 0 ? double(value) : -1;
  }

  double read(PowerFunction function) const {
    unsigned milliwatts = 0;
    return device_ && function && function(device_, &milliwatts) == 0 ? milliwatts / 1000.0 : -1;
  }

  void* device_ = nullptr;
  ClockFunction clock_ = nullptr, maxClock_ = nullptr, temperature_ = nullptr;
  PowerFunction power_ = nullptr, powerLimit_ = nullptr;
  ReasonsFunction reasons_ = nullptr;
};

struct Device {
  cudaDeviceProp properties{};
  char pciBusId[32] = "";
  size_t freeBytes = 0, totalBytes = 0;
  int driver = 0, runtime = 0;

  // The highest SM clock; a guess of about that size where the driver does not tell.
  double clockHz() const {
    int kHz = 0;
    return cudaDeviceGetAttribute(&kHz, cudaDevAttrClockRate, 0) == cudaSuccess && kHz > 0 ? 1e3 * kHz : 2e9;
  }

  // Opens GPU 0 of those visible through CUDA_VISIBLE_DEVICES, and creates its context.
  Device() {
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0)
      throw RunnerError{kNoDevice, "no-device", status == cudaSuccess ? "CUDA sees no GPU" : describe(status)};
    // Spin instead of sleeping: waiting for a sample must not depend on the host's scheduler.
    check(cudaSetDeviceFlags(cudaDeviceScheduleSpin), "cudaSetDeviceFlags");
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    check(cudaDeviceGetPCIBusId(pciBusId, sizeof pciBusId, 0), "cudaDeviceGetPCIBusId");
    check(cudaMemGetInfo(&freeBytes, &totalBytes), "cudaMemGetInfo");
  }

  int sm() const { return properties.major * 10 + properties.minor; }

  void print(const Nvml& nvml) const {
    Json("device")
        .string("name", properties.name)
        .string("pciBusId", pciBusId)
        .string("computeCapability", std::to_string(properties.major) + "." + std::to_string(properties.minor))
        .number("smCount", properties.multiProcessorCount)
        .numberOrNull("smClockMaxMHz", maxClock(nvml))
        .numberOrNull("memoryClockMHz", attribute(cudaDevAttrMemoryClockRate) / 1000.0)
        .numberOrNull("memoryBusBits", attribute(cudaDevAttrGlobalMemoryBusWidth))
        .number("memoryTotalBytes", totalBytes)
        .number("memoryFreeBytes", freeBytes)
        .number("l2Bytes", properties.l2CacheSize)
        .number("sharedPerSmBytes", properties.sharedMemPerMultiprocessor)
        .number("sharedPerBlockOptinBytes", properties.sharedMemPerBlockOptin)
        .number("registersPerSm", properties.regsPerMultiprocessor)
        .number("maxThreadsPerSm", properties.maxThreadsPerMultiProcessor)
        .number("maxBlocksPerSm", properties.maxBlocksPerMultiProcessor)
        .number("warpSize", properties.warpSize)
        .string("cudaDriver", version(driver))
        .string("cudaRuntime", version(runtime))
        .print();
  }

 private:
  static std::string version(int value) {
    return std::to_string(value / 1000) + "." + std::to_string(value % 1000 / 10);
  }

  // -1 if unknown; some drivers return 0 for that.
  static double attribute(cudaDeviceAttr name) {
    int value = 0;
    const bool known = cudaDeviceGetAttribute(&value, name, 0) == cudaSuccess && value > 0;
    return known ? value : -1;
  }

  static double maxClock(const Nvml& nvml) {
    return nvml.smClockMax() > 0 ? nvml.smClockMax() : attribute(cudaDevAttrClockRate) / 1000.0;
  }
};

// The GPU's ceilings, measured: FP32 arithmetic, and reads from L1, L2 and device memory. They are the roofs of
// the roofline; each is the best of a few launches, after the clocks have ramped up.

constexpr int kCeilingThreads = 256;
constexpr int kChains = 8;     // independent accumulators per thread, to hide latency
constexpr int kFmaSteps = 16;  // per chain and loop iteration
constexpr int kReads = 8;      // 16-byte loads in flight at once

__global__ void __launch_bounds__(kCeilingThreads) fmaChains(int turns, float factor, float* sink) {
  float sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = float(threadIdx.x + c);
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int step = 0; step < kFmaSteps; ++step)
#pragma unroll
      for (int c = 0; c < kChains; ++c) sum[c] = fmaf(sum[c], factor, factor);
  float total = 0;
  for (int c = 0; c < kChains; ++c) total += sum[c];
  if (total == -1.0f) *sink = total;  // never: keeps the work from being optimized away
}

// volatile, so that a repeated read is not optimized away.
template <bool kThroughL1>
__device__ inline uint4 readSixteen(const uint4* from) {
  uint4 v;
  if (kThroughL1)
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from));
  else
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from));
  return v;
}

// How the threads of a grid walk over a buffer, in units of 16 bytes; `mask` is a power-of-two length minus one.
// With slices, each block cycles through its own; without, all blocks cycle through the whole buffer together.
struct Walk {
  unsigned slice, mask;
};

template <bool kThroughL1>
__global__ void __launch_bounds__(kCeilingThreads) readMany(const uint4* data, Walk walk, int turns, unsigned* sink) {
  const unsigned stride = walk.slice ? blockDim.x : gridDim.x * blockDim.x;
  unsigned at = walk.slice ? threadIdx.x : blockIdx.x * blockDim.x + threadIdx.x, all = 0;
  data += size_t(blockIdx.x) * walk.slice;
  for (int turn = 0; turn < turns; ++turn) {
    uint4 values[kReads];
#pragma unroll
    for (int r = 0; r < kReads; ++r) values[r] = readSixteen<kThroughL1>(data + ((at + r * stride) & walk.mask));
#pragma unroll
    for (int r = 0; r < kReads; ++r) all ^= values[r].x ^ values[r].y ^ values[r].z ^ values[r].w;
    at += kReads * stride;
  }
  if (all == 0x9e3779b9u) *sink = all;  // the buffer is zero, so never
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
    return device_.properties.multiProcessorCount * (device_.properties.maxThreadsPerMultiProcessor / kCeilingThreads);
  }

  static size_t powerOfTwoBelow(size_t bytes) {
    size_t power = 1;
    while (power * 2 <= bytes) power *= 2;
    return power;
  }

  void warmUp() {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(100)) {
      fmaChains<<<blocks(), kCeilingThreads, 0, stream_>>>(256, 0.5f, nullptr);
      check(cudaStreamSynchronize(stream_), "warming up");
    }
  }

  // The shortest of a few launches, in milliseconds.
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
      if (i > 0) least = std::min(least, ms);  // the first one fills the caches
    }
    return least;
  }

  double fp32() {
    const int turns = 512;
    const double ms = best([&] { fmaChains<<<blocks(), kCeilingThreads, 0, stream_>>>(turns, 0.5f, nullptr); });
    return ms <= 0 ? kUnknown : 2.0 * kChains * kFmaSteps * turns * kCeilingThreads * blocks() / (ms * 1e6);
  }

  // GB/s of `grid` blocks that read at least `bytes` in total from a buffer of `size`.
  template <bool kThroughL1>
  double read(size_t size, Walk walk, int grid, double bytes) {
    const double perTurn = double(grid) * kCeilingThreads * kReads * 16;
    const int turns = int(bytes / perTurn) + 1;
    void* data = nullptr;
    if (cudaMalloc(&data, size) != cudaSuccess) {
      cudaGetLastError();
      return kUnknown;
    }
    cudaMemsetAsync(data, 0, size, stream_);
    const double ms = best([&] {
      readMany<kThroughL1>
          <<<grid, kCeilingThreads, 0, stream_>>>(static_cast<const uint4*>(data), walk, turns, nullptr);
    });
    cudaFree(data);
    return ms <= 0 ? kUnknown : perTurn * turns / (ms * 1e6);
  }

  static constexpr double kEnough = 5e9;  // bytes: half a millisecond at 10 TB/s

  // Every SM reads the same 16 KiB.
  double l1() {
    const unsigned units = (16 << 10) / 16;
    return read<true>(units * 16, {0, units - 1}, blocks(), 4 * kEnough);
  }

  // Each block reads its own 32 KiB, with as many blocks as fit into half of L2: two requests for the same
  // line at the same time would be merged on the way to L2.
  double l2() {
    const unsigned units = kReads * kCeilingThreads;
    const int sms = device_.properties.multiProcessorCount;
    const int grid = sms * std::max(1, std::min(2, int(l2Bytes() / 2 / (size_t(units) * 16) / sms)));
    return read<false>(size_t(grid) * units * 16, {units, units - 1}, grid, kEnough);
  }

  // The buffer must far exceed L2, or there is no result: L2 hits would be taken for memory reads.
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
