// A case: the values of all parameters that a task leaves open, as given on the command line. A case has only sizes,
// names and files. The rungs and the reference define the computation itself.
#pragma once

#include "dtype.hpp"
#include "fill.hpp"
#include "struct.hpp"

#include <algorithm>
#include <cfloat>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

struct BufferSpec {
  enum Access { kIn, kOut, kInOut };
  std::string name;
  const DtypeFacts* dtype = nullptr;
  Access access = kIn;
  std::vector<long long> shape;
  FillRule fill;
  std::string path;  // the file that fills the buffer
  long long stream = 0;
  int unwritten = 0xff;  // value of each output byte before a launch
  std::string text;  // the argument's text; cases share read-only buffers with equal text

  long long count() const {
    long long product = 1;
    for (const long long extent : shape) product *= extent;
    return product;
  }
  size_t bytes() const { return size_t(count()) * dtype->bytes; }
  // Returns the index of the element at an offset in memory.
  std::vector<long long> indexOf(long long at) const {
    std::vector<long long> index(shape.size());
    for (size_t d = shape.size(); d-- > 0; at /= shape[d]) index[d] = at % shape[d];
    return index;
  }
  bool written() const { return access != kIn; }
  bool computed() const { return fill.kind == FillRule::kComputed; }
};

struct Check {
  enum Kind { kBound, kTolerance, kExact } kind;
  double bound = 0, relative = 0, absolute = 0;
};

struct Case {
  std::string name;
  size_t structBytes = 0, referenceBytes = 0;
  std::vector<Field> fields, referenceFields;
  std::vector<BufferSpec> buffers;
  std::map<std::string, long long> streams;
  std::map<std::string, Check> checks;
  std::string referenceLibrary, referenceRung;  // only one of these two members is set
  bool zeroWorkspace = false;  // zero the workspace before each launch

  // Returns whether inputs contain infinities or NaN.
  bool special() const {
    return std::any_of(buffers.begin(), buffers.end(), [](const BufferSpec& spec) { return spec.fill.every > 0; });
  }

  // Returns whether some inputs are computed from other inputs.
  bool computesInputs() const {
    return std::any_of(buffers.begin(), buffers.end(), [](const BufferSpec& spec) { return spec.computed(); });
  }

  const BufferSpec* find(const std::string& buffer) const {
    for (const BufferSpec& spec : buffers)
      if (spec.name == buffer) return &spec;
    return nullptr;
  }
  bool hasReferenceField(Field::Kind kind, const std::string& buffer) const {
    for (const Field& field : referenceFields)
      if (field.kind == kind && field.buffer == buffer) return true;
    return false;
  }
};

inline std::vector<long long> parseShape(const std::string& option, const std::string& text) {
  constexpr long long kMostElements = 1LL << 56;
  std::vector<long long> shape;
  long long count = 1;
  for (const std::string& part : split(text, 'x')) {
    shape.push_back(parseInteger(option + ": an extent", part, 1, kMostElements));
    if (shape.back() > kMostElements / count) badArgument(option + " has more than 2^56 elements: " + text);
    count *= shape.back();
  }
  return shape;
}

// Parses NAME:DTYPE:in|inout:SHAPE:FILL or NAME:DTYPE:out:SHAPE.
inline BufferSpec parseBuffer(const std::string& option, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':', 5);
  const std::string access = parts.size() > 2 ? parts[2] : "";
  BufferSpec spec;
  spec.text = text;
  if (access == "in") spec.access = BufferSpec::kIn;
  else if (access == "out") spec.access = BufferSpec::kOut;
  else if (access == "inout") spec.access = BufferSpec::kInOut;
  else badArgument(option + " must be NAME:DTYPE:in|inout:SHAPE:FILL or NAME:DTYPE:out:SHAPE, not '" + text + "'");
  if (parts.size() != (access == "out" ? 4 : 5))
    badArgument(option + ": an " + access + (access == "out" ? " takes no fill" : " needs a fill") + ", not '" + text +
                "'");
  spec.name = parts[0];
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", digits = "0123456789";
  if (spec.name.find_first_not_of(letters + digits) != std::string::npos || spec.name.find_first_of(letters) != 0)
    badArgument(option + ": the name must be letters, digits and _, not '" + spec.name + "'");
  const std::string named = option + " " + spec.name;
  spec.dtype = &factsOf(parseDtype(named, parts[1]));
  spec.shape = parseShape(named, parts[3]);
  if (access == "out") return spec;
  spec.fill = parseFill(named, parts[4], *spec.dtype, spec.count());
  spec.fill.line = spec.shape.back();
  if (spec.fill.kind != FillRule::kFile) return spec;
  spec.path = parsePair(named, parts[4], ',', "file,PATH").second;
  NpyFile(spec.path, *spec.dtype, spec.shape);  // throws if the file has a different type or shape
  return spec;
}

