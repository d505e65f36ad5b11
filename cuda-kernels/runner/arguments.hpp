// The command line, strictly: an unknown, repeated, missing or half-numeric option is an error.
#pragma once

#include "../include/kernel_ladder.h"
#include "errors.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

// What a rung computes beside the product.
struct Epilogue {
  bool bias = false;
  KlActivation activation = KL_NONE;
};

struct RungPath {
  std::string id, path;
  KlDtype dtype = KL_F32;  // of its inputs
  Epilogue epilogue = {};
};

struct Arguments {
  enum Command { kDevice, kMeasure, kProfile, kSanitize, kProbe } command;
  long long m = 0, n = 0, k = 0, seed = 1;
  float alpha = 1, beta = 0;
  KlDtype dtype = KL_F32;     // of the rungs that --rung-dtype does not name
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

inline KlDtype parseDtype(const std::string& option, const std::string& name) {
  if (name == "f32") return KL_F32;
  if (name == "f16") return KL_F16;
  if (name == "bf16") return KL_BF16;
  badArgument(option + " must be f32, f16 or bf16, not '" + name + "'");
}

// bias, relu or bias+relu
inline Epilogue parseEpilogue(const std::string& option, const std::string& text) {
  Epilogue epilogue;
  if (text == "bias" || text == "bias+relu") epilogue.bias = true;
  if (text == "relu" || text == "bias+relu") epilogue.activation = KL_RELU;
  if (!epilogue.bias && epilogue.activation == KL_NONE)
    badArgument(option + " must be bias, relu or bias+relu, not '" + text + "'");
  return epilogue;
}

// ID=VALUE
inline std::pair<std::string, std::string> parsePair(const std::string& option, const std::string& text, const char* value) {
  const size_t split = text.find('=');
  if (split == std::string::npos || split == 0 || split + 1 == text.size())
    badArgument(option + " must be ID=" + value + ", not '" + text + "'");
  return {text.substr(0, split), text.substr(split + 1)};
}

inline Arguments parseArguments(int count, char** values) {
  Arguments args;
  const std::string command = count > 1 ? values[1] : "";
  if (command == "device") args.command = Arguments::kDevice;
  else if (command == "measure") args.command = Arguments::kMeasure;
  else if (command == "profile") args.command = Arguments::kProfile;
  else if (command == "sanitize") args.command = Arguments::kSanitize;
  else if (command == "probe") args.command = Arguments::kProbe;
  else badArgument("the command must be device, probe, measure, profile or sanitize, not '" + command + "'");

  const bool alone = args.command == Arguments::kDevice || args.command == Arguments::kProbe;  // takes no rungs
  const bool measuring = args.command == Arguments::kMeasure;
  std::set<std::string> seen;
  std::map<std::string, KlDtype> rungDtypes;
  std::map<std::string, Epilogue> rungEpilogues;
  for (int i = 2; i < count; ++i) {
    const std::string option = values[i];
    const bool repeats = option == "--rung" || option == "--rung-dtype" || option == "--rung-epilogue";
    if (!repeats && !seen.insert(option).second) badArgument(option + " was given twice");
    const auto next = [&]() -> const char* {
      if (++i == count) badArgument(option + " needs a value");
      return values[i];
    };
    const auto only = [&](bool applies) {
      if (!applies) badArgument(option + " does not apply to " + command);
    };
    if (option == "--owner-pid") args.ownerPid = parseInteger(option, next(), 1, 1LL << 30);
    else if (alone) badArgument("unknown option of " + command + ": " + option);
    else if (option == "--m") args.m = parseInteger(option, next(), 1, KL_MAX_DIMENSION);
    else if (option == "--n") args.n = parseInteger(option, next(), 1, KL_MAX_DIMENSION);
    else if (option == "--k") args.k = parseInteger(option, next(), 1, KL_MAX_DIMENSION);
    else if (option == "--seed") args.seed = parseInteger(option, next(), 0, 1LL << 53);
    else if (option == "--alpha") args.alpha = float(parseReal(option, next(), -1e30, 1e30));
    else if (option == "--beta") args.beta = float(parseReal(option, next(), -1e30, 1e30));
    else if (option == "--rung") {
      const auto [id, path] = parsePair(option, next(), "/path/to/library.so");
      args.rungs.push_back({id, path});
    }
    else if (option == "--rung-dtype") {
      const auto [id, name] = parsePair(option, next(), "f16");
      if (!rungDtypes.emplace(id, parseDtype(option, name)).second) badArgument("--rung-dtype " + id + " was given twice");
    }
    else if (option == "--rung-epilogue") {
      const auto [id, words] = parsePair(option, next(), "bias+relu");
      if (!rungEpilogues.emplace(id, parseEpilogue(option, words)).second)
        badArgument("--rung-epilogue " + id + " was given twice");
    }
    else if (option == "--dtype") args.dtype = parseDtype(option, next());
    else if (option == "--flush-l2") { only(measuring); args.flushL2 = true; }
    else if (option == "--ceilings") { only(measuring); args.ceilings = true; }
    else if (option == "--reference") { only(measuring); args.reference = next(); }
    else if (option == "--max-seconds") { only(measuring); args.maxSeconds = parseReal(option, next(), 0, 3600); }
    else if (option == "--max-samples") { only(measuring); args.maxSamples = parseInteger(option, next(), 1, 10000); }
    else if (option == "--min-samples") { only(measuring); args.minSamples = parseInteger(option, next(), 1, 10000); }
    else badArgument("unknown option: " + option);
  }
  if (alone) return args;

  if (!args.m || !args.n || !args.k) badArgument("--m, --n and --k are required");
  if (args.rungs.empty()) badArgument("at least one --rung is required");
  std::set<std::string> ids;
  for (RungPath& rung : args.rungs) {
    if (!ids.insert(rung.id).second) badArgument("--rung " + rung.id + " was given twice");
    const auto own = rungDtypes.find(rung.id);
    rung.dtype = own == rungDtypes.end() ? args.dtype : own->second;
    if (const auto epilogue = rungEpilogues.find(rung.id); epilogue != rungEpilogues.end()) rung.epilogue = epilogue->second;
  }
  for (const auto& [id, dtype] : rungDtypes)
    if (!ids.count(id)) badArgument("--rung-dtype " + id + " is not one of the rungs");
  for (const auto& [id, epilogue] : rungEpilogues)
    if (!ids.count(id)) badArgument("--rung-epilogue " + id + " is not one of the rungs");
  if (!args.reference.empty() && !ids.count(args.reference))
    badArgument("--reference " + args.reference + " is not one of the rungs");
  if (args.minSamples > args.maxSamples) badArgument("--min-samples is more than --max-samples");
  return args;
}
