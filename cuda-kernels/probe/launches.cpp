// kl-launches: reports the launches of a rung on a machine without a GPU, or whether a reference can be used. This
// program replaces the CUDA runtime. The rung, built with `-cudart none`, calls the functions below, and its launches
// are recorded instead of executed. The rung chooses grid, block and dynamic shared memory for the case. The compiler
// determines registers and static shared memory, so this program does not report them.
//
//   kl-launches --struct BYTES --field OFFSET:WHAT … --sm 90 [--sms 132] [--shared-optin 232448]
//     [--threads-per-sm 2048] [--blocks-per-sm 32] [--shared-per-sm 233472] [--kernel NAME=OFFSET+SIZE,… …]
//     [--resources NAME=REGISTERS,SHARED …] --library rung.so | --untrusted rung.so
//   kl-launches --stage kl_reference|kl_inputs --reference reference.so
//   kl-launches --stage kl_reference|kl_inputs --expect reference.so --struct BYTES --field OFFSET:WHAT … --sm 90
//     [--sms 132] [--kernel …] --array in|out|scale|mask:NAME=FILE …
//
// --untrusted loads a library from an untrusted author. Before loading the library, this process blocks every system
// call that is not needed to describe launches (confine.hpp).
//
// The launch struct is described as for the runner; ../runner/README.md lists the forms of a field.
//
// Prints one JSON object to stdout: {"event":"launches","kernels":[{name, mangled, grid, block, dynamicSharedBytes,
// clusterBlocks}],"reason":null,"fault":null}. If there are no kernels, the reason explains why. The fault is "failed"
// if the rung would also fail on a GPU, "unsupported" if the rung itself rejects the case, and null otherwise. A query
// that only a GPU can answer returns an error to the rung, as CUDA would. --kernel specifies the parameter layout of a
// kernel. Each kernel of that name then has "arguments" in hexadecimal. "memory" lists the fills and copies between
// launches: {"before":number of earlier launches, "to", "from", "data" in hexadecimal or "value", "bytes"}. "symbols"
// lists the variables that the host accesses, and "allocations" lists the size of each allocation in bytes.
// "stackBytes" is the stack size set with cudaDeviceSetLimit, and "workspaceBytes" the workspace size the rung
// requested. "prepared" has the "kernels" and "memory" of kl_prepare, if there are any. --resources specifies the
// registers per thread and static shared memory of a kernel, so the rung can query its blocks per SM. Addresses are
// dummies, with one range per buffer; see `place`. For a reference, prints {"event":"reference","reason":null}, or the
// reason the reference cannot be used.
//
// With --expect, the reference computes a stage without a GPU: expected results, or inputs from other inputs. A
// reference that exports the host function of the stage (with or without the suffix _host) runs here on the arrays in
// the files. {"event":"expected","reason":null} follows. If only the _device function exists, the line "launches"
// describes its launches; array i of the command line, counted from 1, is dummy i.
#include "../runner/json.hpp"
#include "../runner/struct.hpp"
#include "confine.hpp"
#include "names.hpp"
#include "recording.hpp"
#include "registered.hpp"
#include "streams.hpp"

#include <algorithm>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

std::string unknown;       // why the launches are unknown: the first call that could not be answered
bool isUntrusted = false;  // whether the library is a submission, whose launches are executed elsewhere
long long stackBytes = -1;  // per thread, if cudaDeviceSetLimit was called
size_t workspaceWanted = 0;
std::string refusal;                              // why a GPU would refuse the call
cudaError_t refusedWith = cudaSuccess;
std::map<const void*, long long> dynamicAllowed;  // dynamic shared memory by host stub, from cudaFuncSetAttribute

cudaError_t refuse(cudaError_t error, const std::string& why) {
  refusal = why;
  return refusedWith = fail(error);
}

cudaError_t unable(const std::string& why) {
  if (unknown.empty()) unknown = why;
  return fail(cudaErrorNoDevice);
}
cudaError_t notKnown(const std::string& what) { return unable("it queries the device: " + what); }

