// Flushes L2 by reading a large buffer. The reads evict all other lines, so dirty lines are written back. Overwriting a
// buffer would leave dirty lines, which would be written back during the timed launch.
#pragma once

#include "buffer.hpp"
#include "device.hpp"
#include "read-memory.hpp"

class L2Flush {
 public:
  // Returns the size of the buffer. L2 is not strictly LRU, so the buffer is at least six times as large as L2.
  static size_t bytes(const Device& device) {
    size_t power = size_t(64) << 20;
    while (power < 6 * size_t(device.properties.l2CacheSize)) power *= 2;
    return power;
  }

  explicit L2Flush(const Device& device)
      : bytes_(bytes(device)), blocks_(8 * device.properties.multiProcessorCount), buffer_(bytes_) {
    check(cudaMemset(buffer_.get(), 0, bytes_), "preparing the L2 flush");
  }

  void operator()(cudaStream_t stream) const {
    const size_t perTurn = size_t(blocks_) * kReadThreads * kReads * sizeof(uint4);
    const int turns = int((bytes_ + perTurn - 1) / perTurn);
    readMany<false><<<blocks_, kReadThreads, 0, stream>>>(buffer_.as<uint4>(),
                                                          {0, unsigned(bytes_ / sizeof(uint4) - 1)}, turns, nullptr);
    check(cudaGetLastError(), "flushing L2");
  }

 private:
  size_t bytes_;
  int blocks_;
  DeviceBuffer buffer_;
};
