// GPU clocks, power and temperature while a rung is timed.
#pragma once

#include "device.hpp"

#include <algorithm>
#include <chrono>

// Records the GPU's state before and after a rung is timed, and from time to time during an uncounted launch.
class GpuWatch {
 public:
  explicit GpuWatch(const Nvml& nvml) : nvml_(nvml) { look(); }

  void look() {
    last_ = std::chrono::steady_clock::now();
    if (const double clock = nvml_.smClock(); clock >= 0) {
      lowest_ = lowest_ < 0 ? clock : std::min(lowest_, clock);
      highest_ = std::max(highest_, clock);
    }
    memoryClock_ = nvml_.memoryClock();
    temperature_ = std::max(temperature_, nvml_.temperature());
    power_ = std::max(power_, nvml_.power());
    if (const long long reasons = nvml_.clockReasons(); reasons >= 0) reasons_ = std::max(reasons_, 0LL) | reasons;
  }

  bool due() const { return std::chrono::steady_clock::now() - last_ >= std::chrono::milliseconds(100); }

  void addTo(Json& line) const {
    line.numberOrNull("smClockLowMHz", lowest_)
        .numberOrNull("smClockHighMHz", highest_)
        .numberOrNull("memoryClockMHz", memoryClock_)
        .numberOrNull("temperatureC", temperature_)
        .numberOrNull("powerW", power_)
        .numberOrNull("powerLimitW", nvml_.powerLimit())
        .numberOrNull("clockReasons", double(reasons_));
  }

 private:
  const Nvml& nvml_;
  std::chrono::steady_clock::time_point last_;
  double lowest_ = -1, highest_ = -1, memoryClock_ = -1, temperature_ = -1, power_ = -1;
  long long reasons_ = -1;
};
