// Checks results against expected values.
#pragma once

#include "reference.hpp"

#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

struct Tally {
  unsigned long long mismatches = 0;
  unsigned long long first = ~0ull;  // the lowest index of a mismatch
  // Bits of the largest relative error, and of the largest error over its tolerance: they sort like the doubles.
  unsigned long long worst[2] = {};
  int nan = 0;
};

struct CheckInput {
  const void* actual;
  KlDtype dtype;
  size_t elementBytes;
  long long count;
  const void* expected;  // doubles, or the same type if the check is exact
  const double* scale;   // for a bound
  Check check;
  double floor;  // a smaller expected value counts as this in a relative error
};

struct ElementError {
  bool passed;
  double relative, ratio;  // NaN if either value is NaN
};

__device__ inline ElementError errorExactly(const CheckInput& in, long long i) {
  if (loadBits(in.actual, in.elementBytes, i) == loadBits(in.expected, in.elementBytes, i)) return {true, 0, 0};
  const double actual = loadReal(in.actual, in.dtype, i), expected = loadReal(in.expected, in.dtype, i);
  if (isFloat(in.dtype) && actual == expected) return {true, 0, 0};  // 0 and -0
  return {false, fabs(actual - expected) / fmax(fabs(expected), in.floor), INFINITY};
}

__device__ inline ElementError errorWithin(const CheckInput& in, long long i) {
  const double actual = loadReal(in.actual, in.dtype, i), expected = static_cast<const double*>(in.expected)[i];
  if (actual == expected) return {true, 0, 0};  // infinities too
  const double error = fabs(actual - expected);
  const double scale = in.scale ? in.scale[i] : fmax(fabs(expected), in.floor);
  const double tolerance = in.scale ? in.check.bound * scale : in.check.absolute + in.check.relative * fabs(expected);
  // Written so that a NaN, which compares false with everything, does not pass.
  return {error <= tolerance && !isinf(error), error / scale, error / tolerance};
}

__global__ void checkResult(CheckInput in, Tally* tally) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  double worst[2] = {};
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < in.count; i += stride) {
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

  // Checks one output and adds its findings.
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
                        by,
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
    if (std::isnan(value) || value > worst) worst = value;  // once NaN, nothing compares greater
  }

  void describeMismatch(const CheckInput& in, const BufferSpec& spec, long long at) {
    const KlDtype expectedType = in.check.kind == Check::kExact ? in.dtype : KL_F64;
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
                    "],\"expected\":" + elementText(&expected, expectedType, in.dtype) +
                    ",\"actual\":" + elementText(&actual, in.dtype, in.dtype) + "}";
  }
};
