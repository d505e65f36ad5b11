// A stand-in GPU for programs on a machine without one. The GPU's properties come from the options, and the device
// functions of the CUDA runtime return them. Clocks, bus width and memory size match an H100, because programs only
// print them or divide by them.
#pragma once

#include "registered.hpp"

#include <cuda_runtime_api.h>
#include <cstring>

namespace {

int attributeOf(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: return gpu.sms;
    case cudaDevAttrComputeCapabilityMajor: return gpu.sm / 10;
    case cudaDevAttrComputeCapabilityMinor: return gpu.sm % 10;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return gpu.sharedOptin;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return gpu.threadsPerSm;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return gpu.blocksPerSm;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return gpu.sharedPerSm;
    case cudaDevAttrMaxSharedMemoryPerBlock: return 48 * 1024;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return 64 * 1024;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return 1024;
    case cudaDevAttrMaxBlockDimZ: return 64;
    case cudaDevAttrMaxGridDimX: return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return 65535;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrTotalConstantMemory: return 64 * 1024;
    case cudaDevAttrL2CacheSize: return 50 << 20;
    case cudaDevAttrClockRate: return 1980000;
    case cudaDevAttrMemoryClockRate: return 2619000;
    case cudaDevAttrGlobalMemoryBusWidth: return 5120;
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrCooperativeLaunch: return 1;
    default: return 0;
  }
}

constexpr size_t memoryBytes = 80ull << 30;

}  // namespace

extern "C" {

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice); }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit) {
  *value = 8 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attributeOf(attribute);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  strcpy(properties->name, "Kernel Ladder's stand-in for a GPU");
  const auto of = [](cudaDeviceAttr attribute) { return attributeOf(attribute); };
  properties->totalGlobalMem = memoryBytes;
  properties->major = gpu.sm / 10;
  properties->minor = gpu.sm % 10;
  properties->multiProcessorCount = gpu.sms;
  properties->sharedMemPerBlock = of(cudaDevAttrMaxSharedMemoryPerBlock);
  properties->sharedMemPerBlockOptin = gpu.sharedOptin;
  properties->sharedMemPerMultiprocessor = gpu.sharedPerSm;
  properties->regsPerBlock = properties->regsPerMultiprocessor = of(cudaDevAttrMaxRegistersPerBlock);
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = gpu.threadsPerSm;
  properties->maxBlocksPerMultiProcessor = gpu.blocksPerSm;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = of(cudaDevAttrMaxGridDimX);
  properties->maxGridSize[1] = properties->maxGridSize[2] = of(cudaDevAttrMaxGridDimY);
  properties->totalConstMem = of(cudaDevAttrTotalConstantMemory);
  properties->l2CacheSize = of(cudaDevAttrL2CacheSize);
  properties->memoryBusWidth = of(cudaDevAttrGlobalMemoryBusWidth);
  properties->asyncEngineCount = of(cudaDevAttrAsyncEngineCount);
  properties->concurrentKernels = properties->canMapHostMemory = properties->managedMemory = 1;
  properties->unifiedAddressing = properties->cooperativeLaunch = properties->concurrentManagedAccess = 1;
#if CUDART_VERSION < 13000
  properties->clockRate = of(cudaDevAttrClockRate);
  properties->memoryClockRate = of(cudaDevAttrMemoryClockRate);
#endif
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  const auto name = names.find(function);
  if (name == names.end()) return fail(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  if (const auto own = resources.find(name->second); own != resources.end()) {
    attributes->numRegs = int(own->second.registers);
    attributes->sharedSizeBytes = size_t(own->second.shared);
  }
  attributes->maxDynamicSharedSizeBytes = 48 * 1024 - int(attributes->sharedSizeBytes);
  attributes->binaryVersion = attributes->ptxVersion = gpu.sm;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamicShared) {
  *blocks = blocksPerSm(function, threads, dynamicShared);
  return *blocks < 0 ? fail(cudaErrorInvalidDeviceFunction) : cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t dynamicShared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamicShared);
}

}  // extern "C"
