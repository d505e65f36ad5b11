// A struct that the runner fills without knowing its type. The command line lists the offsets of its fields.
#pragma once

#include "parse.hpp"

#include <cfloat>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

constexpr size_t kMostStructBytes = 65536;

// A field of a struct, given as OFFSET:WHAT[:VALUE].
struct Field {
  // For the kinds from kBuffer onward, the values are known only when the struct is filled.
  enum Kind {
    kI32,
    kI64,
    kF32,
    kF64,
    kBuffer,
    kWorkspace,
    kWorkspaceBytes,
    kIn,
    kOut,
    kScale,
    kMask,
    kProgress,
    kSmCount
  } kind;
  size_t offset;
  long long integer;
  double real;
  std::string buffer;  // buffer name, for kBuffer, kIn, kOut, kScale and kMask

  size_t bytes() const { return kind == kI32 || kind == kF32 || kind == kSmCount ? 4 : 8; }
};

enum class StructOf { kRung, kReference };

inline Field parseField(const std::string& option, const std::string& text, StructOf whose) {
  struct Form {
    const char* name;
    Field::Kind kind;
    bool takesValue, ofRung, ofReference;
  };
  static constexpr Form kForms[] = {
      {"i32", Field::kI32, true, true, true},
      {"i64", Field::kI64, true, true, true},
      {"f32", Field::kF32, true, true, true},
      {"f64", Field::kF64, true, true, true},
      {"buffer", Field::kBuffer, true, true, false},
      {"workspace", Field::kWorkspace, false, true, false},
      {"workspace-bytes", Field::kWorkspaceBytes, false, true, false},
      {"in", Field::kIn, true, false, true},
      {"out", Field::kOut, true, false, true},
      {"scale", Field::kScale, true, false, true},
      {"mask", Field::kMask, true, false, true},
      {"progress", Field::kProgress, false, false, true},
      {"sm-count", Field::kSmCount, false, false, true},
  };
  const std::vector<std::string> parts = split(text, ':', 3);
  const std::string what = parts.size() > 1 ? parts[1] : "";
  for (const Form& form : kForms) {
    if (what != form.name || !(whose == StructOf::kRung ? form.ofRung : form.ofReference)) continue;
    if ((parts.size() == 3 && !parts[2].empty()) != form.takesValue) break;
    Field field{form.kind, 0, 0, 0, ""};
    const std::string named = option + " " + text;
    field.offset = size_t(parseInteger(named + ": the offset", parts[0], 0, kMostStructBytes));
    if (field.kind == Field::kI32) field.integer = parseInteger(named, parts[2], INT_MIN, INT_MAX);
    else if (field.kind == Field::kI64) field.integer = parseInteger(named, parts[2], LLONG_MIN, LLONG_MAX);
    else if (field.kind == Field::kF32) field.real = parseReal(named, parts[2], -FLT_MAX, FLT_MAX);
    else if (field.kind == Field::kF64) field.real = parseReal(named, parts[2], -DBL_MAX, DBL_MAX);
    else if (form.takesValue) field.buffer = parts[2];
    return field;
  }
  badArgument(
      option +
      (whose == StructOf::kRung
           ? " must be OFFSET:i32|i64|f32|f64:VALUE, OFFSET:buffer:NAME, OFFSET:workspace or OFFSET:workspace-bytes"
           : " must be OFFSET:i32|i64|f32|f64:VALUE, OFFSET:in|out|scale|mask:NAME, OFFSET:progress or OFFSET:sm-count") +
      ", not '" + text + "'");
}

// Checks that every field is aligned and inside the struct, and that no fields overlap.
inline void requireLayout(const std::string& option, size_t bytes, const std::vector<Field>& fields) {
  std::vector<bool> taken(bytes);
  for (const Field& field : fields) {
    const std::string named = option + " at " + std::to_string(field.offset);
    if (field.offset % field.bytes())
      badArgument(named + " is not aligned to its " + std::to_string(field.bytes()) + " bytes");
    if (field.offset + field.bytes() > bytes)
      badArgument(named + " lies beyond the struct's " + std::to_string(bytes) + " bytes");
    for (size_t at = field.offset; at < field.offset + field.bytes(); ++at) {
      if (taken[at]) badArgument(named + " overlaps another field");
      taken[at] = true;
    }
  }
}

// The bytes of a struct; unset bytes are zero.
class StructBytes {
 public:
  explicit StructBytes(size_t bytes = 0) : words_((bytes + 7) / 8) {}

  const void* data() const { return words_.data(); }

  template <typename T>
  void put(size_t offset, T value) {
    memcpy(reinterpret_cast<char*>(words_.data()) + offset, &value, sizeof value);
  }

  // Fills the fields. `resolve` returns the value (an address or a number) for kinds from kBuffer onward.
  template <typename Resolve>
  void put(const std::vector<Field>& fields, Resolve resolve) {
    for (const Field& field : fields) switch (field.kind) {
        case Field::kI32: put(field.offset, int(field.integer)); break;
        case Field::kI64: put(field.offset, field.integer); break;
        case Field::kF32: put(field.offset, float(field.real)); break;
        case Field::kF64: put(field.offset, field.real); break;
        case Field::kSmCount: put(field.offset, int(resolve(field))); break;
        default: put(field.offset, static_cast<unsigned long long>(resolve(field)));
      }
  }

 private:
  std::vector<unsigned long long> words_;  // aligned for every field
};
