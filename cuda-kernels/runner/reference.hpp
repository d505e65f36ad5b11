// The expected results of a case: from the task's reference, in device or host memory, or from a trusted rung.
#pragma once

#include "buffer.hpp"

#include <chrono>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

// Prints a reference's progress; called from within the reference's own code.
class ReferenceProgress {
 public:
  static void begin(const std::string& name) {
    Json("start").null("rung").string("case", name).string("stage", "reference").print();
    case_ = name;
    last_ = std::chrono::steady_clock::now();
  }

  static void say(double fraction) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(250)) return;
    last_ = now;
    Json("progress").string("stage", "reference").string("case", case_).number("fraction", fraction).print();
  }

 private:
  static inline std::string case_;
  static inline std::chrono::steady_clock::time_point last_;
};

__global__ void toDoubles(const void* data, KlDtype dtype, long long count, double* to) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    to[i] = loadReal(data, dtype, i);
}

// Lowest index of a NaN.
__global__ void findNan(const double* data, long long count, unsigned long long* first) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    if (isnan(data[i])) atomicMin(first, (unsigned long long)i);
}

// Expected values of one output: doubles, or its own type if the check is exact.
struct ExpectedOutput {
  Check check;
  std::unique_ptr<DeviceBuffer> values, scale;  // scale: null if there is none
};

class Reference {
 public:
  static size_t valueBytes(const Case& of, const BufferSpec& spec) {
    return of.checks.at(spec.name).kind == Check::kExact ? spec.bytes() : spec.count() * sizeof(double);
  }
  static size_t totalBytes(const Case& of) {
    size_t bytes = 0;
    for (const BufferSpec& spec : of.buffers)
      if (spec.written()) bytes += valueBytes(of, spec) + (hasScale(of, spec) ? spec.count() * sizeof(double) : 0);
    return bytes;
  }

  Reference(const Case& of, int smCount) : of_(of), smCount_(smCount) {
    for (const BufferSpec& spec : of.buffers) {
      if (!spec.written()) continue;
      ExpectedOutput& output = outputs_[spec.name];
      output.check = of.checks.at(spec.name);
      output.values = poisoned(valueBytes(of, spec));
      if (hasScale(of, spec)) output.scale = poisoned(spec.count() * sizeof(double));
    }
  }

  bool ready() const { return ready_; }
  const ExpectedOutput& operator[](const std::string& buffer) const { return outputs_.at(buffer); }

