// Registration calls from nvcc's generated code, for programs that replace the CUDA runtime: the kernels and variables
// of a library, and the configuration of <<<…>>>. Also parses the options for the GPU and its kernels, which
// kl-launches and kl-program share.
#pragma once

#include "../runner/json.hpp"
#include "../runner/struct.hpp"

#include <algorithm>
#include <cuda_runtime_api.h>
#include <cstring>
#include <cxxabi.h>
#include <map>
#include <string>
#include <vector>

namespace {

struct Gpu {
  int sm = 0;    // 90 for compute capability 9.0
  int sms = -1;  // -1: unknown
  int sharedOptin = -1;
  int threadsPerSm = -1;
  int blocksPerSm = -1;
  int sharedPerSm = -1;
} gpu;

struct Pending {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};

std::vector<Pending> pending;              // <<<…>>> configurations that the kernel's stub has not yet popped
std::map<const void*, std::string> names;  // mangled kernel names, by host stub

struct Parameter {
  size_t offset, size;
};
std::map<std::string, std::vector<Parameter>> layouts;  // by mangled name

struct Symbol {
  std::string name;  // mangled name
  size_t bytes;
};
std::vector<Symbol> symbols;  // __device__ and __constant__ variables, in registration order
std::map<const void*, size_t> symbolOf;  // index in `symbols`, by the variable's address on the host
constexpr size_t mostSymbols = 128;

struct Resources {
  long long registers, shared;  // registers per thread; static shared memory per block
};
std::map<std::string, Resources> resources;  // by mangled name

cudaError_t last = cudaSuccess;
cudaError_t fail(cudaError_t error) { return last = error; }

std::string demangled(const std::string& name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 && plain ? plain : name;
  free(plain);
  return result;
}

// Returns how many blocks of a kernel fit on an SM, by the rules of cuda_occupancy.h for compute capability 7.5 and
// later. Returns -1 if a required fact about the kernel or the GPU is unknown.
int blocksPerSm(const void* function, int threads, size_t dynamicShared) {
  const auto name = names.find(function);
  const auto own = name == names.end() ? resources.end() : resources.find(name->second);
  if (own == resources.end() || gpu.threadsPerSm < 0 || gpu.blocksPerSm < 0 || gpu.sharedPerSm < 0 || threads < 1)
    return -1;
  const auto roundUp = [](long long value, long long step) { return (value + step - 1) / step * step; };
  const long long warps = (threads + 31) / 32, registersPerWarp = roundUp(32 * own->second.registers, 256);
  long long most = std::min<long long>(gpu.blocksPerSm, gpu.threadsPerSm / (32 * warps));
  // Each of an SM's four schedulers has a quarter of the SM's registers.
  if (registersPerWarp) most = std::min(most, 65536 / 4 / registersPerWarp * 4 / warps);
  const long long shared = own->second.shared + (long long)dynamicShared;
  const long long allocated = gpu.sm < 80 ? roundUp(shared, 256) : roundUp(shared + 1024, 128);
  if (allocated) most = std::min(most, gpu.sharedPerSm / allocated);
  return int(most);
}

std::string extent(dim3 e) { return "[" + Json::text(e.x) + "," + Json::text(e.y) + "," + Json::text(e.z) + "]"; }

std::string hexadecimal(const std::vector<unsigned char>& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// Returns ,"arguments":"…" in the kernel's parameter layout, or an empty string if the layout is unknown.
std::string argumentsOf(const std::string& name, void** arguments) {
  const auto layout = layouts.find(name);
  if (layout == layouts.end()) return "";
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i < layout->second.size(); ++i) {
    const Parameter& parameter = layout->second[i];
    if (bytes.size() < parameter.offset + parameter.size) bytes.resize(parameter.offset + parameter.size);
    memcpy(bytes.data() + parameter.offset, arguments[i], parameter.size);
  }
  return ",\"arguments\":" + Json::quote(hexadecimal(bytes));
}

// Returns the fields of a launch as JSON without braces.
std::string launchFields(const std::string& name, dim3 grid, dim3 block, void** arguments, size_t shared,
                         unsigned cluster) {
  return "\"name\":" + Json::quote(demangled(name)) + ",\"mangled\":" + Json::quote(name) +
         ",\"grid\":" + extent(grid) + ",\"block\":" + extent(block) +
         ",\"dynamicSharedBytes\":" + Json::text(shared) + ",\"clusterBlocks\":" + Json::text(cluster) +
         argumentsOf(name, arguments);
}

// Returns the number of blocks per cluster from the launch attributes, or 0 without clusters.
unsigned clusterOf(const cudaLaunchConfig_t* config) {
  unsigned cluster = 0;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& dim = config->attrs[i].val.clusterDim;
      cluster = dim.x * dim.y * dim.z;
    }
  return cluster;
}

// Parses NAME=OFFSET+SIZE,…. For a kernel without parameters, the list after the equals sign is empty.
void readLayout(const std::string& option, const std::string& text) {
  const size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0) badArgument(option + ": NAME=OFFSET+SIZE,… is needed, not '" + text + "'");
  std::vector<Parameter>& layout = layouts[text.substr(0, sign)];
  const std::string list = text.substr(sign + 1);
  if (list.empty()) return;
  for (const std::string& part : split(list, ',')) {
    const std::vector<std::string> numbers = split(part, '+');
    if (numbers.size() != 2) badArgument(option + ": OFFSET+SIZE is needed, not '" + part + "'");
    layout.push_back({size_t(parseInteger(option, numbers[0], 0, kMostStructBytes)),
                      size_t(parseInteger(option, numbers[1], 0, kMostStructBytes))});
  }
}

// Returns whether the option describes the GPU or its kernels, and stores its value.
bool readGpuOption(const std::string& option, const std::string& value) {
  if (option == "--sm") gpu.sm = int(parseInteger(option, value, 10, 1000));
  else if (option == "--sms") gpu.sms = int(parseInteger(option, value, 1, INT_MAX));
  else if (option == "--shared-optin") gpu.sharedOptin = int(parseInteger(option, value, 0, INT_MAX));
  else if (option == "--threads-per-sm") gpu.threadsPerSm = int(parseInteger(option, value, 0, INT_MAX));
  else if (option == "--blocks-per-sm") gpu.blocksPerSm = int(parseInteger(option, value, 0, INT_MAX));
  else if (option == "--shared-per-sm") gpu.sharedPerSm = int(parseInteger(option, value, 0, INT_MAX));
  else if (option == "--kernel") readLayout(option, value);
  else if (option == "--resources") {
    const auto [name, numbers] = parsePair(option, value, '=', "NAME=REGISTERS,SHARED");
    const std::vector<std::string> parts = split(numbers, ',');
    if (parts.size() != 2) badArgument(option + ": NAME=REGISTERS,SHARED is needed, not '" + value + "'");
    resources[name] = {parseInteger(option, parts[0], 0, 65536), parseInteger(option, parts[1], 0, INT_MAX)};
  } else return false;
  return true;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* binary) { return new void*(binary); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterVar(void**, char* variable, char*, const char* name, int, size_t bytes, int, int) {
  if (symbols.size() == mostSymbols) return;
  symbolOf[variable] = symbols.size();
  symbols.push_back({name, bytes});
}
void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  names[stub] = name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  pending.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (pending.empty()) return fail(cudaErrorMissingConfiguration);
  const Pending top = pending.back();
  pending.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

}  // extern "C"