cudaError_t known(int figure, const char* what, int* value) {
  if (figure < 0) return notKnown(what);
  *value = figure;
  return cudaSuccess;
}

void recordMemory(const std::string& what, const void* to, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  operationsOf(stream).push_back({false, "\"to\":" + Json::quote(std::to_string((unsigned long long)to)) + "," + what +
                                             ",\"bytes\":" + Json::text(bytes)});
}

cudaError_t recordFill(void* to, int value, size_t bytes, cudaStream_t stream = nullptr) {
  recordMemory("\"value\":" + Json::text(value & 255), to, bytes, stream);
  return cudaSuccess;
}

// Host data is copied into the output, because rungs copy only small tables from the host, not matrices.
constexpr size_t mostFromHost = 16 << 20;

cudaError_t recordCopy(void* to, const void* from, size_t bytes, cudaStream_t stream = nullptr) {
  if (!isDummy(to)) return notKnown("what is in the GPU's memory");
  if (!isDummy(from)) {
    if (bytes > mostFromHost) return unable("it copies more than 16 MiB from the host");
    const auto* data = static_cast<const unsigned char*>(from);
    recordMemory("\"data\":" + Json::quote(hexadecimal({data, data + bytes})), to, bytes, stream);
    return cudaSuccess;
  }
  recordMemory("\"from\":" + Json::quote(std::to_string((unsigned long long)from)), to, bytes, stream);
  return cudaSuccess;
}

// Returns a freed allocation of the same size if there is one. Work that used the freed memory runs before work that
// reuses it.
cudaError_t allocate(void** pointer, size_t bytes) {
  if (isUntrusted) return unable("it allocates memory, and a submission has its workspace alone: ask for it in kl_workspace_bytes");
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes >> rangeShift) return fail(cudaErrorMemoryAllocation);
  const auto spare = std::find_if(allocations.begin(), allocations.end(),
                                  [&](const Allocated& each) { return each.isFree && each.bytes == bytes; });
  const size_t index = size_t(spare - allocations.begin());
  if (index == mostAllocations) return unable("it has more than " + Json::text(mostAllocations) + " allocations");
  if (spare == allocations.end()) allocations.push_back({bytes, false});
  else spare->isFree = false;
  *pointer = reinterpret_cast<void*>(place(firstAllocation + index));
  return cudaSuccess;
}

cudaError_t release(void* pointer) {
  if (!pointer) return cudaSuccess;
  for (size_t i = 0; i < allocations.size(); ++i)
    if (reinterpret_cast<void*>(place(firstAllocation + i)) == pointer && !allocations[i].isFree) {
      allocations[i].isFree = true;
      return cudaSuccess;
    }
  return fail(cudaErrorInvalidValue);
}

// Launch limits, unchanged since compute capability 7.5.
constexpr unsigned mostThreads = 1024, mostBlockZ = 64, mostGridX = 2147483647, mostGridYZ = 65535;
constexpr long long mostShared = 48 * 1024;  // the limit without cudaFuncSetAttribute

std::string extentFault(dim3 grid, dim3 block) {
  const auto named = [](const char* what, dim3 e) {
    return std::string(what) + " of " + Json::text(e.x) + " x " + Json::text(e.y) + " x " + Json::text(e.z);
  };
  if (!grid.x || !grid.y || !grid.z || grid.x > mostGridX || grid.y > mostGridYZ || grid.z > mostGridYZ)
    return named("a grid", grid) + " blocks; 1 to 2147483647 x 65535 x 65535 are possible";
  // Checks each dimension first, because the product of all dimensions can overflow 32 bits.
  if (!block.x || !block.y || !block.z || block.x > mostThreads || block.y > mostThreads || block.z > mostBlockZ ||
      block.x * block.y * block.z > mostThreads)
    return named("a block", block) + " threads; 1 to 1024 are possible, 64 of them along z";
  return "";
}

