// Times bursts of launches on a GPU that has rested, and rows of launches for seconds at the clock that they allow
// themselves. L2 is warm in both: each launch finds what the one before it left there.
#pragma once

#include "gpu-watch.hpp"
#include "heartbeat.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <chrono>

// Bursts of a rung and of the reference (null: none) by turns, each after a rest in which the GPU cools and may raise its clock.
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

// One rung alone, launch after launch. The first second brings the GPU to the temperature and clock that it then keeps.
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
