// The GPU: its properties, and its SM clock (through NVML, if available).
#pragma once

#include "errors.hpp"

#include <dlfcn.h>
#include <string>

// NVML is part of the driver but its header is not always installed: the four functions needed are
// declared here. Without it the clocks are null and nothing else changes.
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
    if (!init || !find || init() != 0 || find(pciBusId, &device_) != 0) device_ = nullptr;
  }

  // MHz, or -1 if unknown.
  double smClock() const { return read(clock_); }
  double smClockMax() const { return read(maxClock_); }

 private:
  using ClockFunction = int (*)(void*, int, unsigned*);
  static constexpr int kSmClock = 1;  // NVML_CLOCK_SM

  double read(ClockFunction function) const {
    unsigned mhz = 0;
    return device_ && function && function(device_, kSmClock, &mhz) == 0 ? double(mhz) : -1;
  }

  void* device_ = nullptr;
  ClockFunction clock_ = nullptr, maxClock_ = nullptr;
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
