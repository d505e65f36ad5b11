// Strict parsing of command-line values: a number with trailing characters is an error.
#pragma once

#include "errors.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

[[noreturn]] inline void badArgument(const std::string& message) {
  throw RunnerError{kBadInput, "bad-argument", message};
}

inline long long parseInteger(const std::string& option, const std::string& text, long long low, long long high) {
  char* end = nullptr;
  errno = 0;
  const long long value = strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || *end || errno || value < low || value > high)
    badArgument(option + " must be an integer from " + std::to_string(low) + " to " + std::to_string(high) + ", not '" +
                text + "'");
  return value;
}

inline double parseReal(const std::string& option, const std::string& text, double low, double high) {
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (end == text.c_str() || *end || !(value >= low && value <= high))
    badArgument(option + " must be a number from " + Json::text(low) + " to " + Json::text(high) + ", not '" + text +
                "'");
  return value;
}

// Splits text into up to `most` parts; the last part keeps any further separators.
inline std::vector<std::string> split(const std::string& text, char separator, size_t most = ~size_t(0)) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at; parts.size() + 1 < most && (at = text.find(separator, from)) != std::string::npos; from = at + 1)
    parts.push_back(text.substr(from, at - from));
  parts.push_back(text.substr(from));
  return parts;
}

// Parses two non-empty parts; `form` describes them in error messages, such as ID=/path.so.
inline std::pair<std::string, std::string> parsePair(const std::string& option, const std::string& text, char separator,
                                                     const char* form) {
  const size_t at = text.find(separator);
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    badArgument(option + " must be " + form + ", not '" + text + "'");
  return {text.substr(0, at), text.substr(at + 1)};
}