// Parses bound,VALUE or tolerance,RTOL,ATOL or exact.
inline Check parseCheck(const std::string& option, const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts[0] == "exact" && parts.size() == 1) return {Check::kExact};
  if (parts[0] == "bound" && parts.size() == 2) return {Check::kBound, parseReal(option, parts[1], 0, DBL_MAX)};
  if (parts[0] == "tolerance" && parts.size() == 3)
    return {Check::kTolerance, 0, parseReal(option, parts[1], 0, DBL_MAX), parseReal(option, parts[2], 0, DBL_MAX)};
  badArgument(option + " must be NAME:bound,VALUE, NAME:tolerance,RTOL,ATOL or NAME:exact, not '" + text + "'");
}

// Parses a case option. Returns false if the option does not belong to a case.
template <typename Next>
bool parseCaseOption(Case& to, const std::string& option, Next next) {
  const auto once = [&](bool given, const std::string& of = "") {
    if (given) badArgument(option + (of.empty() ? "" : " " + of) + " was given twice for the case " + to.name);
  };
  if (option == "--struct" || option == "--reference-struct") {
    size_t& bytes = option == "--struct" ? to.structBytes : to.referenceBytes;
    once(bytes != 0);
    bytes = size_t(parseInteger(option, next(), 1, kMostStructBytes));
  } else if (option == "--field") {
    to.fields.push_back(parseField(option, next(), StructOf::kRung));
  } else if (option == "--reference-field") {
    to.referenceFields.push_back(parseField(option, next(), StructOf::kReference));
  } else if (option == "--buffer") {
    BufferSpec spec = parseBuffer(option, next());
    once(to.find(spec.name), spec.name);
    spec.stream = (long long)to.buffers.size();
    to.buffers.push_back(spec);
  } else if (option == "--stream") {
    const auto [name, number] = parsePair(option, next(), ':', "NAME:NUMBER");
    once(!to.streams.emplace(name, parseInteger(option, number, 0, INT_MAX)).second, name);
  } else if (option == "--workspace") {
    once(to.zeroWorkspace);
    if (const std::string word = next(); word != "zero") badArgument(option + " must be zero, not '" + word + "'");
    to.zeroWorkspace = true;
  } else if (option == "--check") {
    const auto [name, check] =
        parsePair(option, next(), ':', "NAME:bound,VALUE, NAME:tolerance,RTOL,ATOL or NAME:exact");
    once(!to.checks.emplace(name, parseCheck(option, check)).second, name);
  } else if (option == "--reference-library" || option == "--reference-rung") {
    once(!to.referenceLibrary.empty() || !to.referenceRung.empty());
    (option == "--reference-library" ? to.referenceLibrary : to.referenceRung) = next();
  } else {
    return false;
  }
  return true;
}

// Validates a complete case. `checked`: the results of the case's rungs will be verified.
inline void finishCase(Case& it, bool checked) {
  const std::string where = " of the case " + it.name;
  const auto known = [&](const std::string& option, const std::string& name) -> BufferSpec& {
    for (BufferSpec& spec : it.buffers)
      if (spec.name == name) return spec;
    badArgument(option + where + " names " + name + ", which is not one of its buffers");
  };
  if (!it.structBytes) badArgument("--struct" + where + " is required");
  requireLayout("--field" + where, it.structBytes, it.fields);
  requireLayout("--reference-field" + where, it.referenceBytes, it.referenceFields);
  for (const Field& field : it.fields)
    if (field.kind == Field::kBuffer) known("--field", field.buffer);
  for (const Field& field : it.referenceFields)
    if (!field.buffer.empty()) known("--reference-field", field.buffer);
  // If NaN may be a correct result, unwritten elements get a number instead. In every type, this number is far from any
  // computed value.
  if (it.special())
    for (BufferSpec& spec : it.buffers) spec.unwritten = 0x7b;
  for (const auto& [name, number] : it.streams) known("--stream", name).stream = number;
  for (const auto& [name, check] : it.checks)
    if (!known("--check", name).written()) badArgument("--check" + where + " names " + name + ", which no rung writes");
  if (it.referenceLibrary.empty() != !it.referenceBytes)
    badArgument("--reference-library and --reference-struct" + where + " go together");
  if (it.computesInputs() && it.referenceLibrary.empty())
    badArgument("--reference-library" + where + " is required: it computes inputs");
  if (!checked) return;

  if (it.referenceLibrary.empty() && it.referenceRung.empty())
    badArgument("--reference-library or --reference-rung" + where +
                " is required: there is nothing to check a result against");
  for (const BufferSpec& spec : it.buffers) {
    if (!spec.written()) continue;
    const auto check = it.checks.find(spec.name);
    if (check == it.checks.end()) badArgument("--check" + where + " is required for " + spec.name);
    if (!it.referenceLibrary.empty() && !it.hasReferenceField(Field::kOut, spec.name))
      badArgument("--reference-field" + where + " has no out:" + spec.name);
    if (check->second.kind == Check::kBound && !it.hasReferenceField(Field::kScale, spec.name))
      badArgument("--check" + where + ": a bound on " + spec.name +
                  " needs its scale, a --reference-field scale:" + spec.name);
  }
}