// Returns how many bytes of dynamic shared memory a kernel launch may use.
long long dynamicLimit(const void* function, const std::string& name) {
  const auto allowed = dynamicAllowed.find(function);
  if (allowed != dynamicAllowed.end()) return allowed->second;
  const auto own = resources.find(name);
  return mostShared - (own == resources.end() ? 0 : own->second.shared);
}

cudaError_t record(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, unsigned cluster,
                   cudaStream_t stream) {
  const auto name = names.find(function);
  if (name == names.end()) return fail(cudaErrorInvalidDeviceFunction);
  if (const std::string why = extentFault(grid, block); !why.empty())
    return refuse(cudaErrorInvalidConfiguration, why);
  if (const long long most = dynamicLimit(function, name->second); (long long)shared > most)
    return refuse(cudaErrorInvalidValue,
                  Json::text(shared) + " bytes of dynamic shared memory, of which this kernel may have " +
                      Json::text(most) + " until cudaFuncSetAttribute raises " +
                      "cudaFuncAttributeMaxDynamicSharedMemorySize");
  operationsOf(stream).push_back({true, launchFields(name->second, grid, block, arguments, shared, cluster)});
  return cudaSuccess;
}

// A tensor map as this probe encodes it, because the driver's encoding is undocumented. The record stores the requested
// parameters in the same 128 bytes. The emulator gets the record as a launch argument (domain/emulator/bulk-copies.ts).
struct TensorMapRecord {
  char magic[4];
  uint8_t type, rank, interleave, swizzle;
  uint64_t address;
  uint32_t size[5];  // innermost dimension first, in elements
  uint16_t box[5];
  uint8_t step[5], fill;
  uint32_t promotion;  // L2 promotion; the emulator ignores it
  uint64_t stride[4];  // in bytes; the innermost dimension has no stride
};
static_assert(sizeof(TensorMapRecord) == 88 && sizeof(TensorMapRecord) <= sizeof(CUtensorMap));

CUresult encodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* size,
                     const cuuint64_t* stride, const cuuint32_t* box, const cuuint32_t* step,
                     CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                     CUtensorMapFloatOOBfill fill) {
  if (!map || rank < 1 || rank > 5) return CUDA_ERROR_INVALID_VALUE;
  TensorMapRecord record = {{'K', 'L', 'T', 'M'}, uint8_t(type), uint8_t(rank), uint8_t(interleave), uint8_t(swizzle)};
  record.address = reinterpret_cast<uint64_t>(address);
  record.fill = uint8_t(fill);
  record.promotion = uint32_t(promotion);
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (!size[i] || size[i] > 1ull << 32 || !box[i] || box[i] > 256 || !step[i] || step[i] > 8)
      return CUDA_ERROR_INVALID_VALUE;
    record.size[i] = uint32_t(size[i]);
    record.box[i] = uint16_t(box[i]);
    record.step[i] = uint8_t(step[i]);
    if (i > 0) record.stride[i - 1] = stride[i - 1];
  }
  *map = {};
  memcpy(map, &record, sizeof record);
  return CUDA_SUCCESS;
}

// Fills in an empty tensor map, for kinds that the emulator does not support.
CUresult encodeNothing(CUtensorMap* map) {
  if (map) *map = {};
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

// ---- Driver functions, for rungs that link the driver instead of requesting its entry points -------

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* size, const cuuint64_t* stride, const cuuint32_t* box,
                                const cuuint32_t* step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return encodeTiled(map, type, rank, address, size, stride, box, step, interleave, swizzle, promotion, fill);
}

// Since CUDA 13, <<<…>>> calls these two functions instead of cudaLaunchKernel.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  return record(kernel, grid, block, arguments, shared, 0, stream);
}

