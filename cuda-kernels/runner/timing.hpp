// Timing samples, of single launches and of bursts, and the criterion for enough of them.
#pragma once

#include "rung.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <thread>
#include <vector>

class Samples {
 public:
  void add(double ms) {
    values_.push_back(ms);
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), ms), ms);
    total_ += ms;
  }

  const std::vector<double>& values() const { return values_; }
  long long count() const { return (long long)values_.size(); }
  double total() const { return total_; }
  double median() const { return quantile(0.5); }
  double spread() const { return (quantile(0.75) - quantile(0.25)) / median(); }

  // The 95% confidence interval of the median has a half-width of at most 0.5% of it. The interval
  // lies between two order statistics, so it assumes nothing about the distribution: the number of
  // samples below the true median is binomial. Six samples are the fewest that have one.
  bool settled(long long minimum) const {
    if (count() < minimum) return false;
    const long long below = lowRank(count());
    if (below == 0) return false;
    const double low = sorted_[below - 1], high = sorted_[count() - below];
    return (high - low) / 2 <= 0.005 * median();
  }

 private:
  // The largest r with P(Binomial(n, 1/2) < r) <= 2.5%: the interval is [r-th smallest, r-th largest].
  static long long lowRank(long long n) {
    double cumulative = 0;
    for (long long r = 0;; ++r) {
      cumulative +=
          std::exp(std::lgamma(n + 1.0) - std::lgamma(r + 1.0) - std::lgamma(n - r + 1.0) - n * std::log(2.0));
      if (cumulative > 0.025) return r;
    }
  }

  double quantile(double q) const {
    const double position = q * double(count() - 1);
    const size_t low = size_t(position), high = std::min(low + 1, sorted_.size() - 1);
    return sorted_[low] + (position - double(low)) * (sorted_[high] - sorted_[low]);
  }

  std::vector<double> values_, sorted_;
  double total_ = 0;
};

// Keeps the GPU busy while the host enqueues the work after it, so that the host's launch overhead does not fall
// between the two events of a sample.
__global__ void runway(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
constexpr long long kRunwayCycles = 40000;       // about 20 us
constexpr int kBurstLaunches = 8;
constexpr double kRestSeconds = 1;
constexpr double kLongestRunwaySeconds = 0.002;  // a host that takes longer is waiting for the GPU

// SM cycles of a launch: a one-thread kernel before it and one after it write down the clock of the SM that they ran
// on. Cycles do not change with the clock rate, which time does.
struct ClockStamp {
  long long clock;
  unsigned sm;
};

__global__ void stampClock(ClockStamp* to) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  *to = {clock64(), sm};
}

// Two stamps in host memory that the GPU writes to.
class ClockStamps {
 public:
  ClockStamps() { check(cudaHostAlloc(&stamps_, 2 * sizeof(ClockStamp), cudaHostAllocMapped), "cudaHostAlloc"); }
  ~ClockStamps() { cudaFreeHost(stamps_); }
  ClockStamps(const ClockStamps&) = delete;
  ClockStamps& operator=(const ClockStamps&) = delete;

  void before(cudaStream_t stream) const { stamp(0, stream); }
  void after(cudaStream_t stream) const { stamp(1, stream); }

  // Cycles between the two, including what the stamps take themselves; -1 if they ran on two SMs, whose clocks differ.
  double cycles(cudaStream_t stream) const {
    check(cudaStreamSynchronize(stream), "reading the SM clock");
    return stamps_[0].sm == stamps_[1].sm ? double(stamps_[1].clock - stamps_[0].clock) : -1;
  }

 private:
  void stamp(int which, cudaStream_t stream) const {
    stampClock<<<1, 1, 0, stream>>>(stamps_ + which);
    check(cudaGetLastError(), "stamping the SM clock");
  }

  ClockStamp* stamps_ = nullptr;
};

