// Records a rung's launches, fills and copies in call order. The call order of one thread is a valid order for CUDA's
// streams and events, so streams need no separate queues. Captured operations are stored in a graph until the graph is
// launched.
#pragma once

#include "../runner/json.hpp"

#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Operation {
  bool isLaunch;
  std::string fields;  // JSON without braces
};
using Operations = std::vector<Operation>;

Operations prepared, launched, released;  // operations of kl_prepare, kl_launch and kl_release
Operations* recording = &launched;

struct Graph {
  Operations operations;
  cudaStream_t origin;
};
std::vector<std::unique_ptr<Graph>> graphs;
std::map<cudaStream_t, Graph*> capturing;  // streams whose operations go into a graph
std::map<cudaEvent_t, Graph*> captured;    // events recorded in a captured stream

Graph* captureOf(cudaStream_t stream) {
  const auto found = capturing.find(stream);
  return found == capturing.end() ? nullptr : found->second;
}

Operations& operationsOf(cudaStream_t stream) {
  Graph* const graph = captureOf(stream);
  return graph ? graph->operations : *recording;
}

std::string launchesIn(const Operations& operations) {
  std::string list;
  for (const Operation& each : operations)
    if (each.isLaunch) list += (list.empty() ? "{" : ",{") + each.fields + "}";
  return "[" + list + "]";
}

// Returns the fills and copies as JSON, each with the number of earlier launches.
std::string memoryIn(const Operations& operations) {
  std::string list;
  size_t before = 0;
  for (const Operation& each : operations) {
    if (each.isLaunch) ++before;
    else list += (list.empty() ? "{" : ",{") + ("\"before\":" + Json::text(before)) + "," + each.fields + "}";
  }
  return "[" + list + "]";
}

// Dummy addresses. The upper half of an address is unlikely to occur in a table of numbers. Buffers have the first
// ranges (0 is the workspace), followed by one range per variable and one per allocation. These addresses are never
// accessed.
constexpr size_t firstSymbol = 128, firstAllocation = 256, mostAllocations = 1024;
constexpr int rangeShift = 38;
unsigned long long place(size_t index) { return 0x4b4c000000000000 + (index << rangeShift); }
size_t buffersPlaced = 0;

struct Allocated {
  size_t bytes;
  bool isFree;
};
std::vector<Allocated> allocations;

bool isDummy(const void* pointer) {
  const auto address = reinterpret_cast<unsigned long long>(pointer);
  if (address < place(0) || address >= place(firstAllocation + allocations.size())) return false;
  const size_t index = (address - place(0)) >> rangeShift;
  return index <= buffersPlaced || index >= firstSymbol;
}

}  // namespace
