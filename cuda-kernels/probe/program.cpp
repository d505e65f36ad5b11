// kl-program: runs the main() of a program on a machine without a GPU and reports the kernels that it launches.
// kl-program replaces the CUDA runtime: the program, built with `-shared -cudart none`, calls the functions below.
// Device memory is host memory, so copies and managed memory work. A launch is recorded and computes nothing.
//
//   kl-program [--library program.so] --sm 90 [--sms 132] … [--kernel NAME=OFFSET+SIZE,… …] [--resources …]
//     [--folder DIR] [--seconds 20] [--argument WORD …]
//
// The options for the GPU and its kernels are the same as for kl-launches. Before loading the library, this process
// gives up every system call except those for computing, printing and reading files (confine.hpp).
//
// Prints JSON lines to stdout, so lines written before a crash or the time limit are kept. First comes
// {"event":"kernel", mangled, name} for each --kernel; without --library, nothing else follows. Then comes one line per
// launch that differs from the earlier launches: {"event":"launch", name, mangled, grid, block, dynamicSharedBytes,
// clusterBlocks, arguments, "pointers":[{parameter, allocation, offset, bytes, "filled":whether the host wrote to it,
// "sample":[hexadecimal]}], "symbols":[{name, data}]}. The last line is {"event":"ended",
// "how":"returned"|"exit", "launches":N}. The program's own output goes to stderr.
#include "confine.hpp"
#include "device.hpp"
#include "names.hpp"
#include "registered.hpp"

#include <cuda_profiler_api.h>
#include <dlfcn.h>
#include <set>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

struct Allocation {
  char* start;
  size_t bytes;
  int number;
  bool filled;
};
std::map<const char*, Allocation> allocations;  // by start address
std::map<size_t, char*> variables;              // storage of registered variables, by number
std::map<size_t, size_t> variableBytesSet;      // the number of bytes that the host has set, by variable number
std::set<std::string> seen;                     // launches already printed
long long launches = 0;
constexpr size_t mostPrinted = 400;

char* reserve(size_t bytes) {
  void* const start =
      mmap(nullptr, std::max<size_t>(bytes, 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? nullptr : static_cast<char*>(start);
}

template <typename Pointer>
cudaError_t allocate(Pointer** pointer, size_t bytes, bool filled = false) {
  if (!pointer) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  char* const start = reserve(bytes);
  if (!start) return fail(cudaErrorMemoryAllocation);
  allocations[start] = {start, bytes, int(allocations.size()), filled};
  *pointer = reinterpret_cast<Pointer*>(start);
  return cudaSuccess;
}

Allocation* allocationOf(const void* pointer) {
  const char* const at = static_cast<const char*>(pointer);
  auto found = allocations.upper_bound(at);
  if (found == allocations.begin()) return nullptr;
  --found;
  return at < found->second.start + found->second.bytes ? &found->second : nullptr;
}

// Keeps freed memory mapped: an earlier launch may refer to it, and the process is short-lived.
cudaError_t release(void*) { return cudaSuccess; }

cudaError_t copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!to || !from) return fail(cudaErrorInvalidValue);
  if (Allocation* const target = allocationOf(to)) {
    if (static_cast<char*>(to) + bytes > target->start + target->bytes) return fail(cudaErrorInvalidValue);
    const Allocation* const source = allocationOf(from);
    target->filled = target->filled || !source || source->filled;
  }
  memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t copyRows(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row)
    if (copy(static_cast<char*>(to) + row * toPitch, static_cast<const char*>(from) + row * fromPitch, width) !=
        cudaSuccess)
      return last;
  return cudaSuccess;
}

cudaError_t fill(void* to, int value, size_t bytes) {
  Allocation* const target = allocationOf(to);
  if (target && static_cast<char*>(to) + bytes > target->start + target->bytes) return fail(cudaErrorInvalidValue);
  if (target) target->filled = true;
  // Fresh pages are already zero, and writing to them would only use memory.
  if (value != 0 || !target) memset(to, value, bytes);
  else
    for (size_t at = 0; at < bytes; ++at)
      if (static_cast<char*>(to)[at]) static_cast<char*>(to)[at] = 0;
  return cudaSuccess;
}

// Returns up to 64 pieces of a buffer, evenly spaced, in hexadecimal.
std::string sampleOf(const char* start, size_t bytes) {
  constexpr size_t pieces = 64, piece = 64;
  std::string list;
  const size_t count = bytes <= pieces * piece ? (bytes + piece - 1) / piece : pieces;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = count == pieces ? (bytes - piece) / (pieces - 1) * i / 16 * 16 : i * piece;
    const auto* data = reinterpret_cast<const unsigned char*>(start + at);
    list += std::string(i ? "," : "") + "{\"at\":" + Json::text(at) +
            ",\"data\":" + Json::quote(hexadecimal({data, data + std::min(piece, bytes - at)})) + "}";
  }
  return list;
}

