// Writes one JSON object per line to the real stdout, with a single write() per object.
#pragma once

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>

class Json {
 public:
  // Claims stdout for the protocol. Call this function before loading any rung. Output printed by rungs and
  // libraries goes to stderr. The protocol uses a private descriptor that child processes do not inherit. The
  // descriptor's number is higher than those a rung might close in a loop.
  static bool claimStdout() {
    const int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kLowestDescriptor);
    if (own < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return false;
    descriptor() = own;
    return true;
  }

  explicit Json(const char* event) { string("event", event); }

  Json& string(const char* key, const std::string& value) { return put(key, quote(value)); }
  Json& boolean(const char* key, bool value) { return put(key, value ? "true" : "false"); }
  Json& null(const char* key) { return put(key, "null"); }
  Json& raw(const char* key, const std::string& json) { return put(key, json); }

  template <typename Number>
  Json& number(const char* key, Number value) {
    return put(key, text(value));
  }

  // Adds a clock or a median; negative values mean unknown and become null.
  Json& numberOrNull(const char* key, double value) { return value < 0 ? null(key) : number(key, value); }

  Json& numbers(const char* key, const std::vector<double>& values) {
    std::string list = "[";
    for (const double value : values) list += (list.size() > 1 ? "," : "") + text(value);
    return put(key, list + "]");
  }

  Json& strings(const char* key, const std::vector<std::string>& values) {
    std::string list = "[";
    for (const std::string& value : values) list += (list.size() > 1 ? "," : "") + quote(value);
    return put(key, list + "]");
  }

  void print() const {
    const std::string line = body_ + "}\n";
    for (size_t done = 0; done < line.size();) {
      const ssize_t count = write(descriptor(), line.data() + done, line.size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) _exit(1);  // the process that reads stdout has exited
      done += size_t(count);
    }
  }

  // Returns a number as JSON text. NaN and infinities become null.
  template <typename Number>
  static std::string text(Number value, int digits = 9) {
    char buffer[40];
    if constexpr (std::is_floating_point_v<Number>) {
      if (!std::isfinite(value)) return "null";
      snprintf(buffer, sizeof buffer, "%.*g", digits, double(value));
    } else if constexpr (std::is_signed_v<Number>) {
      snprintf(buffer, sizeof buffer, "%lld", (long long)value);
    } else {
      snprintf(buffer, sizeof buffer, "%llu", (unsigned long long)value);
    }
    return buffer;
  }

  static std::string quote(const std::string& value) {
    std::string out = "\"";
    for (size_t i = 0; i < value.size();) {
      const unsigned char c = value[i];
      const size_t length = utf8Length(value, i);
      if (length == 0) {  // invalid UTF-8 (a path can be any bytes): writes the replacement character
        out += "\\ufffd";
        ++i;
      } else if (c == '"' || c == '\\') {
        out += '\\';
        out += value[i++];
      } else if (c < 0x20) {
        char escape[8];
        snprintf(escape, sizeof escape, "\\u%04x", c);
        out += escape;
        ++i;
      } else {
        out.append(value, i, length);
        i += length;
      }
    }
    return out + "\"";
  }

 private:
  static constexpr int kLowestDescriptor = 64;

  static int& descriptor() {
    static int value = STDOUT_FILENO;
    return value;
  }

  static size_t utf8Length(const std::string& s, size_t i) {
    const unsigned char c = s[i];
    const size_t length = c < 0x80                   ? 1
                          : c >> 5 == 6 && c >= 0xc2 ? 2
                          : c >> 4 == 14             ? 3
                          : c >= 0xf0 && c <= 0xf4   ? 4
                                                     : 0;
    if (length == 0 || i + length > s.size()) return 0;
    for (size_t j = 1; j < length; ++j)
      if ((static_cast<unsigned char>(s[i + j]) & 0xc0) != 0x80) return 0;
    return length;
  }

  Json& put(const char* key, const std::string& json) {
    body_ += (body_.size() > 1 ? ",\"" : "\"") + std::string(key) + "\":" + json;
    return *this;
  }

  std::string body_ = "{";
};