// Strict command-line parsing: an unknown, repeated, missing or half-numeric option is an error.

struct RungPath {
  std::string id, path;
  const Case* at = nullptr;
};

// Two builds of a rung and a copy of the old build, timed alternately.
struct RungPair {
  std::string now, before, copy;
};

struct Arguments {
  enum Command { kDevice, kMeasure, kBlind, kCheck, kCompare, kProfile, kSanitize, kProbe } command;
  long long seed = 1;
  bool cold = true;  // flush L2 before each timed launch
  bool ceilings = false;  // measure the GPU's ceilings first
  std::string reference;  // id of the rung that every other rung is timed against, or empty
  double maxSeconds = 2;  // sampling time per rung or pair
  long long maxSamples = 100, minSamples = 5;
  long long bursts = 0;    // measure: number of bursts to time, each after a rest
  double sustainedSeconds = 0;  // measure: seconds of sustained launches to time
  long long round = 0;     // compare: selects the memory addresses and launch order of the builds
  std::string results;     // blind, check: the folder with the launches that a second process checks
  long long ownerPid = 0;  // 0: no owner
  std::list<Case> cases;   // a std::list, because rungs store pointers to its elements
  std::vector<RungPath> rungs;
  std::vector<RungPair> pairs;  // compare only

  // Returns the cases that have a rung, in order.
  std::vector<const Case*> usedCases() const {
    std::vector<const Case*> used;
    for (const Case& one : cases)
      if (std::any_of(rungs.begin(), rungs.end(), [&](const RungPath& rung) { return rung.at == &one; }))
        used.push_back(&one);
    return used;
  }
};

// Assigns each rung to its case and rejects inconsistent arguments.
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
  if ((args.command == Arguments::kBlind || args.command == Arguments::kCheck) && args.results.empty())
    badArgument("--results is required");
  if (args.minSamples > args.maxSamples) badArgument("--min-samples is more than --max-samples");

  const std::vector<const Case*> used = args.usedCases();
  const bool measuring = args.command == Arguments::kMeasure || args.command == Arguments::kCheck;
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
  else if (command == "blind") args.command = Arguments::kBlind;
  else if (command == "check") args.command = Arguments::kCheck;
  else if (command == "compare") args.command = Arguments::kCompare;
  else if (command == "profile") args.command = Arguments::kProfile;
  else if (command == "sanitize") args.command = Arguments::kSanitize;
  else if (command == "probe") args.command = Arguments::kProbe;
  else badArgument("the command must be device, probe, measure, blind, check, compare, profile or sanitize, not '" + command + "'");

  const bool alone = args.command == Arguments::kDevice || args.command == Arguments::kProbe;  // commands without rungs
  const bool measuring = args.command == Arguments::kMeasure, comparing = args.command == Arguments::kCompare;
  const bool blind = args.command == Arguments::kBlind, checking = args.command == Arguments::kCheck;
  const bool timing = measuring || comparing || blind;
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
    else if (option == "--warm") {
      only(timing);
      args.cold = false;
    } else if (option == "--ceilings") {
      only(measuring);
      args.ceilings = true;
    } else if (option == "--bursts") {
      only(measuring);
      args.bursts = parseInteger(option, next(), 1, 100);
    } else if (option == "--sustained") {
      only(measuring);
      args.sustainedSeconds = parseReal(option, next(), 0, 600);
    } else if (option == "--reference") {
      only(measuring);
      args.reference = next();
    } else if (option == "--results") {
      only(blind || checking);
      args.results = next();
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
      only(measuring || blind);
      args.minSamples = parseInteger(option, next(), 1, 10000);
    } else badArgument("unknown option: " + option);
  }
  if (!alone) finishArguments(args, rungCases);
  return args;
}
