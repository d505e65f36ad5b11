// Kernels, copies and fills that ran on the GPU during a launch, from CUPTI activity records. CUPTI reports every
// stream.
#pragma once

#include "cupti.hpp"
#include "errors.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

// A recorded kernel launch: its mangled name, grid, block, registers and shared memory.
struct LaunchedKernel {
  std::string mangled;
  unsigned grid[3], block[3];
  int registers = 0, staticShared = 0, dynamicShared = 0;
};

struct Activity {
  bool known = false;  // false if CUPTI is unavailable; the other fields are then empty
  std::vector<LaunchedKernel> kernels;
  long long others = 0;                  // number of copies and fills
  double busyMs = 0;                     // time during which at least one kernel, copy or fill ran
  std::set<unsigned> streams, contexts;  // stream and context ids from CUPTI

  bool empty() const { return kernels.empty() && others == 0; }
};

class ActivityTrace {
 public:
  // Runs `work`, waits for the GPU and returns the GPU's activity. Tracing slows the host, so traced launches are never
  // timed.
  static Activity of(const std::function<void()>& work) {
    Activity found;
#ifdef KL_CUPTI
    const Cupti* cupti = Cupti::get();
    check(cudaDeviceSynchronize(), "waiting for the GPU");
    if (!cupti || !start(*cupti)) {
      work();
      return found;
    }
    const auto stop = [&] {
      cudaDeviceSynchronize();
      for (const CUpti_ActivityKind kind : kKinds) cupti->disable(kind);
      cupti->flushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    };
    try {
      work();
    } catch (...) {
      stop();
      throw;
    }
    stop();
    Records& records = self();
    const std::lock_guard<std::mutex> lock(records.mutex);
    found = std::move(records.found);
    found.known = true;
    found.busyMs = busyMs(records.spans);
#else
    work();
#endif
    return found;
  }

#ifdef KL_CUPTI
 private:
  static constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                                  CUPTI_ACTIVITY_KIND_MEMSET};
  static constexpr size_t kBufferBytes = 1 << 20;

  using Span = std::pair<unsigned long long, unsigned long long>;
  struct Records {
    std::mutex mutex;
    Activity found;
    std::vector<Span> spans;
  };
  static Records& self() {
    static Records one;
    return one;
  }

  static bool start(const Cupti& cupti) {
    static const bool registered = cupti.registerBuffers(giveBuffer, takeBuffer) == CUPTI_SUCCESS;
    if (!registered) return false;
    {
      Records& records = self();
      const std::lock_guard<std::mutex> lock(records.mutex);
      records.found = {};
      records.spans.clear();
    }
    for (const CUpti_ActivityKind kind : kKinds)
      if (cupti.enable(kind) != CUPTI_SUCCESS) return false;
    return true;
  }

  static void CUPTIAPI giveBuffer(uint8_t** buffer, size_t* bytes, size_t* mostRecords) {
    *buffer = static_cast<uint8_t*>(aligned_alloc(8, kBufferBytes));
    *bytes = *buffer ? kBufferBytes : 0;
    *mostRecords = 0;
  }

  static void CUPTIAPI takeBuffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t validBytes) {
    Records& records = self();
    const std::lock_guard<std::mutex> lock(records.mutex);
    CUpti_Activity* record = nullptr;
    while (validBytes && Cupti::get()->nextRecord(buffer, validBytes, &record) == CUPTI_SUCCESS) {
      // Later versions of these records start with the same fields.
      if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        addKernel(*reinterpret_cast<const CUpti_ActivityKernel4*>(record));
      else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
        addOther(*reinterpret_cast<const CUpti_ActivityMemcpy*>(record));
      else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET)
        addOther(*reinterpret_cast<const CUpti_ActivityMemset*>(record));
    }
    free(buffer);
  }

  static void addKernel(const CUpti_ActivityKernel4& record) {
    self().found.kernels.push_back({record.name ? record.name : "",
                                    {unsigned(record.gridX), unsigned(record.gridY), unsigned(record.gridZ)},
                                    {unsigned(record.blockX), unsigned(record.blockY), unsigned(record.blockZ)},
                                    record.registersPerThread,
                                    record.staticSharedMemory,
                                    record.dynamicSharedMemory});
    addSpan(record);
  }

  template <typename Record>
  static void addOther(const Record& record) {
    ++self().found.others;
    addSpan(record);
  }

  template <typename Record>
  static void addSpan(const Record& record) {
    Records& records = self();
    records.found.streams.insert(record.streamId);
    records.found.contexts.insert(record.contextId);
    records.spans.push_back({record.start, record.end});
  }

  static double busyMs(std::vector<Span> spans) {
    std::sort(spans.begin(), spans.end());
    unsigned long long until = 0, busy = 0;
    for (const auto& [start, end] : spans) {
      if (end > until) busy += end - std::max(start, until);
      until = std::max(until, end);
    }
    return double(busy) / 1e6;
  }
#endif
};
