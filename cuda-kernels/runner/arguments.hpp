// Strict command-line parsing: an unknown, repeated, missing or half-numeric option is an error.
#pragma once

#include "cases.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

struct RungPath {
  std::string id, path;
  const Case* at = nullptr;
};

// Two builds of a rung and a copy of the old one, timed in turn.
struct RungPair {
  std::string now, before, copy;
};

struct Arguments {
  enum Command { kDevice, kMeasure, kCompare, kProfile, kSanitize, kProbe } command;
  long long seed = 1;
  bool flushL2 = false;
  bool ceilings = false;  // measure the GPU's ceilings first
  std::string reference;  // id of the rung that the others are timed against, or empty
  double maxSeconds = 2;  // of sampling per rung or pair
  long long maxSamples = 100, minSamples = 5;
  long long bursts = 0;    // measure: also times this many bursts of launches after a rest
  long long round = 0;     // compare: decides where builds lie and which is launched first
  long long ownerPid = 0;  // 0: no owner
  std::list<Case> cases;   // a list, because rungs point into it
  std::vector<RungPath> rungs;
  std::vector<RungPair> pairs;  // compare

  // Cases that have a rung, in order.
  std::vector<const Case*> usedCases() const {
    std::vector<const Case*> used;
    for (const Case& one : cases)
      if (std::any_of(rungs.begin(), rungs.end(), [&](const RungPath& rung) { return rung.at == &one; }))
        used.push_back(&one);
    return used;
  }
};

// Gives each rung its case and rejects inconsistent arguments.
inline void finishArguments(Arguments& args, const std::map<std::string, std::string>& rungCases) {
  if (args.cases.empty()) badArgument("at least one --case is required");
  if (args.rungs.empty()) badArgument("at least one --rung is required");
  std::set<std::string> ids;
  for (RungPath& rung : args.rungs) {
    if (!ids.insert(rung.id).second) badArgument("--rung " + rung.id + " was given twice");
    const auto own = rungCases.find(rung.id);
    const std::string name = own == rungCases.end() ? args.cases.front().name : own->second;
    for (const Case& one : args.cases)
      if (one.name == name) rung.at = &one;
    if (!rung.at) badArgument("--rung-case " + rung.id + " names " + name + ", which is not a --case");
  }
  for (const auto& [id, name] : rungCases)
    if (!ids.count(id)) badArgument("--rung-case " + id + " is not one of the rungs");
  if (!args.reference.empty() && !ids.count(args.reference))
    badArgument("--reference " + args.reference + " is not one of the rungs");
  for (const RungPair& pair : args.pairs) {
    for (const std::string& id : {pair.now, pair.before, pair.copy})
      if (!ids.count(id)) badArgument("--pair names " + id + ", which is not one of the rungs");
    if (std::set<std::string>{pair.now, pair.before, pair.copy}.size() < 3)
      badArgument("--pair " + pair.now + " names one rung twice");
  }
  if (args.command == Arguments::kCompare && args.pairs.empty()) badArgument("at least one --pair is required");
  if (args.minSamples > args.maxSamples) badArgument("--min-samples is more than --max-samples");

  const std::vector<const Case*> used = args.usedCases();
  const bool measuring = args.command == Arguments::kMeasure;
  for (Case& one : args.cases) {
    const bool checked = measuring && std::find(used.begin(), used.end(), &one) != used.end();
    finishCase(one, checked);
    if (!checked || one.referenceRung.empty()) continue;
    const auto isIt = [&](const RungPath& rung) { return rung.id == one.referenceRung && rung.at == &one; };
    if (std::none_of(args.rungs.begin(), args.rungs.end(), isIt))
      badArgument("--reference-rung " + one.referenceRung + " is not one of the rungs of the case " + one.name);
  }
}

inline Arguments parseArguments(int count, char** values) {
  Arguments args;
  const std::string command = count > 1 ? values[1] : "";
  if (command == "device") args.command = Arguments::kDevice;
  else if (command == "measure") args.command = Arguments::kMeasure;
  else if (command == "compare") args.command = Arguments::kCompare;
  else if (command == "profile") args.command = Arguments::kProfile;
  else if (command == "sanitize") args.command = Arguments::kSanitize;
  else if (command == "probe") args.command = Arguments::kProbe;
  else badArgument("the command must be device, probe, measure, compare, profile or sanitize, not '" + command + "'");

  const bool alone = args.command == Arguments::kDevice || args.command == Arguments::kProbe;  // without rungs
  const bool measuring = args.command == Arguments::kMeasure, comparing = args.command == Arguments::kCompare;
  const bool timing = measuring || comparing;
  std::set<std::string> seen;
  std::map<std::string, std::string> rungCases;
  for (int i = 2; i < count; ++i) {
    const std::string option = values[i];
    const auto next = [&]() -> std::string {
      if (++i == count) badArgument(option + " needs a value");
      return values[i];
    };
    const auto only = [&](bool applies) {
      if (!applies) badArgument(option + " does not apply to " + command);
    };
    if (!alone) {
      if (option == "--case") {
        const std::string name = next();
        for (const Case& one : args.cases)
          if (one.name == name) badArgument("--case " + name + " was given twice");
        args.cases.emplace_back().name = name;
        continue;
      }
      if (option == "--rung") {
        const auto [id, path] = parsePair(option, next(), '=', "ID=/path/to/library.so");
        args.rungs.push_back({id, path});
        continue;
      }
      if (option == "--pair") {
        only(comparing);
        const char* const form = "NEW=OLD=COPY";
        const auto [now, others] = parsePair(option, next(), '=', form);
        const auto [before, copy] = parsePair(option, others, '=', form);
        args.pairs.push_back({now, before, copy});
        continue;
      }
      if (option == "--rung-case") {
        const auto [id, name] = parsePair(option, next(), '=', "ID=CASE");
        if (!rungCases.emplace(id, name).second) badArgument("--rung-case " + id + " was given twice");
        continue;
      }
      Case none;
      if (parseCaseOption(args.cases.empty() ? none : args.cases.back(), option, next)) {
        if (args.cases.empty()) badArgument(option + " belongs to a --case, which must come before it");
        continue;
      }
    }
    if (!seen.insert(option).second) badArgument(option + " was given twice");
    if (option == "--owner-pid") args.ownerPid = parseInteger(option, next(), 1, 1LL << 30);
    else if (alone) badArgument("unknown option of " + command + ": " + option);
    else if (option == "--seed") args.seed = parseInteger(option, next(), 0, 1LL << 53);
    else if (option == "--flush-l2") {
      only(timing);
      args.flushL2 = true;
    } else if (option == "--ceilings") {
      only(measuring);
      args.ceilings = true;
    } else if (option == "--bursts") {
      only(measuring);
      args.bursts = parseInteger(option, next(), 1, 100);
    } else if (option == "--reference") {
      only(measuring);
      args.reference = next();
    } else if (option == "--round") {
      only(comparing);
      args.round = parseInteger(option, next(), 0, 1 << 20);
    } else if (option == "--max-seconds") {
      only(timing);
      args.maxSeconds = parseReal(option, next(), 0, 3600);
    } else if (option == "--max-samples") {
      only(timing);
      args.maxSamples = parseInteger(option, next(), 1, 10000);
    } else if (option == "--min-samples") {
      only(measuring);
      args.minSamples = parseInteger(option, next(), 1, 10000);
    } else badArgument("unknown option: " + option);
  }
  if (!alone) finishArguments(args, rungCases);
  return args;
}
