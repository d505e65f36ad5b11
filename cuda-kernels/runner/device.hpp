// The GPU: its properties, and its SM clock (read through NVML, if available).
#pragma once

#include "errors.hpp"

#include <algorithm>
#include <cfloat>
#include <chrono>
#include <dlfcn.h>
#include <string>

// NVML is part of the driver, but its header is not always installed. The required functions are therefore declared
// here. Without NVML, only the values that NVML provides are unknown.
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
    // Newer drivers also export this function as ...ClocksEventReasons; every driver exports the old name.
    reasons_ = reinterpret_cast<ReasonsFunction>(dlsym(library, "nvmlDeviceGetCurrentClocksThrottleReasons"));
    if (!init || !find || init() != 0 || find(pciBusId, &device_) != 0) device_ = nullptr;
  }

  // Clocks in MHz, or -1 if unknown.
  double smClock() const { return read(clock_, kSmClock); }
  double smClockMax() const { return read(maxClock_, kSmClock); }
  double memoryClock() const { return read(clock_, kMemoryClock); }

  // Temperature in degrees Celsius and power in watts, or -1 if unknown.
  double temperature() const { return read(temperature_, kGpuSensor); }
  double power() const { return read(power_); }
  double powerLimit() const { return read(powerLimit_); }

  // Returns a bit mask of the reasons that limit the clocks (nvmlClocksThrottleReason...), or -1 if unknown.
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

  // Returns the highest SM clock, or 2 GHz if the driver does not report the clock.
  double clockHz() const {
    int kHz = 0;
    return cudaDeviceGetAttribute(&kHz, cudaDevAttrClockRate, 0) == cudaSuccess && kHz > 0 ? 1e3 * kHz : 2e9;
  }

  // Opens the first GPU visible through CUDA_VISIBLE_DEVICES and creates its context.
  Device() {
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0)
      throw RunnerError{kNoDevice, "no-device", status == cudaSuccess ? "CUDA sees no GPU" : describe(status)};
    // Spins instead of sleeping, because the wait for a sample must not depend on the host's scheduler.
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

  // Returns a device attribute, or -1 if unknown. Some drivers return 0 for an unknown attribute.
  static double attribute(cudaDeviceAttr name) {
    int value = 0;
    const bool known = cudaDeviceGetAttribute(&value, name, 0) == cudaSuccess && value > 0;
    return known ? value : -1;
  }

  static double maxClock(const Nvml& nvml) {
    return nvml.smClockMax() > 0 ? nvml.smClockMax() : attribute(cudaDevAttrClockRate) / 1000.0;
  }
};
