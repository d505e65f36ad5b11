// Launch costs: the time of an empty kernel by grid and block size (cold and warm), the gap to the next kernel in the
// stream, and the gap between two blocks on one SM.
#pragma once

#include "measure.cuh"

#include <map>

__global__ void emptyKernel() {}

// Reads a buffer larger than L2, which evicts everything else from L2 and from the code and constant caches.
__global__ void sweepMemory(const uint4* data, size_t units, uint32_t* sink) {
  uint32_t sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < units; i += size_t(gridDim.x) * blockDim.x)
    sum += data[i].x;
  if (sum == 1) *sink = sum;
}

class Flush {
 public:
  explicit Flush(const Gpu& gpu)
      : gpu_(gpu), buffer_(std::min(gpu.allowance() / 2, 6 * size_t(gpu.properties.l2CacheSize) + (size_t(64) << 20)) / 16) {}
  void operator()() const {
    sweepMemory<<<gpu_.sms() * 8, 256>>>(buffer_.get(), buffer_.bytes() / 16, nullptr);
    check(cudaGetLastError(), "flushing L2");
  }

 private:
  const Gpu& gpu_;
  Buffer<uint4> buffer_;
};

struct BlockStamp {
  long long start, end;
  uint32_t sm;
};

// Stores the SM clock of each block at its start and at least `wait` cycles later.
__global__ void stampBlocks(int wait, BlockStamp* stamps) {
  const long long start = clock64();
  while (clock64() - start < wait) continue;
  __syncthreads();
  if (threadIdx.x == 0) stamps[blockIdx.x] = {start, clock64(), smNumber()};
}

inline std::map<uint32_t, std::vector<BlockStamp>> bySm(const std::vector<BlockStamp>& stamps) {
  std::map<uint32_t, std::vector<BlockStamp>> sms;
  for (const BlockStamp& s : stamps) sms[s.sm].push_back(s);
  for (auto& [sm, list] : sms)
    std::sort(list.begin(), list.end(), [](const BlockStamp& a, const BlockStamp& b) { return a.start < b.start; });
  return sms;
}

// Measures the cycles between the end of a block and the start of the block that replaces it. Each block uses `shared`
// bytes of shared memory.
inline void benchBlockTurn(const Gpu& gpu, int threads, int shared) {
  check(cudaFuncSetAttribute(stampBlocks, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, stampBlocks, threads, shared), "occupancy");
  const int blocks = 4 * resident * gpu.sms();
  Buffer<BlockStamp> stamps(blocks);
  std::vector<double> gaps;
  for (int i = 0; i < 4; ++i) {
    stampBlocks<<<blocks, threads, shared>>>(5000, stamps.get());
    check(cudaDeviceSynchronize(), "stamping blocks");
    if (i == 0) continue;
    for (const auto& [sm, list] : bySm(stamps.read())) {
      std::vector<long long> ends;
      for (const BlockStamp& s : list) ends.push_back(s.end);
      std::sort(ends.begin(), ends.end());
      for (size_t b = resident; b < list.size(); ++b) gaps.push_back(double(list[b].start - ends[b - resident]));
    }
  }
  Line("block.turn").number("threads", threads).number("sharedBytes", shared).number("resident", resident).value("cycles", valueOf(gaps));
}

// Measures the cycles on an SM between the last block of a kernel and the first block of the next kernel.
inline void benchKernelTurn(const Gpu& gpu) {
  const int blocks = gpu.sms();
  Buffer<BlockStamp> first(blocks), second(blocks);
  std::vector<double> gaps;
  for (int i = 0; i < 12; ++i) {
    stampBlocks<<<blocks, 1024>>>(20000, first.get());
    stampBlocks<<<blocks, 1024>>>(20000, second.get());
    check(cudaDeviceSynchronize(), "stamping kernels");
    if (i == 0) continue;
    const auto before = bySm(first.read());
    std::vector<double> here;
    for (const auto& [sm, list] : bySm(second.read())) {
      const auto found = before.find(sm);
      if (found != before.end()) here.push_back(double(list.front().start - found->second.back().end));
    }
    gaps.push_back(valueOf(here).median);
  }
  Line("launch.turn").value("cycles", valueOf(gaps));
}

inline void benchLaunch(const Gpu& gpu) {
  const EventTimer timer;
  const Flush flush(gpu);
  Line("launch.nothing").value("ms", timer.repeat(50, [] {}));
  for (const int blocks : {1, gpu.sms(), 1000, 10000, 100000})
    for (const int threads : {32, 256, 1024})
      Line("launch.empty")
          .text("cache", "warm")
          .number("blocks", blocks)
          .number("threads", threads)
          .value("ms", timer.repeat(30, [&] { emptyKernel<<<blocks, threads>>>(); }));
  for (const int blocks : {1, gpu.sms(), 10000}) {
    std::vector<double> samples;
    for (int i = 0; i < 15; ++i) {
      flush();
      samples.push_back(timer.once([&] { emptyKernel<<<blocks, 256>>>(); }));
    }
    Line("launch.empty").text("cache", "cold").number("blocks", blocks).number("threads", 256).value("ms", valueOf(samples));
  }
  const auto row = [&](int count) {
    return timer.repeat(15, [&] {
      for (int i = 0; i < count; ++i) emptyKernel<<<1, 32>>>();
    }, 3000);
  };
  Line("launch.next").value("ms", slope(row(200), row(100), 100));
  benchKernelTurn(gpu);
  const int most = int(gpu.properties.sharedMemPerBlockOptin);
  for (const int threads : {32, 128, 256, 512, 1024}) benchBlockTurn(gpu, threads, most);
  for (const int threads : {256, 512, 1024}) benchBlockTurn(gpu, threads, 0);
}