  // `dataOf` returns a buffer by name, with its initial contents.
  template <typename DataOf>
  void compute(DataOf dataOf) {
    ReferenceProgress::begin(of_.name);
    void* library = dlopen(of_.referenceLibrary.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(std::string("cannot be loaded: ") + dlerror());
    const auto onDevice =
        reinterpret_cast<cudaError_t (*)(const void*, cudaStream_t)>(dlsym(library, "kl_reference_device"));
    const auto onHost = reinterpret_cast<void (*)(const void*)>(dlsym(library, "kl_reference"));
    if (onDevice && onHost) fail("defines both kl_reference and kl_reference_device");
    if (onDevice) computeOnDevice(onDevice, dataOf);
    else if (onHost) computeOnHost(onHost, dataOf);
    else fail("defines neither kl_reference nor kl_reference_device as extern \"C\"");
    for (const auto& [name, output] : outputs_) {
      if (output.check.kind != Check::kExact) requireNumbers(name, *output.values, "");
      if (output.scale) requireNumbers(name, *output.scale, "the scale of ");
    }
    ready_ = true;
  }

  // Takes the results of the rung that has just run.
  template <typename DataOf>
  void take(DataOf dataOf) {
    for (const BufferSpec& spec : of_.buffers) {
      if (!spec.written()) continue;
      const ExpectedOutput& output = outputs_.at(spec.name);
      if (output.check.kind == Check::kExact)
        check(cudaMemcpy(output.values->get(), dataOf(spec.name), spec.bytes(), cudaMemcpyDeviceToDevice),
              "cudaMemcpy");
      else
        toDoubles<<<blocksFor(spec.count(), smCount_), 256>>>(dataOf(spec.name), spec.dtype->dtype, spec.count(),
                                                              output.values->as<double>());
      check(cudaGetLastError(), "keeping a result");
    }
    check(cudaDeviceSynchronize(), "keeping a result");
    ready_ = true;
  }

 private:
  static bool hasScale(const Case& of, const BufferSpec& spec) {
    return of.hasReferenceField(Field::kScale, spec.name);
  }

  // NaN, so that elements a reference leaves out do not pass.
  static std::unique_ptr<DeviceBuffer> poisoned(size_t bytes) {
    auto buffer = std::make_unique<DeviceBuffer>(bytes);
    check(cudaMemset(buffer->get(), 0xff, bytes), "cudaMemset");
    return buffer;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw RunnerError{kBadInput, "reference", "the reference of the case " + of_.name + " " + what};
  }

  // No result can match NaN: the element was left out, or came from 0/0 or similar.
  void requireNumbers(const std::string& name, const DeviceBuffer& values, const std::string& what) const {
    const BufferSpec& spec = *of_.find(name);
    unsigned long long first = ~0ull;
    const DeviceBuffer found(sizeof first);
    check(cudaMemset(found.get(), 0xff, sizeof first), "cudaMemset");
    findNan<<<blocksFor(spec.count(), smCount_), 256>>>(values.as<double>(), spec.count(),
                                                        found.as<unsigned long long>());
    check(cudaGetLastError(), "looking at what is expected");
    check(cudaMemcpy(&first, found.get(), sizeof first, cudaMemcpyDeviceToHost), "looking at what is expected");
    if (first == ~0ull) return;
    std::string place = name;
    for (const long long index : spec.indexOf((long long)first)) place += "[" + std::to_string(index) + "]";
    fail("leaves " + what + place + " NaN, or does not write it");
  }

  bool isRead(const Field& field) const { return of_.find(field.buffer)->access != BufferSpec::kOut; }

  // `in`, `out` and `scale` return the arrays of a buffer.
  template <typename In, typename Out, typename Scale>
  StructBytes fill(In in, Out out, Scale scale) const {
    StructBytes bytes(of_.referenceBytes);
    bytes.put(of_.referenceFields, [&](const Field& field) -> unsigned long long {
      const auto address = [](const void* pointer) { return (unsigned long long)reinterpret_cast<uintptr_t>(pointer); };
      switch (field.kind) {
        case Field::kIn: return isRead(field) ? address(in(field.buffer)) : 0;
        case Field::kOut: return address(out(field.buffer));
        case Field::kScale: return address(scale(field.buffer));
        case Field::kProgress: return address(reinterpret_cast<const void*>(&ReferenceProgress::say));
        default: return (unsigned long long)smCount_;
      }
    });
    return bytes;
  }

  template <typename DataOf>
  void computeOnDevice(cudaError_t (*compute)(const void*, cudaStream_t), DataOf dataOf) {
    const StructBytes bytes = fill(
        dataOf, [&](const std::string& name) { return outputs_.at(name).values->get(); },
        [&](const std::string& name) { return outputs_.at(name).scale->get(); });
    cudaError_t status = compute(bytes.data(), nullptr);
    if (status == cudaSuccess) status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) fail("failed: " + describe(status));
  }

  // Runs on copies. Elements it does not write stay NaN.
  template <typename DataOf>
  void computeOnHost(void (*compute)(const void*), DataOf dataOf) {
    try {
      std::map<std::string, std::vector<char>> in, values, scale;
      for (const Field& field : of_.referenceFields) {
        if (field.kind != Field::kIn || !isRead(field)) continue;
        std::vector<char>& copy = in[field.buffer];
        copy.resize(of_.find(field.buffer)->bytes());
        check(cudaMemcpy(copy.data(), dataOf(field.buffer), copy.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
      }
      for (const auto& [name, output] : outputs_) {
        values[name].assign(valueBytes(of_, *of_.find(name)), char(0xff));
        if (output.scale) scale[name].assign(of_.find(name)->count() * sizeof(double), char(0xff));
      }
      const StructBytes bytes = fill([&](const std::string& name) { return in.at(name).data(); },
                                     [&](const std::string& name) { return values.at(name).data(); },
                                     [&](const std::string& name) { return scale.at(name).data(); });
      compute(bytes.data());
      for (const auto& [name, output] : outputs_) {
        check(cudaMemcpy(output.values->get(), values[name].data(), values[name].size(), cudaMemcpyHostToDevice),
              "cudaMemcpy");
        if (output.scale)
          check(cudaMemcpy(output.scale->get(), scale[name].data(), scale[name].size(), cudaMemcpyHostToDevice),
                "cudaMemcpy");
      }
    } catch (const std::bad_alloc&) {
      fail("needs more host memory than is available");
    }
  }

  const Case& of_;
  int smCount_;
  std::map<std::string, ExpectedOutput> outputs_;
  bool ready_ = false;
};
