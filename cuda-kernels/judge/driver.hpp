// CUDA driver functions for replaying a description, loaded at run time. The CUDA runtime is not used.
#pragma once

#include <cuda.h>
#include <dlfcn.h>
#include <string>

struct DriverError {
  std::string message;
};

class Driver {
 public:
  Driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library) throw DriverError{"there is no CUDA driver"};
    bind(library, "cuGetErrorName", errorName);
    bind(library, "cuInit", init);
    bind(library, "cuDeviceGet", deviceGet);
    bind(library, "cuDevicePrimaryCtxRetain", primaryCtxRetain);
    bind(library, "cuCtxSetCurrent", ctxSetCurrent);
    bind(library, "cuCtxSetLimit", ctxSetLimit);
    bind(library, "cuCtxSynchronize", ctxSynchronize);
    bind(library, "cuStreamCreate", streamCreate);
    bind(library, "cuStreamSynchronize", streamSynchronize);
    bind(library, "cuEventCreate", eventCreate);
    bind(library, "cuEventRecord", eventRecord);
    bind(library, "cuEventSynchronize", eventSynchronize);
    bind(library, "cuEventElapsedTime_v2", "cuEventElapsedTime", eventElapsedTime);
    bind(library, "cuMemAlloc_v2", memAlloc);
    bind(library, "cuMemcpyHtoDAsync_v2", copyFromHost);
    bind(library, "cuMemcpyDtoH_v2", copyToHost);
    bind(library, "cuMemcpyDtoDAsync_v2", copyOnDevice);
    bind(library, "cuMemsetD8Async", fillBytes);
    bind(library, "cuModuleLoadData", moduleLoad);
    bind(library, "cuModuleGetFunction", moduleFunction);
    bind(library, "cuModuleGetGlobal_v2", moduleGlobal);
    bind(library, "cuFuncSetAttribute", setAttribute);
    bind(library, "cuLaunchKernelEx", launch);
    bind(library, "cuTensorMapEncodeTiled", encodeTiled);
  }

  void check(CUresult result, const std::string& what) const {
    if (result == CUDA_SUCCESS) return;
    const char* name = nullptr;
    errorName(result, &name);
    throw DriverError{what + ": " + (name ? name : "error " + std::to_string(int(result)))};
  }

  decltype(&cuGetErrorName) errorName;
  decltype(&cuInit) init;
  decltype(&cuDeviceGet) deviceGet;
  decltype(&cuDevicePrimaryCtxRetain) primaryCtxRetain;
  decltype(&cuCtxSetCurrent) ctxSetCurrent;
  decltype(&cuCtxSetLimit) ctxSetLimit;
  decltype(&cuCtxSynchronize) ctxSynchronize;
  decltype(&cuStreamCreate) streamCreate;
  decltype(&cuStreamSynchronize) streamSynchronize;
  decltype(&cuEventCreate) eventCreate;
  decltype(&cuEventRecord) eventRecord;
  decltype(&cuEventSynchronize) eventSynchronize;
  CUresult (*eventElapsedTime)(float*, CUevent, CUevent);
  decltype(&cuMemAlloc) memAlloc;
  decltype(&cuMemcpyHtoDAsync) copyFromHost;
  decltype(&cuMemcpyDtoH) copyToHost;
  decltype(&cuMemcpyDtoDAsync) copyOnDevice;
  decltype(&cuMemsetD8Async) fillBytes;
  decltype(&cuModuleLoadData) moduleLoad;
  decltype(&cuModuleGetFunction) moduleFunction;
  decltype(&cuModuleGetGlobal) moduleGlobal;
  decltype(&cuFuncSetAttribute) setAttribute;
  decltype(&cuLaunchKernelEx) launch;
  // Null before CUDA 12; kernels for older versions cannot take tensor maps.
  decltype(&cuTensorMapEncodeTiled) encodeTiled;

 private:
  template <typename Function>
  static void bind(void* library, const char* name, Function& function) {
    bind(library, name, name, function);
  }
  template <typename Function>
  static void bind(void* library, const char* name, const char* olderName, Function& function) {
    void* found = dlsym(library, name);
    if (!found) found = dlsym(library, olderName);
    if (!found && std::string(name) != "cuTensorMapEncodeTiled")
      throw DriverError{std::string("the CUDA driver has no ") + olderName};
    function = reinterpret_cast<Function>(found);
  }
};
