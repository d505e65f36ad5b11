// Times two builds of a rung in turn, beside a copy of the old one.
#pragma once

#include "clock-stamps.hpp"
#include "heartbeat.hpp"
#include "stopwatch.hpp"

#include <array>

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
inline void compareRungs(const Builds& builds, const Arguments& args, Stopwatch& stopwatch, const Nvml& nvml) {
  constexpr double kWarmUpSeconds = 0.05;
  constexpr int kMostTries = 20;  // a block has all of its launches, or it is no comparison
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
