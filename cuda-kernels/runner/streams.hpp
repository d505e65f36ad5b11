// The streams of a process, and a fence around work on streams that the runner did not create. Fenced work starts after
// the opening event and ends before the closing event.
#pragma once

#include "activity.hpp"
#include "cupti.hpp"
#include "errors.hpp"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Streams that a rung uses in addition to the stream it receives. The default stream needs no fence, because it
// synchronizes with the runner's own stream.
struct StreamsUsed {
  std::set<CUstream> others;
  bool perThread = false;
  bool unknown = false;  // for example another thread's default stream
};

class Streams {
 public:
  // Returns the instance. Call this function before creating any stream that must be tracked.
  static Streams& self() {
    static Streams one;
    return one;
  }

  // Returns the streams that `activity` used in addition to `given`.
  StreamsUsed used(const Activity& activity, cudaStream_t given) {
    StreamsUsed found;
#ifdef KL_CUPTI
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    CUcontext context = nullptr;
    if (!activity.known || cuCurrentContext(&context) != CUDA_SUCCESS) return found;
    const unsigned ours = idOf(context, given, false), legacy = idOf(context, nullptr, false),
                   perThread = idOf(context, nullptr, true);
    for (const unsigned id : activity.streams) {
      if (id == ours || id == legacy) continue;
      if (id == perThread) found.perThread = true;
      else if (const auto known = known_.find(id); known == known_.end()) found.unknown = true;
      else if (known->second) found.others.insert(known->second);
    }
#endif
    return found;
  }

  // Makes the streams in `used` wait for `start`, as well as all streams that are created before `leave` is called.
  void enter(const StreamsUsed& used, cudaEvent_t start) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    start_ = start;
    for (const CUstream stream : used.others)
      if (alive(stream)) fence(stream);
    if (used.perThread) fence(CU_STREAM_PER_THREAD);
  }

  // Ends the fence: makes `stream` wait for all fenced streams.
  void leave(cudaStream_t stream) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    start_ = nullptr;
    if (!trouble_.empty())
      throw RungError{"time", "a stream that it creates cannot be timed: " + std::exchange(trouble_, {})};
    for (const CUstream other : fenced_) record(other);
    fenced_.clear();
    for (const cudaEvent_t event : recorded_) {
      check(cudaStreamWaitEvent(stream, event, 0), "waiting for the rung's own streams");
      spare_.push_back(event);
    }
    recorded_.clear();
  }

 private:
  Streams() {
#ifdef KL_CUPTI
    const Cupti* cupti = Cupti::get();
    CUpti_SubscriberHandle subscriber;
    if (!cupti || cupti->subscribe(&subscriber, CUpti_CallbackFunc(onResource), this) != CUPTI_SUCCESS) return;
    for (const CUpti_CallbackIdResource id :
         {CUPTI_CBID_RESOURCE_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING})
      cupti->enableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
#endif
  }

#ifdef KL_CUPTI
  static CUresult cuCurrentContext(CUcontext* context) {
    static const auto get =
        reinterpret_cast<CUresult (*)(CUcontext*)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent"));
    return get ? get(context) : CUDA_ERROR_NOT_FOUND;
  }

  static unsigned idOf(CUcontext context, CUstream stream, bool perThread) {
    unsigned id = ~0u;
    Cupti::get()->streamId(context, stream, perThread, &id);
    return id;
  }

  static void CUPTIAPI onResource(void* self, CUpti_CallbackDomain, CUpti_CallbackId id,
                                  const CUpti_ResourceData* data) {
    static_cast<Streams*>(self)->changed(id == CUPTI_CBID_RESOURCE_STREAM_CREATED, *data);
  }

  void changed(bool created, const CUpti_ResourceData& data) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    const CUstream stream = data.resourceHandle.stream;
    const unsigned id = idOf(data.context, stream, false);
    known_[id] = created ? stream : nullptr;
    try {
      if (created && start_) fence(stream);
      if (!created && fenced_.erase(stream)) record(stream);
    } catch (const RunnerError& error) {
      trouble_ = error.message;  // CUPTI calls this function, and no exception may propagate into it
    }
  }
#endif

  bool alive(CUstream stream) const {
    for (const auto& [id, known] : known_)
      if (known == stream) return true;
    return false;
  }

  void fence(CUstream stream) {
    check(cudaStreamWaitEvent(stream, start_, 0), "holding the rung's own streams");
    fenced_.insert(stream);
  }

  void record(CUstream stream) {
    cudaEvent_t event = nullptr;
    if (spare_.empty()) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    else {
      event = spare_.back();
      spare_.pop_back();
    }
    check(cudaEventRecord(event, stream), "waiting for the rung's own streams");
    recorded_.push_back(event);
  }

  std::recursive_mutex mutex_;
  std::map<unsigned, CUstream> known_;  // null if the stream was destroyed
  std::set<CUstream> fenced_;
  std::vector<cudaEvent_t> recorded_, spare_;
  cudaEvent_t start_ = nullptr;
  std::string trouble_;
};
