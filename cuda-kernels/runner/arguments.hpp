// The command line, strictly: an unknown, repeated, missing or half-numeric option is an error.
#pragma once

#include "../include/kernel_ladder.h"
#include "errors.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

struct RungPath {
  std::string id, path;
};

struct Arguments {
  enum Command { kDevice, kMeasure, kProfile, kSanitize } command;
  long long m = 0, n = 0, k = 0, seed = 1;
  float alpha = 1, beta = 0;
  KlDtype dtype = KL_F32;
  bool flushL2 = false;
  bool ceilings = false;      // measure what the GPU reaches at best, first
  std::string reference;      // id of a rung, or empty
  double maxSeconds = 2;      // of sampling, a rung
  long long maxSamples = 100, minSamples = 5;
  long long ownerPid = 0;     // 0: nobody to follow
  std::vector<RungPath> rungs;
};

[[noreturn]] inline void badArgument(const std::string& message) {
  throw RunnerError{kBadInput, "bad-argument", message};
}

inline long long parseInteger(const std::string& option, const char* text, long long low, long long high) {
  char* end = nullptr;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (end == text || *end || errno || value < low || value > high)
    badArgument(option + " must be an integer from " + std::to_string(low) + " to " + std::to_string(high) +
                ", not '" + text + "'");
  return value;
}

inline double parseReal(const std::string& option, const char* text, double low, double high) {
  char* end = nullptr;
  const double value = strtod(text, &end);
  if (end == text || *end || !(value >= low && value <= high))
    badArgument(option + " must be a number from " + Json::text(low) + " to " + Json::text(high) + ", not '" +
                text + "'");
  return value;
}

inline RungPath parseRung(const std::string& text) {
  const size_t split = text.find('=');
  if (split == std::string::npos || split == 0 || split + 1 == text.size())
    badArgument("--rung must be ID=/path/to/library.so, not '" + text + "'");
  return {text.substr(0, split), text.substr(split + 1)};
}

inline Arguments parseArguments(int count, char** values) {
  Arguments args;
  const std::string command = count > 1 ? values[1] : "";
  if (command == "device") args.command = Arguments::kDevice;
  else if (command == "measure") args.command = Arguments::kMeasure;
  else if (command == "profile") args.command = Arguments::kProfile;
  else if (command == "sanitize") args.command = Arguments::kSanitize;
  else badArgument("the command must be device, measure, profile or sanitize, not '" + command + "'");

  const bool measuring = args.command == Arguments::kMeasure;
  std::set<std::string> seen;
  for (int i = 2; i < count; ++i) {
    const std::string option = values[i];
    if (option != "--rung" && !seen.insert(option).second) badArgument(option + " was given twice");
    const auto next = [&]() -> const char* {
      if (++i == count) badArgument(option + " needs a value");
      return values[i];
    };
    const auto only = [&](bool applies) {
      if (!applies) badArgument(option + " does not apply to " + command);
    };
    if (option == "--owner-pid") args.ownerPid = parseInteger(option, next(), 1, 1LL << 30);
    else if (args.command == Arguments::kDevice) badArgument("unknown option of device: " + option);
    else if (option == "--m") args.m = parseInteger(option, next(), 1, KL_MAX_DIMENSION);
    else if (option == "--n") args.n = parseInteger(option, next(), 1, KL_MAX_DIMENSION);
    else if (option == "--k") args.k = parseInteger(option, next(), 1, KL_MAX_DIMENSION);
    else if (option == "--seed") args.seed = parseInteger(option, next(), 0, 1LL << 53);
    else if (option == "--alpha") args.alpha = float(parseReal(option, next(), -1e30, 1e30));
    else if (option == "--beta") args.beta = float(parseReal(option, next(), -1e30, 1e30));
    else if (option == "--rung") args.rungs.push_back(parseRung(next()));
    else if (option == "--dtype") {
      const std::string name = next();
      if (name == "f32") args.dtype = KL_F32;
      else if (name == "f16") args.dtype = KL_F16;
      else if (name == "bf16") args.dtype = KL_BF16;
      else badArgument("--dtype must be f32, f16 or bf16, not '" + name + "'");
    }
    else if (option == "--flush-l2") { only(measuring); args.flushL2 = true; }
    else if (option == "--ceilings") { only(measuring); args.ceilings = true; }
    else if (option == "--reference") { only(measuring); args.reference = next(); }
    else if (option == "--max-seconds") { only(measuring); args.maxSeconds = parseReal(option, next(), 0, 3600); }
    else if (option == "--max-samples") { only(measuring); args.maxSamples = parseInteger(option, next(), 1, 10000); }
    else if (option == "--min-samples") { only(measuring); args.minSamples = parseInteger(option, next(), 1, 10000); }
    else badArgument("unknown option: " + option);
  }
  if (args.command == Arguments::kDevice) return args;

  if (!args.m || !args.n || !args.k) badArgument("--m, --n and --k are required");
  if (args.rungs.empty()) badArgument("at least one --rung is required");
  std::set<std::string> ids;
  for (const RungPath& rung : args.rungs)
    if (!ids.insert(rung.id).second) badArgument("--rung " + rung.id + " was given twice");
  if (!args.reference.empty() && !ids.count(args.reference))
    badArgument("--reference " + args.reference + " is not one of the rungs");
  if (args.minSamples > args.maxSamples) badArgument("--min-samples is more than --max-samples");
  return args;
}
