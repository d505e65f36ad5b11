// Executes a described case through the CUDA driver: launches, fills and copies, in order, on one stream.
#pragma once

#include "driver.hpp"
#include "plan.hpp"

#include <map>
#include <string>
#include <vector>

// The probe's record of a tensor map (../probe/launches.cpp). Launch arguments contain this record in place of a tensor
// map.
struct TensorMapRecord {
  char magic[4];
  uint8_t type, rank, interleave, swizzle;
  uint64_t address;
  uint32_t size[5];
  uint16_t box[5];
  uint8_t step[5], fill;
  uint32_t promotion;
  uint64_t stride[4];
};
static_assert(sizeof(TensorMapRecord) == 88 && sizeof(TensorMapRecord) <= sizeof(CUtensorMap));

class Replay {
 public:
  Replay(const Driver& driver, const Plan& plan) : driver_(driver) {
    for (const std::string& path : plan.modules) {
      images_.push_back(readWhole(path));
      CUmodule module;
      driver_.check(driver_.moduleLoad(&module, images_.back().data()), "the machine code cannot be loaded");
      modules_.push_back(module);
    }
  }

  // Loads and configures kernels, so `run` only launches.
  void prepare(const PlanCase& own) {
    if (own.stackBytes >= 0)
      driver_.check(driver_.ctxSetLimit(CU_LIMIT_STACK_SIZE, size_t(own.stackBytes)), "the stack's size");
    for (const Step& step : own.steps)
      if (step.kind == Step::kLaunch) prepareKernel(step);
  }

  void run(const PlanCase& own, const std::vector<CUdeviceptr>& buffers, CUstream stream) {
    const auto addressOf = [&](unsigned long long dummy) { return translate(own, buffers, dummy); };
    for (const Step& step : own.steps) switch (step.kind) {
        case Step::kLaunch: launch(own, buffers, step, stream); break;
        case Step::kFill:
          driver_.check(driver_.fillBytes(addressOf(step.to), (unsigned char)step.value, step.bytes, stream), "a fill");
          break;
        case Step::kCopy:
          driver_.check(driver_.copyOnDevice(addressOf(step.to), addressOf(step.from), step.bytes, stream), "a copy");
          break;
        case Step::kData:
          driver_.check(driver_.copyFromHost(addressOf(step.to), step.data.data(), step.bytes, stream), "a copy");
          break;
      }
  }

 private:
  // Returns the device address for a dummy address, and any other number unchanged.
  unsigned long long translate(const PlanCase& own, const std::vector<CUdeviceptr>& buffers,
                               unsigned long long value) const {
    if (value < kDummyBase || value >= kDummyBase + (kDummyRanges << kDummyShift)) return value;
    const size_t index = size_t((value - kDummyBase) >> kDummyShift);
    const unsigned long long offset = (value - kDummyBase) - ((unsigned long long)index << kDummyShift);
    if (index < kFirstSymbol) return index < buffers.size() && buffers[index] ? buffers[index] + offset : value;
    return index - kFirstSymbol < own.symbols.size() ? symbol(own.symbols[index - kFirstSymbol]) + offset : value;
  }

  CUdeviceptr symbol(const std::string& name) const {
    for (CUmodule module : modules_) {
      CUdeviceptr address;
      size_t bytes;
      if (driver_.moduleGlobal(&address, &bytes, module, name.c_str()) == CUDA_SUCCESS) return address;
    }
    throw DriverError{"there is no variable " + name};
  }

  CUfunction kernel(const std::string& name) {
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return known->second;
    for (CUmodule module : modules_) {
      CUfunction function;
      if (driver_.moduleFunction(&function, module, name.c_str()) == CUDA_SUCCESS) return kernels_[name] = function;
    }
    throw DriverError{"there is no kernel " + name};
  }

  void prepareKernel(const Step& step) {
    constexpr unsigned kWithoutAsking = 48 << 10, kPortableCluster = 8;
    const CUfunction function = kernel(step.kernel);
    if (step.shared > kWithoutAsking)
      driver_.check(
          driver_.setAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(step.shared)),
          "its dynamic shared memory");
    if (step.cluster > kPortableCluster)
      driver_.check(driver_.setAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                    "its cluster size");
  }

  void launch(const PlanCase& own, const std::vector<CUdeviceptr>& buffers, const Step& step, CUstream stream) {
    std::vector<unsigned long long> words((step.data.size() + 7) / 8 + 1);
    auto* const bytes = reinterpret_cast<unsigned char*>(words.data());
    memcpy(bytes, step.data.data(), step.data.size());
    for (size_t at = 0; at + 8 <= step.data.size(); at += 8) words[at / 8] = translate(own, buffers, words[at / 8]);
    for (size_t at = 0; at + sizeof(CUtensorMap) <= step.data.size(); at += 64) encode(bytes + at);
    size_t size = step.data.size();
    void* packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {step.cluster, 1, 1};
    CUlaunchConfig config{};
    config.gridDimX = step.grid[0], config.gridDimY = step.grid[1], config.gridDimZ = step.grid[2];
    config.blockDimX = step.block[0], config.blockDimY = step.block[1], config.blockDimZ = step.block[2];
    config.sharedMemBytes = step.shared;
    config.hStream = stream;
    config.attrs = &cluster;
    config.numAttrs = step.cluster > 0 ? 1 : 0;
    driver_.check(driver_.launch(&config, kernel(step.kernel), nullptr, packed), "the launch of " + step.kernel);
  }

  // Replaces a tensor map record with the driver's tensor map. The record's address must already be a device address.
  void encode(unsigned char* at) const {
    TensorMapRecord record;
    memcpy(&record, at, sizeof record);
    if (memcmp(record.magic, "KLTM", 4) != 0) return;
    if (!driver_.encodeTiled) throw DriverError{"the CUDA driver encodes no tensor maps"};
    cuuint64_t size[5], stride[4];
    cuuint32_t box[5], step[5];
    for (int i = 0; i < 5; ++i) size[i] = record.size[i], box[i] = record.box[i], step[i] = record.step[i];
    for (int i = 0; i < 4; ++i) stride[i] = record.stride[i];
    alignas(64) CUtensorMap map;
    driver_.check(
        driver_.encodeTiled(&map, CUtensorMapDataType(record.type), record.rank,
                            reinterpret_cast<void*>(record.address), size, stride, box, step,
                            CUtensorMapInterleave(record.interleave), CUtensorMapSwizzle(record.swizzle),
                            CUtensorMapL2promotion(record.promotion), CUtensorMapFloatOOBfill(record.fill)),
        "encoding a tensor map");
    memcpy(at, &map, sizeof map);
  }

  const Driver& driver_;
  std::vector<std::vector<unsigned char>> images_;
  std::vector<CUmodule> modules_;
  std::map<std::string, CUfunction> kernels_;
};