// ---- Called by a rung --------------------------------------------------------------------------

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return record(function, grid, block, arguments, shared, 0, stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t shared, cudaStream_t stream) {
  return record(function, grid, block, arguments, shared, 0, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return record(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, clusterOf(config),
                config->stream);
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last; }
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
const char* cudaGetErrorName(cudaError_t error) {
  const char* name = errorName(error);
  return name ? name : "an error of CUDA";
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  const auto name = names.find(function);
  if (name == names.end()) return fail(cudaErrorInvalidDeviceFunction);
  const auto own = resources.find(name->second);
  const long long fixed = own == resources.end() ? 0 : own->second.shared;
  if (value < 0 || (gpu.sharedOptin >= 0 && value + fixed > gpu.sharedOptin))
    return refuse(cudaErrorInvalidValue, "cudaFuncSetAttribute asks for " + Json::text(value) +
                                             " bytes of dynamic shared memory; " +
                                             Json::text(std::max(0LL, gpu.sharedOptin - fixed)) + " are possible");
  dynamicAllowed[function] = value;
  return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
// ---- Memory ------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return allocate(pointer, bytes); }
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) { return allocate(pointer, bytes); }
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height);
}
cudaError_t cudaMallocManaged(void**, size_t, unsigned) {
  return unable("it uses managed memory, which the host writes to without a call");
}
cudaError_t cudaFree(void* pointer) { return release(pointer); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return release(pointer); }
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  *pointer = calloc(std::max<size_t>(bytes, 1), 1);
  return *pointer ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) { return cudaMallocHost(pointer, bytes); }
cudaError_t cudaFreeHost(void* pointer) {
  free(pointer);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) { return recordFill(to, value, bytes); }
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return recordFill(to, value, bytes, stream);
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  for (size_t row = 0; row < height; ++row) recordFill(static_cast<char*>(to) + row * pitch, value, width, stream);
  return cudaSuccess;
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) { return recordCopy(to, from, bytes); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return recordCopy(to, from, bytes, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t stream) {
  for (size_t row = 0; row < height; ++row)
    recordCopy(static_cast<char*>(to) + row * toPitch, static_cast<const char*>(from) + row * fromPitch, width, stream);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, toPitch, from, fromPitch, width, height, kind, nullptr);
}
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t) { return notKnown("how long the GPU took"); }
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  const auto found = symbolOf.find(symbol);
  if (found == symbolOf.end()) return fail(cudaErrorInvalidSymbol);
  *pointer = reinterpret_cast<void*>(place(firstSymbol + found->second));
  return cudaSuccess;
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const auto found = symbolOf.find(symbol);
  if (found == symbolOf.end()) return fail(cudaErrorInvalidSymbol);
  *bytes = symbols[found->second].bytes;
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind,
                                    cudaStream_t stream) {
  size_t size;
  void* to;
  if (cudaGetSymbolSize(&size, symbol) != cudaSuccess) return last;
  if (offset > size || bytes > size - offset) return fail(cudaErrorInvalidValue);
  cudaGetSymbolAddress(&to, symbol);
  return recordCopy(static_cast<char*>(to) + offset, from, bytes, stream);
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
}
cudaError_t cudaMemcpyFromSymbol(void*, const void*, size_t, size_t, cudaMemcpyKind) {
  return notKnown("what is in the GPU's memory");
}
cudaError_t cudaMemcpyFromSymbolAsync(void*, const void*, size_t, size_t, cudaMemcpyKind, cudaStream_t) {
  return notKnown("what is in the GPU's memory");
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (limit == cudaLimitStackSize) stackBytes = static_cast<long long>(value);
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  const auto name = names.find(function);
  if (name == names.end()) return fail(cudaErrorInvalidDeviceFunction);
  const auto own = resources.find(name->second);
  if (own == resources.end()) return notKnown("what a kernel was compiled to");
  *attributes = {};
  attributes->numRegs = int(own->second.registers);
  attributes->sharedSizeBytes = size_t(own->second.shared);
  attributes->maxThreadsPerBlock = mostThreads;
  attributes->maxDynamicSharedSizeBytes = int(dynamicLimit(function, name->second));
  attributes->binaryVersion = attributes->ptxVersion = gpu.sm;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamicShared) {
  *blocks = blocksPerSm(function, threads, dynamicShared);
  return *blocks < 0 ? notKnown("how many blocks an SM holds") : cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t dynamicShared, unsigned) {
  *blocks = blocksPerSm(function, threads, dynamicShared);
  return *blocks < 0 ? notKnown("how many blocks an SM holds") : cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int) { return notKnown("the properties of the GPU"); }
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: return known(gpu.sms, "how many SMs the GPU has", value);
    case cudaDevAttrComputeCapabilityMajor: *value = gpu.sm / 10; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = gpu.sm % 10; return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return known(gpu.sharedOptin, "how much shared memory a block may have", value);
    case cudaDevAttrMaxThreadsPerMultiProcessor: return known(gpu.threadsPerSm, "how many threads an SM holds", value);
    case cudaDevAttrMaxBlocksPerMultiprocessor: return known(gpu.blocksPerSm, "how many blocks an SM holds", value);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return known(gpu.sharedPerSm, "how much shared memory an SM has", value);
    // The limits below are the same on every GPU since compute capability 7.5.
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 48 * 1024; return cudaSuccess;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = 64 * 1024; return cudaSuccess;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = 32; return cudaSuccess;
    default: return notKnown(nameOf(attribute));
  }
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *function = strcmp(symbol, "cuTensorMapEncodeTiled") == 0 ? reinterpret_cast<void*>(encodeTiled)
                                                            : reinterpret_cast<void*>(encodeNothing);
  if (std::string(symbol).rfind("cuTensorMapEncode", 0) != 0) return notKnown(std::string("the driver's ") + symbol);
  if (result) *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
