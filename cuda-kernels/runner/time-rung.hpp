// Times single launches of a rung, interleaved with launches of the reference.
#pragma once

#include "gpu-watch.hpp"
#include "heartbeat.hpp"
#include "stopwatch.hpp"

#include <chrono>
#include <functional>

// Thrown if the reference fails while a rung is timed. The failure is reported for the reference, not for the rung.
struct ReferenceFailed {
  RungError error;
};

// The samples of the rung or of the reference.
struct Timed {
  Samples ms;
  Samples clocksMHz;  // only from launches that are long enough for an accurate value

  void add(const Stopwatch::Sample& sample) {
    constexpr double kShortestMs = 0.05;
    ms.add(sample.ms);
    if (sample.cycles > 0 && sample.ms >= kShortestMs) clocksMHz.add(sample.cycles / sample.ms / 1000);
  }
  double clockMHz() const { return clocksMHz.count() ? clocksMHz.median() : -1; }
};

// Returns the median time that the GPU is busy with a launch, from traced launches after the timing, or -1 if unknown.
// Throws a rung error if this time is well above the time between the events, because the events then missed work.
// `sampleRung` times launches between the traced launches, so both kinds of launches run at the same clocks.
template <typename SampleRung>
double busyMs(const Rung& rung, Stopwatch& stopwatch, const SampleRung& sampleRung) {
  constexpr int kTraced = 5;
  constexpr double kSlackMs = 0.003, kSlack = 1.1;
  Samples busy, spans;
  for (int i = 0; i < kTraced; ++i) {
    if (const auto sample = sampleRung()) spans.add(sample->ms);
    const Activity activity = stopwatch.trace(rung);
    if (!activity.known) return -1;
    busy.add(activity.busyMs);
  }
  if (spans.count() > 0 && busy.median() > kSlack * spans.median() + kSlackMs)
    throw RungError{"time", "the GPU was busy with a launch for " + Json::text(busy.median()) +
                                " ms and the events span " + Json::text(spans.median()) +
                                " ms: work on other streams would be left out"};
  return busy.median();
}

// Untimed functions to call before and after each launch of the rung. By default, they do nothing.
struct AroundLaunch {
  std::function<void()> before = [] {}, after = [] {};
  std::function<void()> warm = [] {};  // called once, after the warm-up launches
};

// Times a rung and the reference (null if there is none) alternately in the same loop. The rung and the reference then
// run at the same clocks and temperature.
inline void timeRung(const Rung& rung, const Rung* reference, const Arguments& args, Stopwatch& stopwatch,
                     const Nvml& nvml, const AroundLaunch& around = {}) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto secondsSince = [&](auto start) { return std::chrono::duration<double>(now() - start).count(); };
  const bool isReference = reference == &rung;
  const bool useReference = reference && !isReference;
  Timed timed, beside;
  long long late = 0;
  Heartbeat heartbeat(rung.id);

  const auto sampleReference = [&] {
    try {
      return stopwatch.sample(*reference);
    } catch (const RungError& error) {
      throw ReferenceFailed{error};
    }
  };

  const auto sampleRung = [&](const std::function<void()>& meanwhile = {}) {
    around.before();
    const auto sample = stopwatch.sample(rung, meanwhile);
    around.after();
    return sample;
  };

  // Warm-up: clocks ramp up, caches fill, and lazily loaded code is loaded.
  const auto warmUp = now();
  do {
    if (useReference) sampleReference();
    sampleRung();
    heartbeat.beat(timed.ms);
  } while (secondsSince(warmUp) < std::min(0.2, args.maxSeconds));

  around.warm();

  const double clockBefore = nvml.smClock();
  GpuWatch watch(nvml);
  const auto start = now();
  const long long fewest = std::min(3LL, args.maxSamples);
  for (;;) {
    // Launch the reference until it has enough samples, and afterwards only as long as its total time is at most the
    // rung's.
    if (useReference && (!beside.ms.settled(args.minSamples) || beside.ms.total() <= timed.ms.total())) {
      if (const auto sample = sampleReference()) beside.add(*sample);
    }
    if (const auto sample = sampleRung()) timed.add(*sample);
    else ++late;
    heartbeat.beat(timed.ms);
    // Query the GPU during an uncounted launch, because the query takes a while and an idle GPU has different clocks.
    if (timed.ms.count() == 1 || watch.due()) sampleRung([&] { watch.look(); });

    const bool settled = timed.ms.settled(args.minSamples) && (!useReference || beside.ms.settled(args.minSamples));
    if (settled || timed.ms.count() >= args.maxSamples) break;
    if (secondsSince(start) < args.maxSeconds) continue;
    if (timed.ms.count() >= fewest && (!useReference || beside.ms.count() > 0)) break;
    if (secondsSince(start) >= 10 * args.maxSeconds + 10)
      throw RungError{"time", "its launches keep reaching the GPU late: this machine is too busy to time it"};
  }
  const double clockAfter = nvml.smClock();
  watch.look();

  const double busy = busyMs(rung, stopwatch, sampleRung);
  Json line("timing");
  line.string("rung", rung.id)
      .string("cacheState", stopwatch.cold() ? "cold" : "warm")
      .number("medianMs", timed.ms.median())
      .number("spread", timed.ms.spread())
      .numbers("samplesMs", timed.ms.values())
      .boolean("settled", timed.ms.settled(args.minSamples))
      .number("late", late)
      .boolean("includesHost", stopwatch.factsOf(rung).waitsForGpu)
      .number("emptyMs", stopwatch.emptyMs())
      .numberOrNull("busyMs", busy)
      .numberOrNull("clockMHz", timed.clockMHz());
  // If the rung is the reference, its samples are also the reference's samples, so the ratio is 1.
  if (reference) line.number("referenceMedianMs", (isReference ? timed : beside).ms.median());
  else line.null("referenceMedianMs");
  line.numbers("referenceSamplesMs", beside.ms.values())
      .numberOrNull("referenceClockMHz", (isReference ? timed : beside).clockMHz())
      .numberOrNull("smClockBeforeMHz", clockBefore)
      .numberOrNull("smClockAfterMHz", clockAfter);
  watch.addTo(line);
  line.print();
}
