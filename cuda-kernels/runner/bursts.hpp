// Times bursts of launches on a rested GPU, and sustained launches at the clock the GPU settles at. L2 is warm in both
// timing modes, because each launch finds the data that the previous launch left in L2.
#pragma once

#include "gpu-watch.hpp"
#include "heartbeat.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <chrono>

// Times bursts of a rung's launches, alternating with bursts of the reference (null if there is none). The GPU rests
// before each burst, so it cools down and may raise its clock.
inline void timeBursts(const Rung& rung, const Rung* reference, long long bursts, Stopwatch& stopwatch) {
  const bool isReference = reference == &rung;
  Samples samples, referenceSamples;
  Heartbeat heartbeat(rung.id);
  for (long long i = 0; i < bursts; ++i) {
    if (reference && !isReference) {
      if (const auto ms = stopwatch.burst(*reference)) referenceSamples.add(*ms);
      heartbeat.beat(samples);
    }
    if (const auto ms = stopwatch.burst(rung)) samples.add(*ms);
    heartbeat.beat(samples);
  }
  if (samples.count() == 0 || (reference && !isReference && referenceSamples.count() == 0)) return;
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

// Times one rung launched repeatedly. The first second is untimed, so that the GPU reaches its steady temperature and
// clock.
inline void timeSustained(const Rung& rung, double seconds, Stopwatch& stopwatch, const Nvml& nvml) {
  constexpr double kWarmUpSeconds = 1, kRowMs = 20;
  constexpr int kLongestRow = 256;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto secondsSince = [&](auto start) { return std::chrono::duration<double>(now() - start).count(); };
  Heartbeat heartbeat(rung.id);

  const auto first = stopwatch.row(rung, 1);
  const int longest = rung.problem.hasInOuts() ? kBurstLaunches : kLongestRow;
  const int launches = std::clamp(int(kRowMs / std::max(first.value_or(kRowMs), 1e-3)), 1, longest);
  Samples samples, clocks, watts;
  const auto warmUp = now();
  while (secondsSince(warmUp) < kWarmUpSeconds) {
    stopwatch.row(rung, launches);
    heartbeat.beat(samples);
  }
  GpuWatch watch(nvml);
  const auto start = now();
  do {
    if (const auto ms = stopwatch.row(rung, launches, [&] {
          if (!watch.due()) return;
          watch.look();
          if (const double clock = nvml.smClock(); clock >= 0) clocks.add(clock);
          if (const double power = nvml.power(); power >= 0) watts.add(power);
        }))
      samples.add(*ms);
    heartbeat.beat(samples);
  } while (secondsSince(start) < seconds);
  if (samples.count() == 0) return;
  Json line("sustained");
  line.string("rung", rung.id)
      .number("seconds", seconds)
      .number("launches", launches)
      .number("medianMs", samples.median())
      .number("spread", samples.spread())
      .number("samples", samples.count())
      .numberOrNull("smClockMHz", clocks.count() ? clocks.median() : -1)
      .numberOrNull("medianPowerW", watts.count() ? watts.median() : -1);
  watch.addTo(line);
  line.print();
}