// Entry point query for CUDA 11 and 12.
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, result);
}

}  // extern "C"

namespace {

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// Fills the struct with a dummy address per buffer. The workspace gets an address only if its size is known.
StructBytes structOf(size_t bytes, const std::vector<Field>& fields, size_t workspaceBytes) {
  StructBytes filled(bytes);
  size_t buffers = 0;
  filled.put(fields, [&](const Field& field) -> unsigned long long {
    if (field.kind == Field::kBuffer) return place(++buffers);
    if (field.kind == Field::kWorkspace) return workspaceBytes ? place(0) : 0;
    return workspaceBytes;
  });
  buffersPlaced = buffers;
  return filled;
}

// Returns the reason that there are no kernels, or an empty string.
struct Outcome {
  std::string reason;
  const char* fault = nullptr;
};

Outcome failed(const std::string& reason) { return {reason, "failed"}; }

// Returns the outcome of a call. As in the runner, an error may be returned or stored as the last error.
Outcome ended(const std::string& what, cudaError_t status) {
  if (!unknown.empty()) return {unknown};
  if (status == cudaSuccess) status = last;
  if (status == cudaSuccess) return {};
  if (names.empty() && (status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice))
    return {"it has a CUDA runtime of its own, which needs a GPU: run it there (--target local), or link it with -cudart shared"};
  return failed(what + " failed with " + nameOf(status) + (status == refusedWith ? ": " + refusal : ""));
}

Outcome launch(const std::string& path, size_t bytes, const std::vector<Field>& fields) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return failed(std::string("it cannot be loaded: ") + dlerror());
  const auto launchRung = find<cudaError_t (*)(const void*, cudaStream_t)>(library, "kl_launch");
  if (!launchRung) return failed("it does not define kl_launch as extern \"C\"");
  StructBytes filled = structOf(bytes, fields, 0);
  const auto unsupported = find<const char* (*)(const void*, int)>(library, "kl_unsupported");
  const char* reason = unsupported ? unsupported(filled.data(), gpu.sm) : nullptr;
  if (!unknown.empty()) return {unknown};
  if (reason) return {reason, "unsupported"};
  if (const auto workspace = find<size_t (*)(const void*)>(library, "kl_workspace_bytes"))
    filled = structOf(bytes, fields, workspaceWanted = workspace(filled.data()));
  if (const auto prepare = find<cudaError_t (*)(const void*)>(library, "kl_prepare")) {
    if (isUntrusted) return failed("it defines kl_prepare, and nothing of a submission runs before its launches");
    recording = &prepared;
    const Outcome outcome = ended("kl_prepare", prepare(filled.data()));
    recording = &launched;
    if (!outcome.reason.empty()) return outcome;
  }
  // Uses a new stream, because the default stream cannot be captured.
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const Outcome outcome = ended("its launch", launchRung(filled.data(), stream));
  if (!outcome.reason.empty()) return outcome;
  if (!capturing.empty()) return failed("its launch ends while a stream is captured");
  if (const auto releaseRung = find<void (*)(const void*)>(library, "kl_release")) {
    recording = &released;
    releaseRung(filled.data());
    if (const Outcome after = ended("kl_release", cudaSuccess); !after.reason.empty()) return after;
  }
  const bool launches = std::any_of(launched.begin(), launched.end(), [](const Operation& each) { return each.isLaunch; });
  return {launches ? "" : "it launches no kernel of its own"};
}