std::string pointersOf(const std::string& name, void** arguments) {
  std::string list;
  const auto layout = layouts.find(name);
  if (layout == layouts.end()) return list;
  for (size_t i = 0; i < layout->second.size(); ++i) {
    if (layout->second[i].size != sizeof(void*)) continue;
    const char* pointer;
    memcpy(&pointer, arguments[i], sizeof pointer);
    const Allocation* const own = allocationOf(pointer);
    if (!own) continue;
    const size_t offset = size_t(pointer - own->start), bytes = own->bytes - offset;
    list += std::string(list.empty() ? "" : ",") + "{\"parameter\":" + Json::text(i) + ",\"allocation\":" +
            Json::text(own->number) + ",\"offset\":" + Json::text(offset) + ",\"bytes\":" + Json::text(bytes) +
            ",\"filled\":" + (own->filled ? "true" : "false") + ",\"sample\":[" +
            (own->filled ? sampleOf(pointer, bytes) : "") + "]}";
  }
  return list;
}

std::string symbolsSet() {
  constexpr size_t mostBytes = 4096;
  std::string list;
  for (const auto& [number, bytes] : variableBytesSet) {
    const auto* data = reinterpret_cast<const unsigned char*>(variables[number]);
    list += std::string(list.empty() ? "" : ",") + "{\"name\":" + Json::quote(demangled(symbols[number].name)) + ",\"data\":" +
            (bytes <= mostBytes ? Json::quote(hexadecimal({data, data + symbols[number].bytes})) : "null") + "}";
  }
  return list;
}

cudaError_t record(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, unsigned cluster,
                   bool cooperative = false) {
  const auto name = names.find(function);
  if (name == names.end()) return fail(cudaErrorInvalidDeviceFunction);
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z || block.x * block.y * block.z > 1024)
    return fail(cudaErrorInvalidConfiguration);
  ++launches;
  const std::string fields = launchFields(name->second, grid, block, arguments, shared, cluster);
  if (seen.size() == mostPrinted || !seen.insert(fields).second) return cudaSuccess;
  Json line("launch");
  line.boolean("cooperative", cooperative);
  line.raw("symbols", "[" + symbolsSet() + "]");
  line.raw("pointers", "[" + pointersOf(name->second, arguments) + "]," + fields);
  line.print();
  return cudaSuccess;
}

void ended(const char* how) {
  Json line("ended");
  line.string("how", how);
  line.number("launches", launches);
  line.print();
}
bool isReturned = false;

template <typename Handle>
cudaError_t handle(Handle* made) {
  *made = reinterpret_cast<Handle>(new char);
  return cudaSuccess;
}

char* storageOf(size_t number) {
  char*& storage = variables[number];
  if (!storage) storage = reserve(symbols[number].bytes);
  return storage;
}

}  // namespace

extern "C" {

// ---- Launches ----------------------------------------------------------------------------------

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t) {
  return record(kernel, grid, block, arguments, shared, 0);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t) {
  return record(function, grid, block, arguments, shared, 0);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t) {
  return record(function, grid, block, arguments, shared, 0, true);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return record(function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, clusterOf(config));
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return cudaSuccess;
}

// ---- Errors ------------------------------------------------------------------------------------

cudaError_t cudaGetLastError() {
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last; }
const char* cudaGetErrorName(cudaError_t error) {
  const char* name = errorName(error);
  return name ? name : "an error of CUDA";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : cudaGetErrorName(error);
}

