// The expected results of a case, computed by the task's reference in device or host memory, or by a trusted rung.
#pragma once

#include "buffer.hpp"

#include <cfloat>
#include <chrono>
#include <cmath>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

// Prints a reference's progress. The reference's own code calls this function.
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

[[noreturn]] inline void failReference(const Case& of, const std::string& what) {
  throw RunnerError{kBadInput, "reference", "the reference of the case " + of.name + " " + what};
}

// A reference function: kl_reference, or kl_inputs, which computes inputs from other inputs. A reference defines
// the function either for host memory or for GPU memory.
struct ReferenceStage {
  void (*onHost)(const void*) = nullptr;
  cudaError_t (*onDevice)(const void*, cudaStream_t) = nullptr;

  ReferenceStage(const Case& of, const std::string& name) : of_(of) {
    void* library = dlopen(of.referenceLibrary.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) failReference(of, std::string("cannot be loaded: ") + dlerror());
    const std::string device = name + "_device";
    onHost = reinterpret_cast<decltype(onHost)>(dlsym(library, name.c_str()));
    onDevice = reinterpret_cast<decltype(onDevice)>(dlsym(library, device.c_str()));
    if (onDevice && onHost) failReference(of, "defines both " + name + " and " + device);
    if (!onDevice && !onHost) failReference(of, "defines neither " + name + " nor " + device + " as extern \"C\"");
  }

  // Calls the GPU function and waits until its work is done.
  void runOnDevice(const StructBytes& bytes) const {
    cudaError_t status = onDevice(bytes.data(), nullptr);
    if (status == cudaSuccess) status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) failReference(of_, "failed: " + describe(status));
  }

 private:
  const Case& of_;
};

// Returns the struct that a reference receives. `arrayOf` returns the array for a field, or null.
template <typename ArrayOf>
StructBytes referenceStruct(const Case& of, int smCount, ArrayOf arrayOf) {
  StructBytes bytes(of.referenceBytes);
  bytes.put(of.referenceFields, [&](const Field& field) -> unsigned long long {
    if (field.kind == Field::kSmCount) return (unsigned long long)smCount;
    const void* address = field.kind == Field::kProgress ? reinterpret_cast<const void*>(&ReferenceProgress::say)
                                                         : arrayOf(field);
    return (unsigned long long)reinterpret_cast<uintptr_t>(address);
  });
  return bytes;
}

