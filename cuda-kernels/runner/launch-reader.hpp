// Reads the kernels that a rung launches, without a profiler.
#pragma once

#include "activity.hpp"
#include "rung.hpp"

#include <cuda.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <string>
#include <vector>

// Captures a launch into a CUDA graph that never runs, then reads the graph's kernel nodes. The nodes have the grid,
// block and resources of each kernel.

// Driver functions, loaded at run time. The runner does not link libcuda, and older drivers lack some of the functions.
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

  // Returns whether all required driver functions were found. Kernel names need CUDA 12.3 and cluster sizes need CUDA
  // 11.8, so the functions that read them are optional.
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
  LaunchReader() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }

  // Prints one line: the kernels in launch order, or the reason they are unknown. If a launch cannot be captured, such
  // as one on the default stream, prints the kernels in `traced`, which has all of their properties except the cluster
  // size.
  void print(const Rung& rung, const std::vector<LaunchedKernel>& traced) const {
    std::string kernels, reason;
    if (!driver_.usable()) reason = "the driver is too old to report what a graph launches";
    else reason = capture(rung, kernels);
    if (!reason.empty() && !traced.empty()) {
      reason.clear();
      for (const LaunchedKernel& kernel : traced)
        add(kernels, {plainName(kernel.mangled.c_str()), kernel.grid, kernel.block, kernel.registers,
                      kernel.staticShared, unsigned(kernel.dynamicShared), "null"});
    }

    Json line("launches");
    line.string("rung", rung.id).raw("kernels", "[" + kernels + "]");
    if (reason.empty()) line.null("reason");
    else line.string("reason", reason);
    line.print();
  }

 private:
  std::string capture(const Rung& rung, std::string& kernels) const {
    // Relaxed mode: a launch may allocate memory or set attributes, which other capture modes forbid.
    if (cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed) != cudaSuccess)
      return lastError("capturing failed");
    std::string reason;
    try {
      rung.launch("time", stream_);
    } catch (const RungError& error) {
      reason = error.reason;
    }
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(stream_, &graph) != cudaSuccess || !graph) {
      const std::string failure = lastError("its launch cannot be captured");
      if (reason.empty()) reason = failure;
    }
    if (reason.empty() && !read(graph, kernels)) reason = "the driver does not report what was captured";
    if (reason.empty() && kernels.empty()) reason = "nothing was launched on the runner's stream";
    if (!reason.empty()) kernels.clear();
    if (graph) cudaGraphDestroy(graph);
    if (!reason.empty()) clear(rung);
    return reason;
  }

  // Launches the rung once more after a failed capture. The capture may leave its error in the rung's own CUDA runtime,
  // and the next launch would return that error.
  void clear(const Rung& rung) const {
    try {
      rung.launch("time", stream_);
    } catch (const RungError&) {
    }
    cudaDeviceSynchronize();  // the rung launched on a stream that was not captured
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
    const unsigned grid[] = {params.gridDimX, params.gridDimY, params.gridDimZ};
    const unsigned block[] = {params.blockDimX, params.blockDimY, params.blockDimZ};
    add(kernels, {name(function), grid, block, registers, shared, params.sharedMemBytes, clusterBlocks(node)});
    return true;
  }

  struct Printed {
    std::string name;
    const unsigned* grid;
    const unsigned* block;
    int registers, staticShared;
    unsigned dynamicShared;
    std::string clusterBlocks;
  };

  static void add(std::string& kernels, const Printed& kernel) {
    const auto extent = [](const unsigned* of) {
      return "[" + Json::text(of[0]) + "," + Json::text(of[1]) + "," + Json::text(of[2]) + "]";
    };
    kernels += (kernels.empty() ? "{\"name\":" : ",{\"name\":") + Json::quote(kernel.name) +
               ",\"grid\":" + extent(kernel.grid) + ",\"block\":" + extent(kernel.block) +
               ",\"registersPerThread\":" + Json::text(kernel.registers) +
               ",\"staticSharedBytes\":" + Json::text(kernel.staticShared) +
               ",\"dynamicSharedBytes\":" + Json::text(kernel.dynamicShared) +
               ",\"clusterBlocks\":" + kernel.clusterBlocks + "}";
  }

  std::string name(CUfunction function) const {
    const char* mangled = nullptr;
    if (!driver_.nameOf || driver_.nameOf(&mangled, function) != CUDA_SUCCESS || !mangled) return "";
    return plainName(mangled);
  }

  static std::string plainName(const char* mangled) {
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
  // Nonblocking. If a blocking stream were captured, launches on the default stream would fail, and the rung might end
  // the process.
  cudaStream_t stream_ = nullptr;
};