class Stopwatch {
 public:
  Stopwatch(const Arguments& args, const Device& device)
      : clockHz_(device.clockHz()), flushBytes_(args.flushL2 ? flushBytes(device) : 0), flush_(flushBytes_) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
  }

  static size_t flushBytes(const Device& device) { return 2 * size_t(device.properties.l2CacheSize); }

  cudaStream_t stream() const { return stream_; }

  // The cycles of a sample that launches nothing; -1 if unknown.
  double emptyCycles(const ClockStamps& stamps) {
    Samples samples;
    for (int i = 0; i < 9; ++i) {
      runway<<<1, 1, 0, stream_>>>(kRunwayCycles);
      stamps.before(stream_);
      check(cudaEventRecord(start_, stream_), "cudaEventRecord");
      check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
      stamps.after(stream_);
      if (const double cycles = stamps.cycles(stream_); cycles >= 0) samples.add(cycles);
    }
    return samples.count() ? samples.median() : -1;
  }

  // Milliseconds of one launch; with stamps, its cycles can be read from them afterwards. `meanwhile` is called while it runs.
  double sample(const Rung& rung, const ClockStamps* stamps = nullptr, const std::function<void()>& meanwhile = {}) {
    rung.problem.resetInOuts(stream_);  // untimed
    if (flushBytes_) check(cudaMemsetAsync(flush_.get(), 0, flushBytes_, stream_), "flushing L2");
    runway<<<1, 1, 0, stream_>>>(runwayOf(rung));
    if (stamps) stamps->before(stream_);
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    const auto start = std::chrono::steady_clock::now();
    rung.launch("time", stream_);
    if (std::vector<double>& first = enqueued_[&rung]; first.size() < kEnqueuesKept)
      first.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    if (stamps) stamps->after(stream_);
    if (meanwhile) meanwhile();
    const cudaError_t status = cudaEventSynchronize(stop_);
    if (status != cudaSuccess) throw RungError{"time", "the kernel failed: " + describe(status)};
    return elapsedMs();
  }

  // Milliseconds a launch, of kBurstLaunches enqueued one after the other on a GPU that has rested. An inout is filled before the
  // burst alone, so that nothing comes between the launches.
  double burst(const Rung& rung) {
    rung.problem.resetInOuts(stream_);
    if (flushBytes_) check(cudaMemsetAsync(flush_.get(), 0, flushBytes_, stream_), "flushing L2");
    check(cudaStreamSynchronize(stream_), "preparing a burst");
    std::this_thread::sleep_for(std::chrono::duration<double>(kRestSeconds));
    runway<<<1, 1, 0, stream_>>>(std::min(kBurstLaunches * runwayOf(rung), (long long)(kLongestRunwaySeconds * clockHz_)));
    check(cudaEventRecord(start_, stream_), "cudaEventRecord");
    for (int i = 0; i < kBurstLaunches; ++i) rung.launch("time", stream_);
    check(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    const cudaError_t status = cudaEventSynchronize(stop_);
    if (status != cudaSuccess) throw RungError{"time", "the kernel failed: " + describe(status)};
    return elapsedMs() / kBurstLaunches;
  }

 private:
  double elapsedMs() const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_, stop_), "cudaEventElapsedTime");
    return ms;
  }

  // As long as the host takes to enqueue a rung, and half again, from its first launches on: a compiled rung is there
  // within 20 us, a script may take ten times that.
  long long runwayOf(const Rung& rung) {
    std::vector<double> first = enqueued_[&rung];
    if (first.size() < kEnqueuesKept) return kRunwayCycles;
    std::nth_element(first.begin(), first.begin() + kEnqueuesKept / 2, first.end());
    const double wanted = std::min(1.5 * first[kEnqueuesKept / 2], kLongestRunwaySeconds);
    return std::max(kRunwayCycles, (long long)(wanted * clockHz_));
  }

  static constexpr size_t kEnqueuesKept = 9;
  double clockHz_;
  std::map<const Rung*, std::vector<double>> enqueued_;
  size_t flushBytes_;
  DeviceBuffer flush_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

class Heartbeat {
 public:
  explicit Heartbeat(const std::string& rung) : rung_(rung) {}

  void beat(const Samples& samples) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(250)) return;
    last_ = now;
    Json line("progress");
    line.string("rung", rung_).string("stage", "time").number("samples", samples.count());
    if (samples.count() == 0) line.null("spread");
    else line.number("spread", samples.spread());
    line.print();
  }

 private:
  std::string rung_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The state of the GPU while a rung is timed: before, after, and now and then while one of its launches runs.
