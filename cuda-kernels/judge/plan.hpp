// A plan: the operations that a submission's host code described for each case. The judge checks the operations and
// writes the plan; see src-main/adapters/sandbox/replay-plan.ts. Each line is one entry with words separated by
// spaces.
//
//   module FILE                               a cubin, relative to the plan
//   case STRUCT-BYTES                         begins a case; the following lines belong to it
//   field OFFSET:WHAT                         a field of the launch struct, as for the runner
//   output BUFFER BYTES                       a buffer that the kernels write, by its number
//   reason TEXT                               why nothing is launched, to the end of the line
//   workspace BYTES
//   stack BYTES                               per thread, if the host code set it
//   symbol NAME                               a variable that the host accesses, in dummy address order
//   launch KERNEL GX GY GZ BX BY BZ SHARED CLUSTER ARGUMENTS   arguments in hexadecimal, - for none
//   fill TO VALUE BYTES                       fills, copies and launches are in execution order
//   copy TO FROM BYTES
//   data TO HEX
//   file TO PATH BYTES                        the contents of a file, relative to the plan
#pragma once

#include "../runner/errors.hpp"
#include "../runner/struct.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct Step {
  enum Kind { kLaunch, kFill, kCopy, kData } kind;
  unsigned long long to = 0, from = 0;
  size_t bytes = 0;
  int value = 0;
  std::vector<unsigned char> data;  // launch arguments, or data copied from the host
  std::string kernel;
  unsigned grid[3] = {}, block[3] = {}, shared = 0, cluster = 0;
};

struct Output {
  size_t buffer, bytes;
};

struct PlanCase {
  size_t structBytes = 0, workspaceBytes = 0;
  long long stackBytes = -1;
  std::string reason;
  std::vector<Field> fields;
  std::vector<std::string> symbols;
  std::vector<Output> outputs;
  std::vector<Step> steps;
};

struct Plan {
  std::vector<std::string> modules;  // paths
  std::vector<PlanCase> cases;
};

// The probe's dummy addresses: one range per buffer (0 is the workspace), then one per variable from kFirstSymbol on.
constexpr unsigned long long kDummyBase = 0x4b4c000000000000;
constexpr int kDummyShift = 38;
constexpr size_t kFirstSymbol = 128, kDummyRanges = 256;

inline std::vector<unsigned char> fromHexadecimal(const std::string& text) {
  std::vector<unsigned char> bytes(text.size() / 2);
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
  return bytes;
}

inline std::vector<unsigned char> readWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) badArgument("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline Plan readPlan(const std::string& path) {
  std::ifstream file(path);
  if (!file) badArgument("cannot read " + path);
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  Plan plan;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string kind, text;
    words >> kind;
    if (kind.empty() || kind[0] == '#') continue;
    if (kind == "module") {
      words >> text;
      plan.modules.push_back(folder + text);
      continue;
    }
    if (kind == "case") {
      plan.cases.emplace_back();
      words >> plan.cases.back().structBytes;
      continue;
    }
    if (plan.cases.empty()) badArgument(path + ": " + kind + " before the first case");
    PlanCase& own = plan.cases.back();
    Step step{};
    if (kind == "field") {
      words >> text;
      own.fields.push_back(parseField(kind, text, StructOf::kRung));
    } else if (kind == "output") {
      Output output{};
      words >> output.buffer >> output.bytes;
      own.outputs.push_back(output);
    } else if (kind == "reason") std::getline(words >> std::ws, own.reason);
    else if (kind == "workspace") words >> own.workspaceBytes;
    else if (kind == "stack") words >> own.stackBytes;
    else if (kind == "symbol") {
      words >> text;
      own.symbols.push_back(text);
    } else if (kind == "launch") {
      step.kind = Step::kLaunch;
      words >> step.kernel;
      for (unsigned& extent : step.grid) words >> extent;
      for (unsigned& extent : step.block) words >> extent;
      words >> step.shared >> step.cluster >> text;
      if (text != "-") step.data = fromHexadecimal(text);
      own.steps.push_back(step);
    } else if (kind == "fill") {
      step.kind = Step::kFill;
      words >> step.to >> step.value >> step.bytes;
      own.steps.push_back(step);
    } else if (kind == "copy") {
      step.kind = Step::kCopy;
      words >> step.to >> step.from >> step.bytes;
      own.steps.push_back(step);
    } else if (kind == "data" || kind == "file") {
      step.kind = Step::kData;
      words >> step.to >> text;
      step.data = kind == "data" ? fromHexadecimal(text) : readWhole(folder + text);
      step.bytes = step.data.size();
      own.steps.push_back(step);
    } else badArgument(path + ": unknown line: " + kind);
    if (words.fail()) badArgument(path + ": damaged line: " + kind);
  }
  return plan;
}