void printLaunches(const Outcome& outcome) {
  const bool isKnown = outcome.reason.empty();
  Json line("launches");
  line.raw("kernels", isKnown ? launchesIn(launched) : "[]");
  if (isKnown) line.null("reason");
  else line.string("reason", outcome.reason);
  if (outcome.fault) line.string("fault", outcome.fault);
  else line.null("fault");
  if (!layouts.empty()) {
    line.raw("memory", isKnown ? memoryIn(launched) : "[]");
    if (isKnown && !prepared.empty())
      line.raw("prepared", "{\"kernels\":" + launchesIn(prepared) + ",\"memory\":" + memoryIn(prepared) + "}");
    line.raw("workspaceBytes", Json::text(workspaceWanted));
    std::string names, sizes;
    for (const Symbol& symbol : symbols) names += (names.empty() ? "" : ",") + Json::quote(symbol.name);
    for (const Allocated& each : allocations) sizes += (sizes.empty() ? "" : ",") + Json::text(each.bytes);
    line.raw("symbols", "[" + names + "]");
    line.raw("allocations", "[" + sizes + "]");
    if (stackBytes >= 0) line.raw("stackBytes", Json::text(stackBytes));
  }
  line.print();
}

// Returns the reason that a reference cannot be used, or an empty string. Looks up the functions as the runner does. If
// the library was generated for a script, returns the script's fault.
std::string referenceFault(const std::string& path, const std::string& stage) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::string("cannot be loaded: ") + dlerror();
  const std::string device = stage + "_device";
  const bool onHost = dlsym(library, stage.c_str()), onDevice = dlsym(library, device.c_str());
  if (!onHost && !onDevice) return "defines neither " + stage + " nor " + device + " as extern \"C\"";
  if (onHost && onDevice) return "defines both " + stage + " and " + device;
  const auto scriptFault = find<const char* (*)()>(library, "kl_reference_fault");
  return scriptFault ? scriptFault() : "";
}

// A reference array that is stored in a file. `what` is the array's name, such as in:a or scale:c.
struct Array {
  std::string what, path;
};

