// Times a rung's launches with CUDA events. The timed interval excludes host time and includes all of the rung's GPU
// work.
#pragma once

#include "activity.hpp"
#include "clock-stamps.hpp"
#include "hold.hpp"
#include "l2-flush.hpp"
#include "rung.hpp"
#include "samples.hpp"
#include "streams.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>

constexpr int kBurstLaunches = 8;
constexpr double kRestSeconds = 1;

// The streams and kernels of a rung's launch, and whether the launch waits for the GPU.
struct LaunchFacts {
  StreamsUsed streams;
  std::vector<LaunchedKernel> kernels;  // empty if CUPTI is unavailable
  bool waitsForGpu = false;             // the stream cannot be held, so the time includes host time
  int lateInARow = 0;
};

class Stopwatch {
 public:
  Stopwatch(const Device& device, bool cold) : flush_(cold ? std::make_unique<L2Flush>(device) : nullptr) {
    Streams::self();
    // The stream synchronizes with the default stream, so launches on the default stream are timed too.
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
    for (int i = 0; i < 9; ++i) {
      hold_.begin(stream_);
      stamps_.before(stream_);
      check(cudaEventRecord(start_, stream_), "cudaEventRecord");
      check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
      stamps_.after(stream_);
      hold_.end();
      if (const double cycles = stamps_.cycles(stream_); cycles >= 0) emptyCycles_.add(cycles);
      emptyMs_.add(elapsedMs());
    }
  }

  static size_t bytes(const Device& device, bool cold) { return cold ? L2Flush::bytes(device) : 0; }

  cudaStream_t stream() const { return stream_; }
  bool cold() const { return flush_ != nullptr; }

  // Returns the milliseconds between two consecutive events without work between them.
  double emptyMs() const { return emptyMs_.median(); }

  const LaunchFacts& factsOf(const Rung& rung) { return facts(rung); }

  struct Sample {
    double ms;
    double cycles;  // -1 if unknown
  };

  // Times one launch. Returns nothing if the hold ended before the launch. `meanwhile` is called while the launch runs.
  std::optional<Sample> sample(const Rung& rung, const std::function<void()>& meanwhile = {}) {
    LaunchFacts& known = facts(rung);
    rung.resetInOuts(stream_);  // untimed
    if (flush_) (*flush_)(stream_);
    if (!known.waitsForGpu) hold_.begin(stream_);
    stamps_.before(stream_);
    const bool late = !enqueue(rung, known, 1);
    stamps_.after(stream_);
    if (meanwhile) meanwhile();
    finish();
    if (isLate(known, late)) return {};
    const double cycles = emptyCycles_.count() ? stamps_.cycles(stream_) : -1;
    return Sample{elapsedMs(), cycles < 0 ? -1 : cycles - emptyCycles_.median()};
  }

  // Returns the milliseconds per launch of kBurstLaunches consecutive launches on a rested GPU. Returns nothing if the
  // hold ended before all launches were enqueued. Inout buffers are filled only before the burst, so nothing runs
  // between the launches.
  std::optional<double> burst(const Rung& rung) {
    LaunchFacts& known = facts(rung);
    rung.resetInOuts(stream_);
    check(cudaStreamSynchronize(stream_), "preparing a burst");
    std::this_thread::sleep_for(std::chrono::duration<double>(kRestSeconds));
    return row(rung, known, kBurstLaunches);
  }

  // Returns the milliseconds per launch of `launches` consecutive launches, or nothing if the hold ended before all
  // launches were enqueued.
  std::optional<double> row(const Rung& rung, int launches, const std::function<void()>& meanwhile = {}) {
    rung.resetInOuts(stream_);
    return row(rung, facts(rung), launches, meanwhile);
  }

  // Returns the activity of one traced launch, with the same L2 state as a sample. Traced launches are never timed.
  Activity trace(const Rung& rung) {
    rung.resetInOuts(stream_);
    if (flush_) (*flush_)(stream_);
    const Activity activity = ActivityTrace::of([&] { rung.launch("time", stream_); });
    if (activity.known && activity.empty())
      throw RungError{
          "time",
          "it launched nothing: no kernel, copy or memset reached the GPU, and CUDA forbids launching from a "
          "host callback"};
    return activity;
  }

 private:
  // Returns a rung's streams and kernels. The first call for a rung traces an untimed launch to find its streams and
  // kernels.
  LaunchFacts& facts(const Rung& rung) {
    const auto [at, isNew] = facts_.try_emplace(&rung);
    if (!isNew) return at->second;
    const Activity activity = trace(rung);
    const StreamsUsed used = Streams::self().used(activity, stream_);
    if (activity.contexts.size() > 1)
      throw RungError{"time", "it works in a CUDA context of its own, which cannot be timed"};
    if (used.unknown)
      throw RungError{"time", "it launches on the default stream of another thread, which cannot be timed"};
    at->second.streams = used;
    at->second.kernels = activity.kernels;
    return at->second;
  }

  // Returns false if the hold ended before everything was enqueued.
  bool enqueue(const Rung& rung, const LaunchFacts& known, int launches) {
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    Streams::self().enter(known.streams, start_);
    const auto end = [&] {
      Streams::self().leave(stream_);
      check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
      return known.waitsForGpu || hold_.end();
    };
    try {
      for (int i = 0; i < launches; ++i) {
        if (i > 0) rung.zeroWorkspace(stream_);  // each launch needs a zeroed workspace; its time includes the zeroing
        rung.launch("time", stream_);
      }
    } catch (...) {
      end();
      throw;
    }
    return end();
  }

  std::optional<double> row(const Rung& rung, LaunchFacts& known, int launches,
                            const std::function<void()>& meanwhile = {}) {
    if (!known.waitsForGpu) hold_.begin(stream_);
    const bool late = !enqueue(rung, known, launches);
    if (meanwhile) meanwhile();
    finish();
    if (isLate(known, late)) return {};
    return elapsedMs() / launches;
  }

  // A rung whose launches are always late probably waits for the GPU, so its stream is no longer held.
  bool isLate(LaunchFacts& known, bool late) {
    constexpr int kAlways = 3;
    known.lateInARow = late ? known.lateInARow + 1 : 0;
    if (known.lateInARow == kAlways) known.waitsForGpu = true;
    return late;
  }

  void finish() const {
    const cudaError_t status = cudaEventSynchronize(stop_);
    if (status != cudaSuccess) throw RungError{"time", "the kernel failed: " + describe(status)};
  }

  double elapsedMs() const {
    check(cudaEventSynchronize(stop_), "timing");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    return ms;
  }

  std::map<const Rung*, LaunchFacts> facts_;
  std::unique_ptr<L2Flush> flush_;
  Hold hold_;
  ClockStamps stamps_;
  Samples emptyMs_, emptyCycles_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};
