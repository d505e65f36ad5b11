// A rung: a shared library with the launch ABI. Its struct is just bytes here.
#pragma once

#include "problem.hpp"

#include <chrono>
#include <cuda.h>
#include <cxxabi.h>
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
    problem.resetOutputs(nullptr);
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

// A rung's launches, without a profiler: its kernels with their grid and block resources. The launch is captured
// into a CUDA graph that is never run, and the graph's kernel nodes are read.

// Driver functions, looked up at run time: the runner does not link libcuda, and older drivers lack some.
class Driver {
 public:
  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return;
    bind(library, "cuGraphGetNodes", nodes);
    bind(library, "cuGraphNodeGetType", typeOf);
    bind(library, "cuGraphKernelNodeGetParams_v2", kernelOf);
    bind(library, "cuGraphKernelNodeGetAttribute", attributeOf);
    bind(library, "cuGraphChildGraphNodeGetGraph", childOf);
    bind(library, "cuKernelGetFunction", functionOf);
    bind(library, "cuFuncGetAttribute", figureOf);
    bind(library, "cuFuncGetName", nameOf);
  }

  // Names and clusters may be missing (before CUDA 12.3 and 11.8); the rest is required.
  bool usable() const { return nodes && typeOf && kernelOf && figureOf; }

  CUresult (*nodes)(CUgraph, CUgraphNode*, size_t*) = nullptr;
  CUresult (*typeOf)(CUgraphNode, CUgraphNodeType*) = nullptr;
  CUresult (*kernelOf)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*) = nullptr;
  CUresult (*attributeOf)(CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue*) = nullptr;
  CUresult (*childOf)(CUgraphNode, CUgraph*) = nullptr;
  CUresult (*functionOf)(CUfunction*, CUkernel) = nullptr;
  CUresult (*figureOf)(int*, CUfunction_attribute, CUfunction) = nullptr;
  CUresult (*nameOf)(const char**, CUfunction) = nullptr;

 private:
  template <typename Function>
  static void bind(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
};

class LaunchReader {
 public:
  // Prints one line: the kernels in launch order, or why they are unknown.
  void print(const Rung& rung, cudaStream_t stream) const {
    std::string kernels, reason;
    if (!driver_.usable()) reason = "the driver is too old to report what a graph launches";
    else reason = capture(rung, stream, kernels);

    Json line("launches");
    line.string("rung", rung.id).raw("kernels", "[" + kernels + "]");
    if (reason.empty()) line.null("reason");
    else line.string("reason", reason);
    line.print();
  }

 private:
  std::string capture(const Rung& rung, cudaStream_t stream, std::string& kernels) const {
    // Relaxed: a rung may allocate or set attributes in its launch, which other modes forbid.
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) != cudaSuccess)
      return lastError("capturing failed");
    std::string reason;
    try {
      rung.launch("time", stream);
    } catch (const RungError& error) {
      reason = error.reason;
    }
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || !graph) {
      const std::string failure = lastError("its launch cannot be captured");
      if (reason.empty()) reason = failure;
    }
    if (reason.empty() && !read(graph, kernels)) reason = "the driver does not report what was captured";
    if (reason.empty() && kernels.empty()) reason = "nothing was launched on the runner's stream";
    if (!reason.empty()) kernels.clear();
    if (graph) cudaGraphDestroy(graph);
    if (!reason.empty()) clear(rung, stream);
    return reason;
  }

  // A launch that could not be captured may leave its error in the rung's own CUDA runtime, where the
  // next launch would find it.
  static void clear(const Rung& rung, cudaStream_t stream) {
    try {
      rung.launch("time", stream);
    } catch (const RungError&) {
    }
    cudaStreamSynchronize(stream);
    cudaGetLastError();
  }

  static std::string lastError(const char* what) { return std::string(what) + ": " + describe(cudaGetLastError()); }

  bool read(CUgraph graph, std::string& kernels) const {
    size_t count = 0;
    if (driver_.nodes(graph, nullptr, &count) != CUDA_SUCCESS) return false;
    std::vector<CUgraphNode> nodes(count);
    if (count && driver_.nodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return false;
    for (CUgraphNode node : nodes) {
      CUgraphNodeType type;
      if (driver_.typeOf(node, &type) != CUDA_SUCCESS) return false;
      CUgraph child = nullptr;
      if (type == CU_GRAPH_NODE_TYPE_KERNEL && !readKernel(node, kernels)) return false;
      if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
          !(driver_.childOf && driver_.childOf(node, &child) == CUDA_SUCCESS && read(child, kernels)))
        return false;
    }
    return true;
  }

  bool readKernel(CUgraphNode node, std::string& kernels) const {
    CUDA_KERNEL_NODE_PARAMS params{};
    if (driver_.kernelOf(node, &params) != CUDA_SUCCESS) return false;
    CUfunction function = params.func;
    if (!function && !(driver_.functionOf && driver_.functionOf(&function, params.kern) == CUDA_SUCCESS)) return false;
    int registers = 0, shared = 0;
    if (driver_.figureOf(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function) != CUDA_SUCCESS ||
        driver_.figureOf(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) != CUDA_SUCCESS)
      return false;
    const auto extent = [](unsigned x, unsigned y, unsigned z) {
      return "[" + Json::text(x) + "," + Json::text(y) + "," + Json::text(z) + "]";
    };
    kernels += (kernels.empty() ? "{\"name\":" : ",{\"name\":") + Json::quote(name(function)) +
               ",\"grid\":" + extent(params.gridDimX, params.gridDimY, params.gridDimZ) +
               ",\"block\":" + extent(params.blockDimX, params.blockDimY, params.blockDimZ) +
               ",\"registersPerThread\":" + Json::text(registers) + ",\"staticSharedBytes\":" + Json::text(shared) +
               ",\"dynamicSharedBytes\":" + Json::text(params.sharedMemBytes) +
               ",\"clusterBlocks\":" + clusterBlocks(node) + "}";
    return true;
  }

  std::string name(CUfunction function) const {
    const char* mangled = nullptr;
    if (!driver_.nameOf || driver_.nameOf(&mangled, function) != CUDA_SUCCESS || !mangled) return "";
    int status = 0;
    char* plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    const std::string result = status == 0 && plain ? plain : mangled;
    free(plain);
    return result;
  }

  std::string clusterBlocks(CUgraphNode node) const {
    CUlaunchAttributeValue value{};
    if (!driver_.attributeOf ||
        driver_.attributeOf(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) != CUDA_SUCCESS)
      return "null";
    return Json::text(value.clusterDim.x * value.clusterDim.y * value.clusterDim.z);
  }

  Driver driver_;
};
