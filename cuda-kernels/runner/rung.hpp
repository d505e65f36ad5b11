// A rung: a shared library that speaks the launch ABI.
#pragma once

#include "problem.hpp"

#include <dlfcn.h>
#include <memory>
#include <string>

struct Unsupported {
  std::string reason;
};

class Rung {
 public:
  Rung(const RungPath& path, Problem& problem)
      : id(path.id), epilogue(path.epilogue), problem(problem), path_(path.path) {}

  const std::string id;
  const Epilogue epilogue;
  Problem& problem;
  enum State { kNew, kReady, kOut } state = kNew;

  // A library is never closed: kernels of it may be registered, and handles cached in it.
  void load(const Device& device) {
    void* library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw RungError{"load", dlerror()};
    launch_ = find<decltype(launch_)>(library, "kl_launch");
    if (!launch_) throw RungError{"load", path_ + " does not define kl_launch"};
    if (const auto version = find<int (*)()>(library, "kl_abi_version"); version && version() != KL_ABI_VERSION)
      throw RungError{"load", "built for launch ABI " + std::to_string(version()) + ", the runner speaks " +
                                  std::to_string(KL_ABI_VERSION)};

    gemm_ = problem.gemm(epilogue);
    const auto unsupported = find<const char* (*)(const KlGemm*, int)>(library, "kl_unsupported");
    if (const char* reason = unsupported ? unsupported(&gemm_, device.sm()) : nullptr) throw Unsupported{reason};

    if (const auto bytes = find<size_t (*)(const KlGemm*)>(library, "kl_workspace_bytes")) gemm_.workspaceBytes = bytes(&gemm_);
    if (gemm_.workspaceBytes == 0) return;
    try {
      workspace_ = std::make_unique<DeviceBuffer>(gemm_.workspaceBytes);
    } catch (const RunnerError&) {
      cudaGetLastError();  // clears it
      throw RungError{"load", "its workspace of " + std::to_string(gemm_.workspaceBytes) + " bytes does not fit into GPU memory"};
    }
    gemm_.workspace = workspace_->get();
  }

  // The error of a launch can be returned, be left as the last error, or come with the next wait.
  void launch(const char* stage, cudaStream_t stream) const {
    cudaError_t status = launch_(&gemm_, stream);
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

  std::string path_;
  cudaError_t (*launch_)(const KlGemm*, cudaStream_t) = nullptr;
  KlGemm gemm_{};
  std::unique_ptr<DeviceBuffer> workspace_;
};
