// A case: a choice for everything that a task leaves open, as described on the command line. It has only sizes,
// names and files: the computation itself is up to the rungs and the reference.
#pragma once

#include "dtype.hpp"
#include "fill.hpp"
#include "struct.hpp"

#include <cfloat>
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
  std::string path;  // of the file it is filled from
  long long stream = 0;
  std::string text;  // as given: if equal in two cases, the buffers are equal

  long long count() const {
    long long product = 1;
    for (const long long extent : shape) product *= extent;
    return product;
  }
  size_t bytes() const { return size_t(count()) * dtype->bytes; }
  // Index of the element at an offset in memory.
  std::vector<long long> indexOf(long long at) const {
    std::vector<long long> index(shape.size());
    for (size_t d = shape.size(); d-- > 0; at /= shape[d]) index[d] = at % shape[d];
    return index;
  }
  bool written() const { return access != kIn; }
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
  std::string referenceLibrary, referenceRung;  // at most one of the two

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

// NAME:DTYPE:in|inout:SHAPE:FILL or NAME:DTYPE:out:SHAPE
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
  if (spec.fill.kind != FillRule::kFile) return spec;
  spec.path = parsePair(named, parts[4], ',', "file,PATH").second;
  NpyFile(spec.path, *spec.dtype, spec.shape);  // rejects a mismatch
  return spec;
}

// bound,VALUE or tolerance,RTOL,ATOL or exact
inline Check parseCheck(const std::string& option, const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts[0] == "exact" && parts.size() == 1) return {Check::kExact};
  if (parts[0] == "bound" && parts.size() == 2) return {Check::kBound, parseReal(option, parts[1], 0, DBL_MAX)};
  if (parts[0] == "tolerance" && parts.size() == 3)
    return {Check::kTolerance, 0, parseReal(option, parts[1], 0, DBL_MAX), parseReal(option, parts[2], 0, DBL_MAX)};
  badArgument(option + " must be NAME:bound,VALUE, NAME:tolerance,RTOL,ATOL or NAME:exact, not '" + text + "'");
}

// Parses an option of a case; false if it is not one.
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

// Validates a complete case. `checked`: its rungs' results will be checked.
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
  for (const auto& [name, number] : it.streams) known("--stream", name).stream = number;
  for (const auto& [name, check] : it.checks)
    if (!known("--check", name).written()) badArgument("--check" + where + " names " + name + ", which no rung writes");
  if (it.referenceLibrary.empty() != !it.referenceBytes)
    badArgument("--reference-library and --reference-struct" + where + " go together");
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
