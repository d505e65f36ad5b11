// A rung: a shared library with the launch ABI. Its struct is just bytes here.
#pragma once

#include "problem.hpp"

#include <chrono>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <vector>

struct Unsupported {
  std::string reason;
};

class Rung {
 public:
  Rung(const RungPath& path, Problem& problem) : id(path.id), problem(problem), path_(path.path) {}

  const std::string id;
  Problem& problem;
  enum State { kNew, kReady, kOut } state = kNew;

  void load(const Device& device) {
    open(device);
    giveWorkspace();
    prepare();
  }

  // All but its workspace and what it prepares. A library is never closed: its kernels may be registered, and it may
  // cache handles.
  void open(const Device& device) {
    library_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw RungError{"load", dlerror()};
    launch_ = find<decltype(launch_)>(library_, "kl_launch");
    if (!launch_) throw RungError{"load", path_ + " does not define kl_launch"};
    if (const auto version = find<int (*)()>(library_, "kl_abi_version"); version && version() != KL_ABI_VERSION)
      throw RungError{"load", "built for launch ABI " + std::to_string(version()) + ", the runner speaks " +
                                  std::to_string(KL_ABI_VERSION)};

    struct_ = problem.launchStruct();
    const auto unsupported = find<const char* (*)(const void*, int)>(library_, "kl_unsupported");
    if (const char* reason = unsupported ? unsupported(struct_.data(), device.sm()) : nullptr)
      throw Unsupported{reason};

    const auto workspaceBytes = find<size_t (*)(const void*)>(library_, "kl_workspace_bytes");
    workspaceBytes_ = workspaceBytes ? workspaceBytes(struct_.data()) : 0;
    failure_ = find<decltype(failure_)>(library_, "kl_failure");
  }

  size_t workspaceBytes() const { return workspaceBytes_; }

  void giveWorkspace() {
    if (!workspaceBytes_) return;
    try {
      workspace_ = std::make_shared<DeviceBuffer>(workspaceBytes_);
    } catch (const RunnerError&) {
      cudaGetLastError();  // clears it
      throw RungError{"load",
                      "its workspace of " + std::to_string(workspaceBytes_) + " bytes does not fit into GPU memory"};
    }
    pointAtWorkspace();
    // What is not defined shows, unless a memory checker looks for it.
    if (problem.guarded) check(cudaMemset(workspace_->get(), 0xff, workspaceBytes_), "cudaMemset");
    zeroWorkspace(nullptr);
  }

  // Before each launch, where the task asks for it.
  void zeroWorkspace(cudaStream_t stream) const {
    if (problem.of.zeroWorkspace && workspace_)
      check(cudaMemsetAsync(workspace_->get(), 0, workspaceBytes_, stream), "cudaMemset");
  }

  // Prepares everything that a launch whose result counts may find.
  void resetOutputs(cudaStream_t stream) const {
    problem.resetOutputs(stream);
    zeroWorkspace(stream);
  }

  // Prepares only what repeated launches would change for each other.
  void resetInOuts(cudaStream_t stream) const {
    problem.resetInOuts(stream);
    zeroWorkspace(stream);
  }

  // Uses the workspace of a rung that is never launched at the same time and has one at least as large.
  void shareWorkspace(const Rung& other) {
    if (!workspaceBytes_) return;
    workspace_ = other.workspace_;
    pointAtWorkspace();
  }

  // A rung may compile its kernels in this process: that is over before it is verified, and its time is told.
  void prepare() {
    const auto prepare = find<const char* (*)(const void*, cudaStream_t)>(library_, "kl_prepare");
    if (!prepare) return;
    resetOutputs(nullptr);
    check(cudaDeviceSynchronize(), "preparing the buffers");
    const auto start = std::chrono::steady_clock::now();
    if (const char* why = prepare(struct_.data(), nullptr)) throw RungError{"load", why};
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw RungError{"load", "the kernel failed: " + describe(status)};
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const auto about = find<const char* (*)(const void*)>(library_, "kl_about");
    const char* with = about ? about(struct_.data()) : nullptr;
    Json line("prepared");
    line.string("rung", id).number("seconds", taken.count());
    if (with) line.string("with", with);
    else line.null("with");
    line.print();
  }

  // A launch error may be returned, left as the last error, or reported by the next synchronization.
  void launch(const char* stage, cudaStream_t stream) const {
    cudaError_t status = launch_(struct_.data(), stream);
    if (status != cudaSuccess && failure_)
      if (const char* why = failure_(struct_.data())) throw RungError{stage, why};
    if (status == cudaSuccess) status = cudaGetLastError();
    if (status != cudaSuccess) throw RungError{stage, "the launch failed: " + describe(status)};
  }

  void launchAndWait(const char* stage, cudaStream_t stream) const {
    launch(stage, stream);
    const cudaError_t status = cudaDeviceSynchronize();  // every stream: a rung may use its own
    if (status != cudaSuccess) throw RungError{stage, "the kernel failed: " + describe(status)};
  }

  void releaseWorkspace() { workspace_.reset(); }

 private:
  template <typename Function>
  static Function find(void* library, const char* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
  }

  void pointAtWorkspace() {
    bool given = false;
    for (const Field& field : problem.of.fields) {
      if (field.kind == Field::kWorkspaceBytes) struct_.put(field.offset, workspaceBytes_);
      if (field.kind != Field::kWorkspace) continue;
      struct_.put(field.offset, workspace_->get());
      given = true;
    }
    if (!given) throw RungError{"load", "it asks for a workspace, and the task's launch struct has none"};
  }

  std::string path_;
  void* library_ = nullptr;
  cudaError_t (*launch_)(const void*, cudaStream_t) = nullptr;
  const char* (*failure_)(const void*) = nullptr;
  StructBytes struct_;
  size_t workspaceBytes_ = 0;
  std::shared_ptr<DeviceBuffer> workspace_;
};
