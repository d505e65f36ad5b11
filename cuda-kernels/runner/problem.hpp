// The cases on the GPU: their buffers, their expected results, and the memory they take.
#pragma once

#include "cases.hpp"
#include "reference.hpp"
#include "device.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

// How a command uses its cases.
struct Purpose {
  bool checked;  // results are checked
  bool guarded;  // buffers have guard bands
};

// Read-only buffers by description: cases with the same description share one.
using SharedBuffers = std::map<std::string, std::shared_ptr<TaskBuffer>>;

inline std::string sharingKey(const BufferSpec& spec) { return std::to_string(spec.stream) + ":" + spec.text; }

class Problem {
 public:
  Problem(const Case& of, long long seed, const Device& device, Purpose purpose, SharedBuffers& shared)
      : of(of), guarded(purpose.guarded), smCount_(device.properties.multiProcessorCount) {
    for (const BufferSpec& spec : of.buffers) {
      const auto make = [&] { return std::make_shared<TaskBuffer>(spec, seed, smCount_, purpose.guarded); };
      if (spec.written() || spec.computed()) {
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
    computeInputs(of, smCount_, buffers_);
    if (purpose.checked)
      for (const auto& buffer : buffers_)
        if (buffer->spec.computed() && !buffer->spec.written()) buffer->remember();
  }

  const Case& of;
  const bool guarded;  // whether buffers have guard bands

  // The launch struct, except for the workspace, which belongs to the rung.
  StructBytes launchStruct() const {
    StructBytes bytes(of.structBytes);
    bytes.put(of.fields, [&](const Field& field) {
      return field.kind == Field::kBuffer ? (unsigned long long)reinterpret_cast<uintptr_t>(dataOf(field.buffer)) : 0;
    });
    return bytes;
  }

  // Prepares written buffers for a launch whose result counts.
  void resetOutputs(cudaStream_t stream) const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.written()) buffer->reset(stream);
  }

  // Overwrites what a launch reads, until `showInputs`. An output stays as it is, so that a checker sees who reads it.
  void hideInputs() const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.access != BufferSpec::kOut) buffer->hide();
  }
  void showInputs() const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.access != BufferSpec::kOut) buffer->reset(nullptr);
    check(cudaDeviceSynchronize(), "filling the inputs");
  }

  // Only buffers that a launch reads and overwrites: repeated launches would feed back and grow without bound.
  void resetInOuts(cudaStream_t stream) const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.access == BufferSpec::kInOut) buffer->reset(stream);
  }

  bool hasInOuts() const {
    return std::any_of(buffers_.begin(), buffers_.end(),
                       [](const auto& buffer) { return buffer->spec.access == BufferSpec::kInOut; });
  }

  void armGuards() const {
    for (const auto& buffer : buffers_) buffer->armGuards();
  }

  // Other inputs of the same kind. What was expected of the ones before counts no longer.
  void draw(long long seed) {
    for (const auto& buffer : buffers_) buffer->draw(seed);
    if (reference_) reference_->forget();
    check(cudaDeviceSynchronize(), "filling the inputs");
    computeInputs(of, smCount_, buffers_);
  }

  // So that `inspect` finds what the next launch changes.
  void remember() const {
    armGuards();
    for (const auto& buffer : buffers_)
      if (!buffer->spec.written()) buffer->remember();
  }

  // Buffers that hold results, by name.
  std::map<std::string, std::vector<char>> results() const {
    std::map<std::string, std::vector<char>> found;
    for (const auto& buffer : buffers_)
      if (buffer->spec.written()) found[buffer->spec.name] = buffer->contents();
    return found;
  }

  // Holds results of another process against the expected ones and adds what is found.
  void verifyResults(const std::map<std::string, std::vector<char>>& results, Verification& found) const {
    for (const auto& buffer : buffers_) {
      if (!buffer->spec.written()) continue;
      buffer->setContents(results.at(buffer->spec.name));
      found.add(*buffer, (*reference_)[buffer->spec.name], smCount_);
    }
  }

  bool hasExpected() const { return reference_->ready(); }

  // Computes the expected results with the task's reference, from the initial buffers.
  void computeExpected() {
    resetOutputs(nullptr);
    check(cudaDeviceSynchronize(), "preparing the buffers");
    reference_->compute([&](const std::string& name) { return dataOf(name); });
  }

  // Takes the expected results from the rung that has just run.
  void takeExpected() {
    reference_->take([&](const std::string& name) { return dataOf(name); });
  }

  // Side effects of a launch. Changed inputs are refilled.
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

// Bytes of GPU memory for cases that are held at the same time.
inline size_t bytesOf(const std::vector<const Case*>& cases, Purpose purpose) {
  std::set<std::string> shared;
  size_t bytes = 0;
  for (const Case* one : cases) {
    for (const BufferSpec& spec : one->buffers)
      if (spec.written() || spec.computed() || shared.insert(sharingKey(spec)).second)
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

// All cases that have rungs, held at the same time.
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
