// Loads CUPTI at run time. CUPTI is part of the CUDA toolkit, but a machine may lack it. Activity records and resource
// callbacks work even if the process may not read counters.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <string>
#include <vector>

#if __has_include(<cupti.h>) && !defined(KL_NO_CUPTI)
#define KL_CUPTI 1
#include <cupti.h>

class Cupti {
 public:
  // Returns the CUPTI instance of this process, or null if CUPTI is unavailable.
  static const Cupti* get() {
    static const Cupti one;
    return one.usable_ ? &one : nullptr;
  }

  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enableCallback = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) registerBuffers = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flushAll = nullptr;
  decltype(&cuptiActivityFlushPeriod) flushPeriod = nullptr;
  decltype(&cuptiActivityGetNextRecord) nextRecord = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) droppedRecords = nullptr;
  decltype(&cuptiGetStreamIdEx) streamId = nullptr;

 private:
  Cupti() {
    const std::string versioned = "libcupti.so." + std::to_string(CUDA_VERSION / 1000);
    std::vector<std::string> places;
    for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"})
      for (const std::string& name : {versioned, std::string("libcupti.so")}) places.push_back(folder + name);
    void* library = nullptr;
    for (const std::string& place : places)
      if (!library) library = dlopen(place.c_str(), RTLD_NOW);
    usable_ = library && bind(library, "cuptiSubscribe", subscribe) &&
              bind(library, "cuptiEnableCallback", enableCallback) &&
              bind(library, "cuptiActivityRegisterCallbacks", registerBuffers) &&
              bind(library, "cuptiActivityEnable", enable) && bind(library, "cuptiActivityDisable", disable) &&
              bind(library, "cuptiActivityFlushAll", flushAll) &&
              bind(library, "cuptiActivityFlushPeriod", flushPeriod) &&
              bind(library, "cuptiActivityGetNextRecord", nextRecord) &&
              bind(library, "cuptiActivityGetNumDroppedRecords", droppedRecords) &&
              bind(library, "cuptiGetStreamIdEx", streamId);
  }

  template <typename Function>
  static bool bind(void* library, const char* name, Function& function) {
    return (function = reinterpret_cast<Function>(dlsym(library, name))) != nullptr;
  }

  bool usable_ = false;
};
#endif
