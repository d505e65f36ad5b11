// GPU memory that frees itself, and the guard bands around a buffer.
#pragma once

#include "errors.hpp"

#include <algorithm>
#include <vector>

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(size_t bytes) { check(cudaMalloc(&data_, std::max<size_t>(bytes, 1)), "cudaMalloc"); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  void* get() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

// A buffer between two guard bands of 0xff bytes. They are NaN in every floating-point type, so an
// out-of-bounds read that is used shows up in the result, and out-of-bounds writes change the bands. A memory
// checker would take the bands for part of the allocation, so it gets buffers without them.
class GuardedBuffer {
 public:
  static constexpr size_t kBand = 1 << 20;
  static size_t totalBytes(size_t bytes, bool guarded) { return bytes + (guarded ? 2 * kBand : 0); }

  GuardedBuffer(size_t bytes, bool guarded)
      : guard_(guarded ? kBand : 0), bytes_(bytes), memory_(totalBytes(bytes, guarded)) {
    armGuards();
  }

  char* data() const { return memory_.as<char>() + guard_; }
  size_t bytes() const { return bytes_; }

  void armGuards() const {
    if (!guard_) return;
    check(cudaMemset(data() - guard_, 0xff, guard_), "cudaMemset");
    check(cudaMemset(data() + bytes_, 0xff, guard_), "cudaMemset");
  }

  bool guardsIntact() const {
    std::vector<unsigned char> band(guard_);
    for (const char* start : {data() - guard_, data() + bytes_}) {
      check(cudaMemcpy(band.data(), start, guard_, cudaMemcpyDeviceToHost), "cudaMemcpy");
      if (std::any_of(band.begin(), band.end(), [](unsigned char byte) { return byte != 0xff; })) return false;
    }
    return true;
  }

 private:
  size_t guard_, bytes_;
  DeviceBuffer memory_;
};