void* mapped(const Array& array) {
  const int file = open(array.path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0 || facts.st_size == 0) badArgument("--array: cannot read " + array.path);
  void* const data = mmap(nullptr, size_t(facts.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (data == MAP_FAILED) badArgument("--array: cannot map " + array.path);
  return data;
}

void noProgress(double) {}

// Fills a reference's struct. `addressOf` returns the address of an array by its number, counted from 0.
template <typename AddressOf>
StructBytes referenceStruct(size_t bytes, const std::vector<Field>& fields, const std::vector<Array>& arrays,
                            AddressOf addressOf) {
  StructBytes filled(bytes);
  filled.put(fields, [&](const Field& field) -> unsigned long long {
    if (field.kind == Field::kProgress) return reinterpret_cast<unsigned long long>(&noProgress);
    if (field.kind == Field::kSmCount) return gpu.sms > 0 ? (unsigned long long)gpu.sms : 1;
    const char* kind = field.kind == Field::kIn    ? "in:"
                       : field.kind == Field::kOut ? "out:"
                       : field.kind == Field::kMask ? "mask:"
                                                    : "scale:";
    for (size_t i = 0; i < arrays.size(); ++i)
      if (arrays[i].what == kind + field.buffer) return addressOf(i);
    return 0;
  });
  return filled;
}

void printLaunches(const Outcome& outcome);

void expect(const std::string& path, const std::string& stage, size_t bytes, const std::vector<Field>& fields,
            const std::vector<Array>& arrays) {
  void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return printLaunches(failed(std::string("it cannot be loaded: ") + dlerror()));
  auto onHost = find<void (*)(const void*)>(library, stage.c_str());
  if (!onHost) onHost = find<void (*)(const void*)>(library, (stage + "_host").c_str());
  if (onHost) {
    const StructBytes filled = referenceStruct(
        bytes, fields, arrays, [&](size_t i) { return reinterpret_cast<unsigned long long>(mapped(arrays[i])); });
    onHost(filled.data());
    Json("expected").null("reason").print();
    return;
  }
  const auto onDevice = find<cudaError_t (*)(const void*, cudaStream_t)>(library, (stage + "_device").c_str());
  if (!onDevice) return printLaunches(failed("it defines neither " + stage + " nor " + stage + "_device"));
  buffersPlaced = arrays.size();
  const StructBytes filled = referenceStruct(bytes, fields, arrays, [&](size_t i) { return place(i + 1); });
  const cudaError_t status = onDevice(filled.data(), nullptr);
  printLaunches(!unknown.empty()         ? Outcome{unknown}
                : status != cudaSuccess ? failed("its launch failed with " + nameOf(status))
                                        : Outcome{launched.empty() ? "it launches no kernel" : ""});
}

void printReference(const std::string& reason) {
  Json line("reference");
  if (reason.empty()) line.null("reason");
  else line.string("reason", reason);
  line.print();
}

}  // namespace

int main(int count, char** words) {
  Json::claimStdout();
  size_t bytes = 0;
  std::vector<Field> fields;
  std::vector<std::string> fieldWords;
  std::string library, reference, expected, stage = "kl_reference";
  std::vector<Array> arrays;
  try {
    for (int i = 1; i < count; i += 2) {
      const std::string option = words[i];
      if (i + 1 == count) badArgument(option + " needs a value");
      const std::string value = words[i + 1];
      if (option == "--struct") bytes = size_t(parseInteger(option, value, 1, kMostStructBytes));
      else if (option == "--field") fieldWords.push_back(value);
      else if (readGpuOption(option, value)) continue;
      else if (option == "--library" || option == "--untrusted") {
        library = value;
        isUntrusted = option == "--untrusted";
      }
      else if (option == "--reference") reference = value;
      else if (option == "--expect") expected = value;
      else if (option == "--stage") stage = value;
      else if (option == "--array") {
        const auto [what, path] = parsePair(option, value, '=', "in|out|scale|mask:NAME=FILE");
        arrays.push_back({what, path});
      }
      else badArgument("unknown option: " + option);
    }
    const StructOf whose = expected.empty() ? StructOf::kRung : StructOf::kReference;
    for (const std::string& word : fieldWords) fields.push_back(parseField("--field", word, whose));
    if (reference.empty()) {
      if (!bytes || !gpu.sm || library.empty() == expected.empty())
        badArgument("--struct, --sm and one of --library and --expect are required");
      requireLayout("--field", bytes, fields);
    }
    if (isUntrusted && !confine()) badArgument("--untrusted: this system has no seccomp filters");
    if (!expected.empty()) expect(expected, stage, bytes, fields, arrays);
    else if (reference.empty()) printLaunches(launch(library, bytes, fields));
    else printReference(referenceFault(reference, stage));
  } catch (const RunnerError& error) {
    error.print();
    return error.exitCode;
  }
  _exit(0);  // skips the rung's destructors, which would call a missing CUDA runtime
}
