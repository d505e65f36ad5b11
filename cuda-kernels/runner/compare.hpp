// Times two builds of a rung alternately, together with a copy of the old build.
#pragma once

#include "clock-stamps.hpp"
#include "heartbeat.hpp"
#include "stopwatch.hpp"

#include <array>

// The launch orders of three builds. Code placement and the previous kernel change the time of a 10-microsecond launch
// by several percent. Over six rounds, and over six blocks, each build is in each position equally often.
using Order = std::array<int, 3>;

inline const Order& orderOf(long long number) {
  static const Order orders[] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
  return orders[number % 6];
}

// The new build, the old build, and a copy of the old build. The difference between the old build and its copy is
// measurement noise.
using Builds = std::array<Rung*, 3>;

// Times the builds in blocks of six launches: first in order, then in reverse order. A steady drift within a block
// favors no build. Elements 2i and 2i + 1 of each list belong to block i.
inline void compareRungs(const Builds& builds, const Arguments& args, Stopwatch& stopwatch, const Nvml& nvml) {
  constexpr double kWarmUpSeconds = 0.05;
  constexpr int kMostTries = 20;  // an incomplete block cannot be compared
  const auto clock = [] { return std::chrono::steady_clock::now(); };
  const auto secondsSince = [&](auto start) { return std::chrono::duration<double>(clock() - start).count(); };
  struct Side {
    std::vector<double> ms, cycles;
  } sides[3];
  const auto sample = [&](int which) {
    try {
      for (int tries = 0; tries < kMostTries; ++tries)
        if (const auto taken = stopwatch.sample(*builds[which])) return *taken;
      throw RungError{"time", "its launches keep reaching the GPU late: this machine is too busy to time it"};
    } catch (const RungError& error) {
      throw RungError{error.stage, (which == 0 ? "" : "the old code: ") + error.reason};
    }
  };
  // Assigns a different first launch order to each of the six rounds that share a load order.
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
      const Stopwatch::Sample taken = sample(order[place]);
      side.ms.push_back(taken.ms);
      side.cycles.push_back(taken.cycles < 0 ? NAN : taken.cycles);
      heartbeat.beat({});
    }
  }
  Json("pair")
      .string("rung", id)
      .string("against", builds[1]->id)
      .string("cacheState", stopwatch.cold() ? "cold" : "warm")
      .numbers("newMs", sides[0].ms)
      .numbers("oldMs", sides[1].ms)
      .numbers("copyMs", sides[2].ms)
      .numbers("newCycles", sides[0].cycles)
      .numbers("oldCycles", sides[1].cycles)
      .numberOrNull("smClockBeforeMHz", clockBefore)
      .numberOrNull("smClockAfterMHz", nvml.smClock())
      .print();
}
