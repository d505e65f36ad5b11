// An RAII wrapper for GPU memory, and the buffers of a case. Each buffer is between guard bands that reveal
// out-of-bounds writes.
#pragma once

#include "cases.hpp"
#include "errors.hpp"

#include <algorithm>
#include <memory>
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

// A buffer between two guard bands of 0xff bytes. The bytes are NaN in every floating-point type, so an out-of-bounds
// read makes the result NaN. An out-of-bounds write changes the bands. A memory checker would treat the bands as part
// of the allocation, so buffers for memory checkers have no bands.
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

// Computes a checksum of all elements. Each element is hashed with its index, so any change alters the checksum.
__global__ void addUpBits(const void* data, size_t elementBytes, long long count, unsigned long long* total) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  unsigned long long sum = 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    sum += mixBits(loadBits(data, elementBytes, i) + (unsigned long long)(i + 1) * 0x9e3779b97f4a7c15ull);
  atomicAdd(total, sum);
}

class TaskBuffer {
 public:
  // Returns the size of the buffer's GPU memory in bytes. Computed buffers, and inout buffers filled from a file,
  // include a copy to refill from.
  static size_t totalBytes(const BufferSpec& spec, bool guarded) {
    return GuardedBuffer::totalBytes(spec.bytes(), guarded) + (keepsCopy(spec) ? spec.bytes() : 0);
  }

  // Allocates the buffer. The contents of a written buffer are undefined until reset().
  TaskBuffer(const BufferSpec& spec, long long seed, int smCount, bool guarded)
      : spec(spec), random_{seed, spec.stream}, smCount_(smCount), memory_(spec.bytes(), guarded) {
    if (keepsCopy(spec)) {
      copy_ = std::make_unique<DeviceBuffer>(spec.bytes());
      if (!spec.computed()) readFile(copy_->as<char>());
    }
    if (!spec.written() && !spec.computed()) reset(nullptr);
  }

  const BufferSpec spec;

  // Returns the copy that the reference writes a computed buffer to. reset() copies the buffer's contents from this
  // copy.
  void* computed() const { return copy_->get(); }

  void* data() const { return memory_.data(); }

  // Restores the contents before a launch. Fills an output with a byte pattern that marks unwritten elements, and any
  // other buffer with its initial values.
  void reset(cudaStream_t stream) {
    if (spec.access == BufferSpec::kOut) {
      check(cudaMemsetAsync(data(), spec.unwritten, spec.bytes(), stream), "cudaMemset");
    } else if (copy_) {
      check(cudaMemcpyAsync(data(), copy_->get(), spec.bytes(), cudaMemcpyDeviceToDevice, stream), "cudaMemcpy");
    } else if (spec.fill.kind == FillRule::kFile) {
      readFile(memory_.data());
    } else {
      fillBuffer<<<blocksFor(spec.count(), smCount_), 256, 0, stream>>>(data(), spec.dtype->dtype, spec.count(),
                                                                        spec.fill, random_, Permutation(spec.count()));
      check(cudaGetLastError(), "filling a buffer");
    }
  }

  void hide() const { check(cudaMemset(data(), 0xff, spec.bytes()), "hiding a buffer"); }

  // Sets a new seed and immediately refills a read-only buffer. Written buffers are refilled in reset().
  // Buffers filled from a file do not change.
  void draw(long long seed) {
    random_.seed = seed;
    if (!spec.written() && !spec.computed()) reset(nullptr);
  }

  std::vector<char> contents() const {
    std::vector<char> bytes(spec.bytes());
    check(cudaMemcpy(bytes.data(), data(), bytes.size(), cudaMemcpyDeviceToHost), "reading a buffer");
    return bytes;
  }
  void setContents(const std::vector<char>& bytes) const {
    if (bytes.size() != spec.bytes()) badArgument("the results for " + spec.name + " have another size");
    check(cudaMemcpy(data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "writing a buffer");
  }

  void armGuards() const { memory_.armGuards(); }
  bool guardsIntact() const { return memory_.guardsIntact(); }

  // Stores the checksum of a read-only buffer. restoreIfChanged() refills the buffer and returns true if the checksum
  // changed.
  void remember() { sum_ = sumOfBits(); }
  bool restoreIfChanged() {
    if (sumOfBits() == sum_) return false;
    reset(nullptr);
    return true;
  }

 private:
  static bool keepsCopy(const BufferSpec& spec) {
    return spec.computed() || (spec.access == BufferSpec::kInOut && spec.fill.kind == FillRule::kFile);
  }

  void readFile(char* to) const {
    NpyFile(spec.path, *spec.dtype, spec.shape).read([&](size_t offset, const void* piece, size_t bytes) {
      check(cudaMemcpy(to + offset, piece, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    });
  }

  unsigned long long sumOfBits() const {
    unsigned long long sum = 0;
    const DeviceBuffer total(sizeof sum);
    check(cudaMemset(total.get(), 0, sizeof sum), "cudaMemset");
    addUpBits<<<blocksFor(spec.count(), smCount_), 256>>>(data(), spec.dtype->bytes, spec.count(),
                                                          total.as<unsigned long long>());
    check(cudaGetLastError(), "reading a buffer");
    check(cudaMemcpy(&sum, total.get(), sizeof sum, cudaMemcpyDeviceToHost), "reading a buffer");
    return sum;
  }

  RandomStream random_;
  int smCount_;
  GuardedBuffer memory_;
  std::unique_ptr<DeviceBuffer> copy_;
  unsigned long long sum_ = 0;
};
