// A rung: a shared library with the launch ABI. The runner fills the rung's launch struct as raw bytes.
#pragma once

#include "problem.hpp"

#include <chrono>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
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

  // Loads the library without allocating a workspace or preparing the rung. A library is never closed, because its
  // kernels may be registered and it may cache handles.
  void open(const Device& device) {
    library_ = ownLibrary(path_);
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
      cudaGetLastError();  // clears the CUDA error
      throw RungError{"load",
                      "its workspace of " + std::to_string(workspaceBytes_) + " bytes does not fit into GPU memory"};
    }
    pointAtWorkspace();
    // Fills the workspace with 0xff to reveal reads of uninitialized bytes. Under a memory checker, the workspace stays
    // uninitialized.
    if (problem.guarded) check(cudaMemset(workspace_->get(), 0xff, workspaceBytes_), "cudaMemset");
    zeroWorkspace(nullptr);
  }

  // Zeroes the workspace before a launch, if the task requires it.
  void zeroWorkspace(cudaStream_t stream) const {
    if (problem.of.zeroWorkspace && workspace_)
      check(cudaMemsetAsync(workspace_->get(), 0, workspaceBytes_, stream), "cudaMemset");
  }

  // Resets outputs and workspace before a launch that is verified.
  void resetOutputs(cudaStream_t stream) const {
    problem.resetOutputs(stream);
    zeroWorkspace(stream);
  }

  // Resets only the data that repeated launches would change.
  void resetInOuts(cudaStream_t stream) const {
    problem.resetInOuts(stream);
    zeroWorkspace(stream);
  }

  // Uses another rung's workspace, which must be at least as large. The two rungs must never run at the same time.
  void shareWorkspace(const Rung& other) {
    if (!workspaceBytes_) return;
    workspace_ = other.workspace_;
    pointAtWorkspace();
  }

  // Lets the rung set up everything that it keeps between launches. The rung's input buffers hold no data yet, because
  // work on the data must be part of a timed launch. Instead, a rung that compiles its kernels in this process launches
  // them with the data (kl_warm_up).
  void prepare() {
    prepare_ = find<decltype(prepare_)>(library_, "kl_prepare");
    release_ = find<decltype(release_)>(library_, "kl_release");
    const auto warmUp = find<const char* (*)(const void*, cudaStream_t)>(library_, "kl_warm_up");
    if (!prepare_ && !warmUp) return;
    if (prepare_) problem.hideInputs();
    else resetOutputs(nullptr);
    check(cudaDeviceSynchronize(), "preparing the buffers");
    const auto start = std::chrono::steady_clock::now();
    const std::string fault = warmUp ? textOf(warmUp(struct_.data(), nullptr)) : faultOf(prepare_(struct_.data()));
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) throw RungError{"load", "the kernel failed: " + describe(status)};
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    // Refills the inputs even after a failure, because other rungs read them.
    if (prepare_) problem.showInputs();
    if (!fault.empty()) throw RungError{"load", fault};
    isPrepared_ = prepare_ != nullptr;
    const auto about = find<const char* (*)(const void*)>(library_, "kl_about");
    const char* with = about ? about(struct_.data()) : nullptr;
    Json line("prepared");
    line.string("rung", id).number("seconds", taken.count());
    if (with) line.string("with", with);
    else line.null("with");
    line.print();
  }

  // Returns whether `release` calls the rung's own code.
  bool releasesItself() const { return isPrepared_ && release_; }

  // Ends the rung: calls kl_release and frees the workspace. Throws a rung error if the GPU work of kl_release failed.
  void release(const char* stage) {
    const bool calls = releasesItself();
    isPrepared_ = false;
    if (calls) release_(struct_.data());
    workspace_.reset();
    const cudaError_t status = calls ? cudaDeviceSynchronize() : cudaSuccess;
    if (status != cudaSuccess) throw RungError{stage, "kl_release failed: " + describe(status)};
  }

  // Launches the rung. A launch error may be returned, stored as the last error, or reported by the next
  // synchronization.
  void launch(const char* stage, cudaStream_t stream) const {
    cudaError_t status = launch_(struct_.data(), stream);
    if (status != cudaSuccess && failure_)
      if (const char* why = failure_(struct_.data())) throw RungError{stage, why};
    if (status == cudaSuccess) status = cudaGetLastError();
    if (status != cudaSuccess) throw RungError{stage, "the launch failed: " + describe(status)};
  }

  void launchAndWait(const char* stage, cudaStream_t stream) const {
    launch(stage, stream);
    const cudaError_t status = cudaDeviceSynchronize();  // waits for every stream, because a rung may create its own
    if (status != cudaSuccess) throw RungError{stage, "the kernel failed: " + describe(status)};
  }

 private:
  // Loads a separate library for each rung. Two rungs in a run can share a file, for example at two problem sizes. The
  // dynamic linker identifies a library by its file, so the second rung loads a copy with separate variables. A Python
  // rung is not copied, because its script is next to the file.
  static void* ownLibrary(const std::string& path) {
    static std::set<std::string> opened;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw RungError{"load", dlerror()};
    if (opened.insert(path).second || dlsym(library, "kl_warm_up")) return library;
    const int copy = memfd_create("rung", MFD_CLOEXEC);
    std::ifstream from(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(from), std::istreambuf_iterator<char>()};
    if (copy < 0 || write(copy, bytes.data(), bytes.size()) != ssize_t(bytes.size()))
      throw RungError{"load", "its library cannot be copied into memory"};
    // The descriptor stays open, so a later copy gets a different name.
    library = dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw RungError{"load", dlerror()};
    return library;
  }

  template <typename Function>
  static Function find(void* library, const char* name) {
    return reinterpret_cast<Function>(dlsym(library, name));
  }

  static std::string textOf(const char* text) { return text ? text : ""; }

  static std::string faultOf(cudaError_t prepared) {
    if (prepared == cudaSuccess) prepared = cudaGetLastError();
    return prepared == cudaSuccess ? "" : "kl_prepare failed: " + describe(prepared);
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
  cudaError_t (*prepare_)(const void*) = nullptr;
  void (*release_)(const void*) = nullptr;
  bool isPrepared_ = false;
  StructBytes struct_;
  size_t workspaceBytes_ = 0;
  std::shared_ptr<DeviceBuffer> workspace_;
};
