// A library that CUDA loads into a program (CUDA_INJECTION64_PATH). The library times the program's launches through
// CUPTI activity records. Kernels keep the program's launch order and can run concurrently, which ncu does not allow.
//
// Appends one line per launch to the file in KERNEL_LADDER_ACTIVITY: device, grid, block, start and duration in
// nanoseconds, and kernel name, separated by tabs. Other lines are "no-cupti", "more" and "lost". "more" means that the
// process has written KERNEL_LADDER_LAUNCHES launches and writes no more. "lost" means that CUPTI lost records.
#include "cupti.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

int file = -1;

// Writes all lines in a single call, so processes that share the file do not mix their lines.
bool write(const std::string& lines) {
  return lines.empty() || ::write(file, lines.data(), lines.size()) == ssize_t(lines.size());
}

#ifdef KL_CUPTI
constexpr size_t kBufferBytes = 1 << 20;

uint64_t room = 0;

void requestBuffer(uint8_t** buffer, size_t* size, size_t* mostRecords) {
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *mostRecords = 0;
}

std::string lineOf(const CUpti_ActivityKernel4& kernel) {
  char* plain = abi::__cxa_demangle(kernel.name, nullptr, nullptr, nullptr);
  char numbers[256];
  std::snprintf(numbers, sizeof numbers, "%u\t%d\t%d\t%d\t%d\t%d\t%d\t%llu\t%llu\t", kernel.deviceId, kernel.gridX,
                kernel.gridY, kernel.gridZ, kernel.blockX, kernel.blockY, kernel.blockZ,
                static_cast<unsigned long long>(kernel.start),
                static_cast<unsigned long long>(kernel.end - kernel.start));
  const std::string line = std::string(numbers) + (plain == nullptr ? kernel.name : plain) + "\n";
  std::free(plain);
  return line;
}

void completeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  std::string lines;
  CUpti_Activity* record = nullptr;
  while (room > 0 && Cupti::get()->nextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    lines += lineOf(*reinterpret_cast<const CUpti_ActivityKernel4*>(record));
    if (--room == 0) lines += "more\n";
  }
  size_t lost = 0;
  if (Cupti::get()->droppedRecords(context, stream, &lost) == CUPTI_SUCCESS && lost > 0) lines += "lost\n";
  // Stops writing after an error, such as a full disk.
  if (!write(lines)) room = 0;
  std::free(buffer);
}

void flush() { Cupti::get()->flushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); }

bool start() {
  const Cupti* cupti = Cupti::get();
  if (!cupti || cupti->registerBuffers(requestBuffer, completeBuffer) != CUPTI_SUCCESS ||
      cupti->enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != CUPTI_SUCCESS)
    return false;
  // Flush periodically, because a program that never ends must be killed and would lose its earlier launches.
  cupti->flushPeriod(500);
  std::atexit(flush);
  return true;
}
#endif

}  // namespace

extern "C" int InitializeInjection() {
  const char* path = std::getenv("KERNEL_LADDER_ACTIVITY");
  const char* most = std::getenv("KERNEL_LADDER_LAUNCHES");
  if (path == nullptr || most == nullptr) return 1;
  file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return 1;
#ifdef KL_CUPTI
  room = std::strtoull(most, nullptr, 10);
  if (start()) return 1;
#endif
  write("no-cupti\n");
  return 1;
}