class GpuWatch {
 public:
  explicit GpuWatch(const Nvml& nvml) : nvml_(nvml) { look(); }

  void look() {
    last_ = std::chrono::steady_clock::now();
    if (const double clock = nvml_.smClock(); clock >= 0) {
      lowest_ = lowest_ < 0 ? clock : std::min(lowest_, clock);
      highest_ = std::max(highest_, clock);
    }
    memoryClock_ = nvml_.memoryClock();
    temperature_ = std::max(temperature_, nvml_.temperature());
    power_ = std::max(power_, nvml_.power());
    if (const long long reasons = nvml_.clockReasons(); reasons >= 0) reasons_ = std::max(reasons_, 0LL) | reasons;
  }

  bool due() const { return std::chrono::steady_clock::now() - last_ >= std::chrono::milliseconds(100); }

  void addTo(Json& line) const {
    line.numberOrNull("smClockLowMHz", lowest_)
        .numberOrNull("smClockHighMHz", highest_)
        .numberOrNull("memoryClockMHz", memoryClock_)
        .numberOrNull("temperatureC", temperature_)
        .numberOrNull("powerW", power_)
        .numberOrNull("powerLimitW", nvml_.powerLimit())
        .numberOrNull("clockReasons", double(reasons_));
  }

 private:
  const Nvml& nvml_;
  std::chrono::steady_clock::time_point last_;
  double lowest_ = -1, highest_ = -1, memoryClock_ = -1, temperature_ = -1, power_ = -1;
  long long reasons_ = -1;
};

// A failure of the reference is its own, whichever rung is being timed with it.
struct ReferenceFailed {
  RungError error;
};

// Times a rung, alternating with the reference (null: none) in the same loop, so that both see the same clocks
// and temperature.
inline void timeRung(const Rung& rung, const Rung* reference, const Arguments& args, Stopwatch& stopwatch,
                     const Nvml& nvml) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto secondsSince = [&](auto start) { return std::chrono::duration<double>(now() - start).count(); };
  const bool isReference = reference == &rung;
  Samples samples, referenceSamples;
  Heartbeat heartbeat(rung.id);

  const auto sampleReference = [&] {
    try {
      return stopwatch.sample(*reference);
    } catch (const RungError& error) {
      throw ReferenceFailed{error};
    }
  };

  // Warm-up: clocks ramp up, caches fill, and lazily loaded code is loaded.
  const auto warmUp = now();
  do {
    if (reference && !isReference) sampleReference();
    stopwatch.sample(rung);
    heartbeat.beat(samples);
  } while (secondsSince(warmUp) < std::min(0.2, args.maxSeconds));

  const double clockBefore = nvml.smClock();
  GpuWatch watch(nvml);
  const auto start = now();
  const long long fewest = std::min(3LL, args.maxSamples);
  for (;;) {
    // The reference stays in the loop until its samples suffice, and after that as long as it costs less than
    // the rung.
    const bool useReference = reference && !isReference;
    if (useReference && (!referenceSamples.settled(args.minSamples) || referenceSamples.total() <= samples.total()))
      referenceSamples.add(sampleReference());
    samples.add(stopwatch.sample(rung));
    heartbeat.beat(samples);
    // While a launch runs that does not count: asking takes a while, and a GPU without work has other clocks.
    if (samples.count() == 1 || watch.due()) stopwatch.sample(rung, nullptr, [&] { watch.look(); });

    const bool settled =
        samples.settled(args.minSamples) && (!useReference || referenceSamples.settled(args.minSamples));
    if (settled || samples.count() >= args.maxSamples) break;
    if (samples.count() >= fewest && secondsSince(start) >= args.maxSeconds) break;
  }
  const double clockAfter = nvml.smClock();
  watch.look();

  Json line("timing");
  line.string("rung", rung.id)
      .number("medianMs", samples.median())
      .number("spread", samples.spread())
      .numbers("samplesMs", samples.values())
      .boolean("settled", samples.settled(args.minSamples));
  // The reference against itself: the ratio is 1 by definition.
  if (reference) line.number("referenceMedianMs", (isReference ? samples : referenceSamples).median());
  else line.null("referenceMedianMs");
  line.numbers("referenceSamplesMs", referenceSamples.values())
      .numberOrNull("smClockBeforeMHz", clockBefore)
      .numberOrNull("smClockAfterMHz", clockAfter);
  watch.addTo(line);
  line.print();
}