// Computes the inputs that depend on other inputs, which the buffers must already contain.
inline void computeInputs(const Case& of, int smCount, const std::vector<std::shared_ptr<TaskBuffer>>& buffers) {
  if (!of.computesInputs()) return;
  ReferenceProgress::begin(of.name);
  const ReferenceStage stage(of, "kl_inputs");
  const auto isRead = [](const TaskBuffer& buffer) { return buffer.spec.access != BufferSpec::kOut; };
  const auto onDevice = [](const TaskBuffer& buffer) { return buffer.spec.computed() ? buffer.computed() : buffer.data(); };
  const auto bufferOf = [&](const Field& field) -> const TaskBuffer* {
    for (const auto& buffer : buffers)
      if (field.kind == Field::kIn && buffer->spec.name == field.buffer && isRead(*buffer)) return buffer.get();
    return nullptr;
  };
  for (const auto& buffer : buffers)
    if (buffer->spec.computed()) check(cudaMemset(buffer->computed(), 0xff, buffer->spec.bytes()), "cudaMemset");
    else if (buffer->spec.access == BufferSpec::kInOut) buffer->reset(nullptr);
  check(cudaDeviceSynchronize(), "filling the inputs");
  if (stage.onDevice) {
    stage.runOnDevice(referenceStruct(of, smCount, [&](const Field& field) -> const void* {
      const TaskBuffer* buffer = bufferOf(field);
      return buffer ? onDevice(*buffer) : nullptr;
    }));
  } else {
    std::map<const TaskBuffer*, std::vector<char>> host;
    stage.onHost(referenceStruct(of, smCount, [&](const Field& field) -> const void* {
      const TaskBuffer* buffer = bufferOf(field);
      if (!buffer) return nullptr;
      std::vector<char>& copy = host[buffer];
      copy.resize(buffer->spec.bytes());
      check(cudaMemcpy(copy.data(), onDevice(*buffer), copy.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
      return copy.data();
    }).data());
    for (const auto& [buffer, copy] : host)
      if (buffer->spec.computed())
        check(cudaMemcpy(buffer->computed(), copy.data(), copy.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  for (const auto& buffer : buffers)
    if (buffer->spec.computed()) buffer->reset(nullptr);
  check(cudaDeviceSynchronize(), "computing the inputs");
}

__global__ void toDoubles(const void* data, KlDtype dtype, long long count, double* to) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    to[i] = loadReal(data, dtype, i);
}

// Finds the lowest index of a NaN among unmasked elements. Without a mask, all elements are checked.
__global__ void findNan(const double* data, const unsigned char* mask, long long count, unsigned long long* first) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    if (isnan(data[i]) && (!mask || mask[i])) atomicMin(first, (unsigned long long)i);
}

// Expected values for one output: doubles, or the output's own type if the check is exact.
struct ExpectedOutput {
  Check check;
  bool special = false;  // inputs contain infinities or NaN, so NaN may be expected
  std::unique_ptr<DeviceBuffer> values, scale, mask;  // scale and mask are null if the reference has none

  const unsigned char* maskBytes() const { return mask ? mask->as<unsigned char>() : nullptr; }
};

class Reference {
 public:
  static size_t valueBytes(const Case& of, const BufferSpec& spec) {
    return of.checks.at(spec.name).kind == Check::kExact ? spec.bytes() : spec.count() * sizeof(double);
  }
  static size_t totalBytes(const Case& of) {
    size_t bytes = 0;
    for (const BufferSpec& spec : of.buffers)
      if (spec.written())
        bytes += valueBytes(of, spec) + (hasScale(of, spec) ? spec.count() * sizeof(double) : 0) +
                 (hasMask(of, spec) ? spec.count() : 0);
    return bytes;
  }

  Reference(const Case& of, int smCount) : of_(of), smCount_(smCount) {
    for (const BufferSpec& spec : of.buffers) {
      if (!spec.written()) continue;
      ExpectedOutput& output = outputs_[spec.name];
      output.check = of.checks.at(spec.name);
      output.special = of.special();
      output.values = poisoned(valueBytes(of, spec));
      if (hasScale(of, spec)) output.scale = poisoned(spec.count() * sizeof(double));
      if (hasMask(of, spec)) output.mask = poisoned(spec.count());
    }
  }

  bool ready() const { return ready_; }
  void forget() { ready_ = false; }
  const ExpectedOutput& operator[](const std::string& buffer) const { return outputs_.at(buffer); }

  // Computes the expected results. `dataOf` returns a buffer by name, with its initial contents.
  template <typename DataOf>
  void compute(DataOf dataOf) {
    ReferenceProgress::begin(of_.name);
    const ReferenceStage stage(of_, "kl_reference");
    if (stage.onDevice) computeOnDevice(stage, dataOf);
    else computeOnHost(stage.onHost, dataOf);
    for (const auto& [name, output] : outputs_)
      if (output.mask) requireCounting(name, output);
    for (const auto& [name, output] : outputs_) {
      if (output.special) continue;
      if (output.check.kind != Check::kExact) requireNumbers(name, output, *output.values, "");
      if (output.scale) requireNumbers(name, output, *output.scale, "the scale of ");
    }
    ready_ = true;
  }

  // Takes the output of the rung that just ran as the expected results.
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

  static bool hasMask(const Case& of, const BufferSpec& spec) {
    return of.hasReferenceField(Field::kMask, spec.name);
  }

  // Returns a buffer filled with NaN, so elements that a reference leaves out fail the check. In a mask, these bytes
  // are not 0 and therefore include every element.
  static std::unique_ptr<DeviceBuffer> poisoned(size_t bytes) {
    auto buffer = std::make_unique<DeviceBuffer>(bytes);
    check(cudaMemset(buffer->get(), 0xff, bytes), "cudaMemset");
    return buffer;
  }

  // Fails if the mask is all zeros, because nothing would be checked.
  void requireCounting(const std::string& name, const ExpectedOutput& output) const {
    std::vector<unsigned char> mask(size_t(of_.find(name)->count()));
    check(cudaMemcpy(mask.data(), output.mask->get(), mask.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (std::all_of(mask.begin(), mask.end(), [](unsigned char counts) { return counts == 0; }))
      failReference(of_, "leaves out every element of " + name + " with its mask");
  }

  // Fails if an expected value is NaN, which no result can match. The reference skipped the element or computed 0/0.
  void requireNumbers(const std::string& name, const ExpectedOutput& output, const DeviceBuffer& values,
                      const std::string& what) const {
    const BufferSpec& spec = *of_.find(name);
    unsigned long long first = ~0ull;
    const DeviceBuffer found(sizeof first);
    check(cudaMemset(found.get(), 0xff, sizeof first), "cudaMemset");
    findNan<<<blocksFor(spec.count(), smCount_), 256>>>(values.as<double>(), output.maskBytes(), spec.count(),
                                                        found.as<unsigned long long>());
    check(cudaGetLastError(), "looking at what is expected");
    check(cudaMemcpy(&first, found.get(), sizeof first, cudaMemcpyDeviceToHost), "looking at what is expected");
    if (first == ~0ull) return;
    std::string place = name;
    for (const long long index : spec.indexOf((long long)first)) place += "[" + std::to_string(index) + "]";
    failReference(of_, "leaves " + what + place + " NaN, or does not write it");
  }

  bool isRead(const Field& field) const { return of_.find(field.buffer)->access != BufferSpec::kOut; }

  template <typename DataOf>
  void computeOnDevice(const ReferenceStage& stage, DataOf dataOf) {
    stage.runOnDevice(referenceStruct(of_, smCount_, [&](const Field& field) -> const void* {
      if (field.kind == Field::kIn) return isRead(field) ? dataOf(field.buffer) : nullptr;
      return arrayOf(field)->get();
    }));
  }

  // Runs the reference on host copies. Elements that the reference does not write stay NaN.
  template <typename DataOf>
  void computeOnHost(void (*compute)(const void*), DataOf dataOf) {
    try {
      std::map<const Field*, std::vector<char>> copies;
      const StructBytes bytes = referenceStruct(of_, smCount_, [&](const Field& field) -> const void* {
        const BufferSpec& spec = *of_.find(field.buffer);
        if (field.kind == Field::kIn && !isRead(field)) return nullptr;
        std::vector<char>& copy = copies[&field];
        if (field.kind == Field::kIn) {
          copy.resize(spec.bytes());
          check(cudaMemcpy(copy.data(), dataOf(field.buffer), copy.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
        } else {
          copy.assign(bytesOf(field, spec), char(0xff));
        }
        return copy.data();
      });
      compute(bytes.data());
      for (const auto& [field, copy] : copies)
        if (field->kind != Field::kIn)
          check(cudaMemcpy(arrayOf(*field)->get(), copy.data(), copy.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    } catch (const std::bad_alloc&) {
      failReference(of_, "needs more host memory than is available");
    }
  }

  // Returns the GPU array of a field that the reference writes.
  const DeviceBuffer* arrayOf(const Field& field) const {
    const ExpectedOutput& output = outputs_.at(field.buffer);
    return (field.kind == Field::kOut ? output.values : field.kind == Field::kScale ? output.scale : output.mask).get();
  }
  size_t bytesOf(const Field& field, const BufferSpec& spec) const {
    if (field.kind == Field::kMask) return size_t(spec.count());
    return field.kind == Field::kOut ? valueBytes(of_, spec) : spec.count() * sizeof(double);
  }

  const Case& of_;
  int smCount_;
  std::map<std::string, ExpectedOutput> outputs_;
  bool ready_ = false;
};


struct Tally {
  unsigned long long mismatches = 0;
  unsigned long long first = ~0ull;  // the lowest index of a mismatch
  // Bits of the largest relative error, and of the largest ratio of error to tolerance. The bits sort in the same
  // order as the doubles.
  unsigned long long worst[2] = {};
  int nan = 0;
};

struct CheckInput {
  const void* actual;
  KlDtype dtype;
  size_t elementBytes;
  long long count;
  const void* expected;  // doubles, or the type of `actual` if the check is exact
  const double* scale;   // error scale for a bound
  const unsigned char* mask;  // 0 skips an element; null checks every element
  Check check;
  bool special;  // NaN may be expected
  double floor;  // minimum denominator of a relative error
};

struct ElementError {
  bool passed;
  double relative, ratio;  // NaN if either value is NaN
};

__device__ inline ElementError errorExactly(const CheckInput& in, long long i) {
  if (loadBits(in.actual, in.elementBytes, i) == loadBits(in.expected, in.elementBytes, i)) return {true, 0, 0};
  const double actual = loadReal(in.actual, in.dtype, i), expected = loadReal(in.expected, in.dtype, i);
  if (isFloat(in.dtype) && actual == expected) return {true, 0, 0};  // 0 equals -0
  return {false, fabs(actual - expected) / fmax(fabs(expected), in.floor), INFINITY};
}

__device__ inline ElementError errorWithin(const CheckInput& in, long long i) {
  const double actual = loadReal(in.actual, in.dtype, i), expected = static_cast<const double*>(in.expected)[i];
  if (actual == expected) return {true, 0, 0};  // true for equal infinities
  if (in.special && isnan(expected)) return isnan(actual) ? ElementError{true, 0, 0} : ElementError{false, NAN, NAN};
  const double error = fabs(actual - expected);
  const double scale = in.scale ? in.scale[i] : fmax(fabs(expected), in.floor);
  const double tolerance = in.scale ? in.check.bound * scale : in.check.absolute + in.check.relative * fabs(expected);
  // A NaN compares false with everything, so the condition below rejects NaN.
  return {error <= tolerance && !isinf(error), error / scale, error / tolerance};
}

__global__ void checkResult(CheckInput in, Tally* tally) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  double worst[2] = {};
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < in.count; i += stride) {
    if (in.mask && !in.mask[i]) continue;
    const ElementError error = in.check.kind == Check::kExact ? errorExactly(in, i) : errorWithin(in, i);
    if (!error.passed) {
      atomicAdd(&tally->mismatches, 1ull);
      atomicMin(&tally->first, (unsigned long long)i);
    }
    if (isnan(error.relative)) {
      tally->nan = 1;
    } else {
      worst[0] = fmax(worst[0], error.relative);
      worst[1] = fmax(worst[1], error.ratio);
    }
  }
  __shared__ unsigned long long blockWorst[2];
  if (threadIdx.x < 2) blockWorst[threadIdx.x] = 0;
  __syncthreads();
  for (int w = 0; w < 2; ++w)
    if (worst[w] > 0) atomicMax(&blockWorst[w], (unsigned long long)__double_as_longlong(worst[w]));
  __syncthreads();
  if (threadIdx.x < 2 && blockWorst[threadIdx.x]) atomicMax(&tally->worst[threadIdx.x], blockWorst[threadIdx.x]);
}

struct Verification {
  double worstRelativeError = 0, worstToleranceRatio = 0;  // NaN if a result contains NaN
  unsigned long long mismatches = 0;
  std::string firstMismatch;  // JSON, or empty
  std::vector<std::string> outOfBounds, changedInputs;

  bool passed() const { return mismatches == 0 && outOfBounds.empty() && changedInputs.empty(); }

  void print(const std::string& rung) const {
    Json("verify")
        .string("rung", rung)
        .boolean("passed", passed())
        .number("worstRelativeError", worstRelativeError)
        .number("worstToleranceRatio", worstToleranceRatio)
        .number("mismatches", mismatches)
        .raw("firstMismatch", firstMismatch.empty() ? "null" : firstMismatch)
        .boolean("outOfBounds", !outOfBounds.empty())
        .strings("outOfBoundsBuffers", outOfBounds)
        .strings("changedInputs", changedInputs)
        .print();
  }

  // Checks one output and adds the results to the totals.
  void add(const TaskBuffer& buffer, const ExpectedOutput& expected, int smCount) {
    const BufferSpec& spec = buffer.spec;
    const Check& by = expected.check;
    const bool bounded = by.kind == Check::kBound;
    const CheckInput in{buffer.data(),
                        spec.dtype->dtype,
                        spec.dtype->bytes,
                        spec.count(),
                        expected.values->get(),
                        bounded ? expected.scale->as<double>() : nullptr,
                        expected.maskBytes(),
                        by,
                        expected.special,
                        by.relative > 0 && by.absolute > 0 ? by.absolute / by.relative : double(FLT_MIN)};
    Tally tally;
    const DeviceBuffer tallyOnDevice(sizeof tally);
    check(cudaMemcpy(tallyOnDevice.get(), &tally, sizeof tally, cudaMemcpyHostToDevice), "cudaMemcpy");
    checkResult<<<blocksFor(spec.count(), smCount), 256>>>(in, tallyOnDevice.as<Tally>());
    check(cudaGetLastError(), "checking the result");
    check(cudaMemcpy(&tally, tallyOnDevice.get(), sizeof tally, cudaMemcpyDeviceToHost), "checking the result");

    double worst[2];
    memcpy(worst, tally.worst, sizeof worst);
    raise(worstRelativeError, tally.nan ? NAN : worst[0]);
    raise(worstToleranceRatio, tally.nan ? NAN : worst[1]);
    mismatches += tally.mismatches;
    if (tally.mismatches && firstMismatch.empty()) describeMismatch(in, spec, (long long)tally.first);
  }

 private:
  static void raise(double& worst, double value) {
    if (std::isnan(value) || value > worst) worst = value;  // nothing compares greater than NaN, so NaN stays
  }

  void describeMismatch(const CheckInput& in, const BufferSpec& spec, long long at) {
    const bool exact = in.check.kind == Check::kExact;
    const KlDtype expectedType = exact ? in.dtype : KL_F64;
    const size_t expectedBytes = factsOf(expectedType).bytes;
    unsigned long long actual = 0, expected = 0;
    check(cudaMemcpy(&actual, static_cast<const char*>(in.actual) + at * in.elementBytes, in.elementBytes,
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    check(cudaMemcpy(&expected, static_cast<const char*>(in.expected) + at * expectedBytes, expectedBytes,
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    std::string index;
    for (const long long place : spec.indexOf(at)) index += (index.empty() ? "" : ",") + Json::text(place);
    firstMismatch = "{\"buffer\":" + Json::quote(spec.name) + ",\"index\":[" + index +
                    "],\"expected\":" + elementText(&expected, expectedType, in.dtype, exact) +
                    ",\"actual\":" + elementText(&actual, in.dtype, in.dtype, exact) + "}";
  }
};