// ---- Memory ------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return allocate(pointer, bytes); }
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t) { return allocate(pointer, bytes); }
// The host writes to these allocations directly, without a CUDA API call.
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned) { return allocate(pointer, bytes, true); }
cudaError_t cudaMallocHost(void** pointer, size_t bytes) { return allocate(pointer, bytes, true); }
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) { return allocate(pointer, bytes, true); }
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height);
}
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  if (!allocationOf(pointer))
    allocations[static_cast<char*>(pointer)] = {static_cast<char*>(pointer), bytes, int(allocations.size()), true};
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) { return release(pointer); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return release(pointer); }
cudaError_t cudaFreeHost(void* pointer) { return release(pointer); }
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) { return copy(to, from, bytes); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                         cudaMemcpyKind) {
  return copyRows(to, toPitch, from, fromPitch, width, height);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t) {
  return copyRows(to, toPitch, from, fromPitch, width, height);
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) { return fill(to, value, bytes); }
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) { return fill(to, value, bytes); }
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) fill(static_cast<char*>(to) + row * pitch, value, width);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  *available = *total = memoryBytes;
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
#else
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
#endif
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  const auto found = symbolOf.find(symbol);
  if (found == symbolOf.end()) return fail(cudaErrorInvalidSymbol);
  *pointer = storageOf(found->second);
  return cudaSuccess;
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const auto found = symbolOf.find(symbol);
  if (found == symbolOf.end()) return fail(cudaErrorInvalidSymbol);
  *bytes = symbols[found->second].bytes;
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind) {
  const auto found = symbolOf.find(symbol);
  if (found == symbolOf.end()) return fail(cudaErrorInvalidSymbol);
  if (offset > symbols[found->second].bytes || bytes > symbols[found->second].bytes - offset)
    return fail(cudaErrorInvalidValue);
  size_t& set = variableBytesSet[found->second];
  set = std::max(set, offset + bytes);
  memcpy(storageOf(found->second) + offset, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind) {
  const auto found = symbolOf.find(symbol);
  if (found == symbolOf.end()) return fail(cudaErrorInvalidSymbol);
  if (offset > symbols[found->second].bytes || bytes > symbols[found->second].bytes - offset)
    return fail(cudaErrorInvalidValue);
  memcpy(to, storageOf(found->second) + offset, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

// ---- Streams and events: everything completes immediately ---------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return handle(stream); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return handle(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return handle(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned) {
  function(stream, cudaSuccess, data);
  return cudaSuccess;
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return handle(event); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return handle(event); }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
// Returns 1 ms, because nothing is timed here and a program may divide by the result.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1;
  return cudaSuccess;
}

// ---- cuBLAS handles, which a program may create before it launches its own kernels; calls on them do nothing ----

int cublasCreate_v2(void** made) {
  *made = new char;
  return 0;
}
int cublasLtCreate(void** made) { return cublasCreate_v2(made); }
int cublasDestroy_v2(void*) { return 0; }
int cublasLtDestroy(void*) { return 0; }
int cublasSetMathMode(void*, int) { return 0; }
int cublasSetStream_v2(void*, cudaStream_t) { return 0; }

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"

namespace {

// Limits CPU time and address space, so a runaway program fails before the machine runs out of memory.
void limitSelf(long long seconds) {
  const rlimit processor = {rlim_t(seconds), rlim_t(seconds)};
  const rlimit space = {256ull << 30, 256ull << 30};
  const rlimit core = {0, 0};
  setrlimit(RLIMIT_CPU, &processor);
  setrlimit(RLIMIT_AS, &space);
  setrlimit(RLIMIT_CORE, &core);
}

}  // namespace

int main(int count, char** words) {
  Json::claimStdout();
  std::string library, folder;
  long long seconds = 20;
  std::vector<std::string> arguments;
  try {
    for (int i = 1; i < count; i += 2) {
      const std::string option = words[i];
      if (i + 1 == count) badArgument(option + " needs a value");
      const std::string value = words[i + 1];
      if (readGpuOption(option, value)) continue;
      if (option == "--library") library = value;
      else if (option == "--folder") folder = value;
      else if (option == "--seconds") seconds = parseInteger(option, value, 1, 3600);
      else if (option == "--argument") arguments.push_back(value);
      else badArgument("unknown option: " + option);
    }
    if (!gpu.sm) badArgument("--sm is required");
    for (const auto& [name, layout] : layouts) {
      Json line("kernel");
      line.string("mangled", name);
      line.string("name", demangled(name));
      line.print();
    }
    if (library.empty()) return 0;
    if (!folder.empty() && chdir(folder.c_str()) != 0) badArgument("--folder: cannot enter " + folder);
    limitSelf(seconds);
    if (!confine()) badArgument("this system has no seccomp filters");
    void* const loaded = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!loaded) badArgument(std::string("the program cannot be loaded: ") + dlerror());
    const auto run = reinterpret_cast<int (*)(int, char**, char**)>(dlsym(loaded, "main"));
    if (!run) badArgument("the program has no main()");
    std::string name = "program";
    std::vector<char*> argv = {name.data()};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    const int argc = int(argv.size());
    argv.push_back(nullptr);
    // The program itself may call exit().
    atexit([] {
      if (!isReturned) ended("exit");
      _exit(0);
    });
    run(argc, argv.data(), environ);
    isReturned = true;
    ended("returned");
  } catch (const RunnerError& error) {
    error.print();
    return error.exitCode;
  }
  _exit(0);  // skips the program's destructors, which would call a missing CUDA runtime
}
