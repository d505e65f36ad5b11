// Errors that end the runner, and errors that end only a rung.
#pragma once

#include "json.hpp"

#include <cuda_runtime_api.h>
#include <optional>
#include <string>

enum ExitCode { kDone = 0, kBadInput = 2, kNoDevice = 3, kContextLost = 4 };

// An error that ends the runner with one "error" line.
struct RunnerError {
  ExitCode exitCode;
  const char* kind;
  std::string message;
  std::optional<unsigned long long> neededBytes = {}, freeBytes = {};

  void print() const {
    Json line("error");
    line.string("kind", kind).string("message", message);
    if (neededBytes) line.number("neededBytes", *neededBytes);
    if (freeBytes) line.number("freeBytes", *freeBytes);
    line.print();
  }
};

// An error that ends one rung with one "failed" line. The other rungs continue unless the context is lost.
struct RungError {
  std::string stage, reason;
};

inline std::string describe(cudaError_t status) {
  return std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
}

// Throws a runner error if one of the runner's own CUDA calls failed. Calls into a rung have their own check, because
// their errors end only the rung.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  const bool memory = status == cudaErrorMemoryAllocation;
  throw RunnerError{memory ? kBadInput : kNoDevice, memory ? "out-of-memory" : "cuda",
                    std::string(what) + ": " + describe(status)};
}
