// CUDA's names for error codes and attributes. Error messages use names, because authors do not know the values.
#pragma once

#include <cuda_runtime_api.h>
#include <string>

#define NAME(constant) \
  case constant: return #constant

// Returns null for an error that a launch without a GPU cannot produce.
inline const char* errorName(cudaError_t error) {
  switch (error) {
    NAME(cudaSuccess);
    NAME(cudaErrorInvalidValue);
    NAME(cudaErrorMemoryAllocation);
    NAME(cudaErrorInitializationError);
    NAME(cudaErrorInvalidConfiguration);
    NAME(cudaErrorInvalidPitchValue);
    NAME(cudaErrorInvalidSymbol);
    NAME(cudaErrorInvalidMemcpyDirection);
    NAME(cudaErrorInsufficientDriver);
    NAME(cudaErrorMissingConfiguration);
    NAME(cudaErrorInvalidDeviceFunction);
    NAME(cudaErrorNoDevice);
    NAME(cudaErrorInvalidDevice);
    NAME(cudaErrorInvalidKernelImage);
    NAME(cudaErrorNoKernelImageForDevice);
    NAME(cudaErrorInvalidResourceHandle);
    NAME(cudaErrorSymbolNotFound);
    NAME(cudaErrorNotReady);
    NAME(cudaErrorIllegalAddress);
    NAME(cudaErrorLaunchOutOfResources);
    NAME(cudaErrorLaunchFailure);
    NAME(cudaErrorCooperativeLaunchTooLarge);
    NAME(cudaErrorNotPermitted);
    NAME(cudaErrorNotSupported);
    NAME(cudaErrorIllegalState);
    NAME(cudaErrorStreamCaptureUnsupported);
    NAME(cudaErrorStreamCaptureUnmatched);
    NAME(cudaErrorUnknown);
    default: return nullptr;
  }
}

inline const char* attributeName(cudaDeviceAttr attribute) {
  switch (attribute) {
    NAME(cudaDevAttrMaxBlockDimX);
    NAME(cudaDevAttrMaxBlockDimY);
    NAME(cudaDevAttrMaxBlockDimZ);
    NAME(cudaDevAttrMaxGridDimX);
    NAME(cudaDevAttrMaxGridDimY);
    NAME(cudaDevAttrMaxGridDimZ);
    NAME(cudaDevAttrTotalConstantMemory);
    NAME(cudaDevAttrClockRate);
    NAME(cudaDevAttrMemoryClockRate);
    NAME(cudaDevAttrGlobalMemoryBusWidth);
    NAME(cudaDevAttrL2CacheSize);
    NAME(cudaDevAttrMaxPersistingL2CacheSize);
    NAME(cudaDevAttrIntegrated);
    NAME(cudaDevAttrConcurrentKernels);
    NAME(cudaDevAttrAsyncEngineCount);
    NAME(cudaDevAttrManagedMemory);
    NAME(cudaDevAttrCooperativeLaunch);
    NAME(cudaDevAttrReservedSharedMemoryPerBlock);
    default: return nullptr;
  }
}

#undef NAME

inline std::string nameOf(cudaError_t error) {
  const char* name = errorName(error);
  return name ? name : "CUDA error " + std::to_string(int(error));
}

inline std::string nameOf(cudaDeviceAttr attribute) {
  const char* name = attributeName(attribute);
  return name ? name : "device attribute " + std::to_string(int(attribute));
}
