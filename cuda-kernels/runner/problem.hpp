// The cases on the GPU: their buffers, expected results and memory requirements.
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

// Checks and guard bands that a command needs for its cases.
struct Purpose {
  bool checked;  // whether results are checked
  bool guarded;  // whether buffers have guard bands
};

// Read-only buffers, keyed by description. Cases with the same description share one buffer.
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

  // Returns the launch struct without the workspace, which belongs to the rung.
  StructBytes launchStruct() const {
    StructBytes bytes(of.structBytes);
    bytes.put(of.fields, [&](const Field& field) {
      return field.kind == Field::kBuffer ? (unsigned long long)reinterpret_cast<uintptr_t>(dataOf(field.buffer)) : 0;
    });
    return bytes;
  }

  // Resets written buffers before a launch that is verified.
  void resetOutputs(cudaStream_t stream) const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.written()) buffer->reset(stream);
  }

  // Overwrites a launch's inputs; `showInputs` restores them. Outputs stay uninitialized, so a memory checker detects
  // reads of outputs.
  void hideInputs() const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.access != BufferSpec::kOut) buffer->hide();
  }
  void showInputs() const {
    for (const auto& buffer : buffers_)
      if (buffer->spec.access != BufferSpec::kOut) buffer->reset(nullptr);
    check(cudaDeviceSynchronize(), "filling the inputs");
  }

  // Resets only buffers that a launch reads and overwrites. Otherwise, each launch would read the previous launch's
  // output, and the values could grow without bound.
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

  // Draws new inputs of the same kind and discards the previous expected results.
  void draw(long long seed) {
    for (const auto& buffer : buffers_) buffer->draw(seed);
    if (reference_) reference_->forget();
    check(cudaDeviceSynchronize(), "filling the inputs");
    computeInputs(of, smCount_, buffers_);
  }

  // Arms the guards and stores input checksums, so `inspect` detects changes made by the next launch.
  void remember() const {
    armGuards();
    for (const auto& buffer : buffers_)
      if (!buffer->spec.written()) buffer->remember();
  }

  // Returns the contents of written buffers, keyed by name.
  std::map<std::string, std::vector<char>> results() const {
    std::map<std::string, std::vector<char>> found;
    for (const auto& buffer : buffers_)
      if (buffer->spec.written()) found[buffer->spec.name] = buffer->contents();
    return found;
  }

  // Compares results from another process with the expected results and adds the findings.
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

  // Uses the output of the rung that just ran as the expected results.
  void takeExpected() {
    reference_->take([&](const std::string& name) { return dataOf(name); });
  }

  // Returns the side effects of a launch, and refills changed inputs.
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

// Returns the GPU memory, in bytes, that the cases need while all of them exist at the same time.
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

// Throws an out-of-memory error, before anything is allocated, if the GPU has too little free memory.
inline void requireMemory(size_t needed, const Device& device) {
  if (needed > device.freeBytes)
    throw RunnerError{kBadInput, "out-of-memory",
                      "this problem needs " + std::to_string(needed >> 20) + " MiB of GPU memory and " +
                          std::to_string(device.freeBytes >> 20) + " MiB are free",
                      needed, device.freeBytes};
}

// Holds all cases that have rungs in GPU memory at the same time.
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
