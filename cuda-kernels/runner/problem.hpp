// The cases on the GPU: their buffers, what is expected of their results, and the memory that all of it takes.
#pragma once

#include "arguments.hpp"
#include "check.hpp"
#include "device.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

// What a command does with its cases.
struct Purpose {
  bool checked;  // results are checked
  bool guarded;  // buffers lie between guard bands
};

// Buffers that are only read, by their description: cases that agree on one share it.
using SharedBuffers = std::map<std::string, std::shared_ptr<TaskBuffer>>;

inline std::string sharingKey(const BufferSpec& spec) { return std::to_string(spec.stream) + ":" + spec.text; }

class Problem {
 public:
  Problem(const Case& of, long long seed, const Device& device, Purpose purpose, SharedBuffers& shared)
      : of(of), smCount_(device.properties.multiProcessorCount) {
    for (const BufferSpec& spec : of.buffers) {
      const auto make = [&] { return std::make_shared<TaskBuffer>(spec, seed, smCount_, purpose.guarded); };
      if (spec.written()) {
        buffers_.push_back(make());
      } else {
        std::shared_ptr<TaskBuffer>& one = shared[sharingKey(spec)];
        if (!one) {
          one = make();
          if (purpose.checked) one->remember();
        }
        buffers_.push_back(one);
      }
    }
    if (purpose.checked) reference_ = std::make_unique<Reference>(of, smCount_);
    check(cudaDeviceSynchronize(), "filling the inputs");
  }

  const Case& of;

  // The launch struct, but for the workspace, which is the rung's own.
  StructBytes launchStruct() const {
    StructBytes bytes(of.structBytes);
    bytes.put(of.fields, [&](const Field& field) {
      return field.kind == Field::kBuffer ? (unsigned long long)reinterpret_cast<uintptr_t>(dataOf(field.buffer)) : 0;
    });
    return bytes;
  }

  // What written buffers hold before a launch whose result counts.
  void resetOutputs(cudaStream_t stream) const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.written()) buffer->reset(stream);
  }

  // Only what a launch reads and writes over: it would feed back into itself and grow without end.
  void resetInOuts(cudaStream_t stream) const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.access == BufferSpec::kInOut) buffer->reset(stream);
  }

  void armGuards() const {
    for (const auto& buffer : buffers_) buffer->armGuards();
  }

  bool hasExpected() const { return reference_->ready(); }

  // By the task's reference, from the buffers as they are before a launch.
  void computeExpected() {
    resetOutputs(nullptr);
    check(cudaDeviceSynchronize(), "preparing the buffers");
    reference_->compute([&](const std::string& name) { return dataOf(name); });
  }

  // By the rung that has just run.
  void takeExpected() {
    reference_->take([&](const std::string& name) { return dataOf(name); });
  }

  // What a launch did beside its results. Changed inputs are filled again.
  Verification inspect() const {
    Verification found;
    for (const auto& buffer : buffers_) {
      if (!buffer->guardsIntact()) found.outOfBounds.push_back(buffer->spec.name);
      if (!buffer->spec.written() && buffer->restoreIfChanged()) found.changedInputs.push_back(buffer->spec.name);
    }
    return found;
  }

  Verification verify() const {
    Verification found = inspect();
    for (const auto& buffer : buffers_)
      if (buffer->spec.written()) found.add(*buffer, (*reference_)[buffer->spec.name], smCount_);
    return found;
  }

 private:
  void* dataOf(const std::string& name) const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.name == name) return buffer->data();
    return nullptr;
  }

  int smCount_;
  std::vector<std::shared_ptr<TaskBuffer>> buffers_;
  std::unique_ptr<Reference> reference_;
};

// Of GPU memory, for cases that are held together.
inline size_t bytesOf(const std::vector<const Case*>& cases, Purpose purpose) {
  std::set<std::string> shared;
  size_t bytes = 0;
  for (const Case* one : cases) {
    for (const BufferSpec& spec : one->buffers)
      if (spec.written() || shared.insert(sharingKey(spec)).second)
        bytes += TaskBuffer::totalBytes(spec, purpose.guarded);
    if (purpose.checked) bytes += Reference::totalBytes(*one);
  }
  return bytes;
}

// Throws out-of-memory before anything is allocated.
inline void requireMemory(size_t needed, const Device& device) {
  if (needed > device.freeBytes)
    throw RunnerError{kBadInput, "out-of-memory",
                      "this problem needs " + std::to_string(needed >> 20) + " MiB of GPU memory and " +
                          std::to_string(device.freeBytes >> 20) + " MiB are free",
                      needed, device.freeBytes};
}

// Every case that a rung is of, held together.
class Problems {
 public:
  Problems(const Arguments& args, const Device& device, Purpose purpose) {
    for (const Case* one : args.usedCases()) problems_.try_emplace(one, *one, args.seed, device, purpose, shared_);
  }

  Problem& operator[](const Case* of) { return problems_.at(of); }

 private:
  SharedBuffers shared_;
  std::map<const Case*, Problem> problems_;
};