// Bursts of a rung and of the reference (null: none) by turns, each after a rest in which the GPU cools and may raise its clock.
inline void timeBursts(const Rung& rung, const Rung* reference, long long bursts, Stopwatch& stopwatch) {
  const bool isReference = reference == &rung;
  Samples samples, referenceSamples;
  Heartbeat heartbeat(rung.id);
  for (long long i = 0; i < bursts; ++i) {
    if (reference && !isReference) {
      referenceSamples.add(stopwatch.burst(*reference));
      heartbeat.beat(samples);
    }
    samples.add(stopwatch.burst(rung));
    heartbeat.beat(samples);
  }
  Json line("burst");
  line.string("rung", rung.id)
      .number("launches", kBurstLaunches)
      .number("restSeconds", kRestSeconds)
      .number("medianMs", samples.median())
      .numbers("samplesMs", samples.values());
  if (reference) line.number("referenceMedianMs", (isReference ? samples : referenceSamples).median());
  else line.null("referenceMedianMs");
  line.numbers("referenceSamplesMs", referenceSamples.values()).print();
}

// The orders of three builds. Where code lies in memory, and what ran just before it, moves the time of a launch of ten
// microseconds by percents; over six rounds, and over six blocks, each build has each place equally often.
using Order = std::array<int, 3>;

inline const Order& orderOf(long long number) {
  static const Order orders[] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
  return orders[number % 6];
}

// The new build, the old one, and a copy of the old one: how far that differs from the old build is no change of code.
using Builds = std::array<Rung*, 3>;

// Times them in blocks of six launches, there and back, so that a drift that is steady within a block favors none.
// Elements 2i and 2i + 1 of each list belong to block i.
inline void compareRungs(const Builds& builds, const Arguments& args, Stopwatch& stopwatch, const ClockStamps& stamps,
                         double emptyCycles, const Nvml& nvml) {
  constexpr double kWarmUpSeconds = 0.05;
  const auto clock = [] { return std::chrono::steady_clock::now(); };
  const auto secondsSince = [&](auto start) { return std::chrono::duration<double>(clock() - start).count(); };
  struct Side {
    std::vector<double> ms, cycles;
  } sides[3];
  const auto sample = [&](int which) {
    try {
      return stopwatch.sample(*builds[which], &stamps);
    } catch (const RungError& error) {
      throw RungError{error.stage, (which == 0 ? "" : "the old code: ") + error.reason};
    }
  };
  // Six orders that six rounds with the same order of loading do not begin alike.
  const long long first = args.round + args.round / 6;

  const auto warmUp = clock();
  for (long long turn = first; secondsSince(warmUp) < std::min(kWarmUpSeconds, args.maxSeconds); ++turn)
    for (const int which : orderOf(turn)) sample(which);

  const std::string& id = builds[0]->id;
  Heartbeat heartbeat(id);
  const double clockBefore = nvml.smClock();
  const auto start = clock();
  for (long long block = 0; block < args.maxSamples; ++block) {
    if (block > 0 && secondsSince(start) >= args.maxSeconds) break;
    const Order& order = orderOf(first + block);
    for (const int place : {0, 1, 2, 2, 1, 0}) {
      Side& side = sides[order[place]];
      side.ms.push_back(sample(order[place]));
      const double cycles = emptyCycles < 0 ? -1 : stamps.cycles(stopwatch.stream());
      side.cycles.push_back(cycles < 0 ? NAN : cycles - emptyCycles);
      heartbeat.beat({});
    }
  }
  Json("pair")
      .string("rung", id)
      .string("against", builds[1]->id)
      .numbers("newMs", sides[0].ms)
      .numbers("oldMs", sides[1].ms)
      .numbers("copyMs", sides[2].ms)
      .numbers("newCycles", sides[0].cycles)
      .numbers("oldCycles", sides[1].cycles)
      .numberOrNull("smClockBeforeMHz", clockBefore)
      .numberOrNull("smClockAfterMHz", nvml.smClock())
      .print();
}
