// Reports to the supervisor that a rung is still being timed.
#pragma once

#include "json.hpp"
#include "samples.hpp"

#include <chrono>
#include <string>

class Heartbeat {
 public:
  explicit Heartbeat(const std::string& rung) : rung_(rung) {}

  void beat(const Samples& samples) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(250)) return;
    last_ = now;
    Json line("progress");
    line.string("rung", rung_).string("stage", "time").number("samples", samples.count());
    if (samples.count() == 0) line.null("spread");
    else line.number("spread", samples.spread());
    line.print();
  }

 private:
  std::string rung_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};
