// DRAM: bandwidth of reads, writes and copies, partially written sectors, and latency under load.
#pragma once

#include "chase.cuh"
#include "l2.cuh"
#include "measure.cuh"

// Writes 16 bytes of every `stride` bytes.
__global__ void writeEvery(unsigned char* data, size_t bytes, size_t stride) {
  const uint4 value = {1, 2, 3, 4};
  for (size_t at = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * stride; at < bytes; at += size_t(gridDim.x) * blockDim.x * stride)
    *reinterpret_cast<uint4*>(data + at) = value;
}

__global__ void copyAll(const uint4* from, uint4* to, size_t units) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < units; i += size_t(gridDim.x) * blockDim.x) to[i] = from[i];
}

// Block 0 follows the ring while the other blocks read the buffer. The other blocks stop when block 0 is done. `counts`
// receives the bytes that each block read.
__global__ void __launch_bounds__(kL2Threads) chaseUnderLoad(const uint64_t* ring, int steps, const unsigned char* data, size_t bytes,
                                                             volatile int* stop, unsigned long long* counts, Stamp* stamps,
                                                             unsigned long long* nanoseconds, uint32_t* sink) {
  if (blockIdx.x == 0) {
    if (threadIdx.x > 0) return;
    // Waits 50 microseconds until the readers have put DRAM under load.
    for (const unsigned long long begin = globalTimer(); globalTimer() - begin < 50000;) continue;
    const unsigned long long begin = globalTimer();
    uint64_t at = uint64_t(ring);
    const long long start = clock64();
    for (int i = 0; i < steps; ++i) at = loadPointer<Through::L2>(at);
    if (at == 1) *sink = 1;
    stamps[0] = {start, clock64()};
    nanoseconds[0] = globalTimer() - begin;
    *stop = 1;
    return;
  }
  const size_t step = size_t(gridDim.x - 1) * blockDim.x * 16;
  size_t at = (size_t(blockIdx.x - 1) * blockDim.x + threadIdx.x) * 16;
  uint32_t sum = 0;
  unsigned long long count = 0;
  const size_t first = at;
  const unsigned long long begin = globalTimer();
  while (!*stop) {
    for (int turn = 0; turn < 8; ++turn) {  // polls the stop flag only every eight turns
      if (at + 3 * step >= bytes) at = first;
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) words[i] = loadPastL1(data + at + i * step);
#pragma unroll
      for (int i = 0; i < 4; ++i) sum ^= words[i];
      at += 4 * step;
    }
    ++count;
  }
  if (threadIdx.x == 0) {
    counts[blockIdx.x] = count * blockDim.x * 8 * 64;
    nanoseconds[blockIdx.x] = globalTimer() - begin;
  }
  if (sum == 1) *sink = sum;
}

inline void benchLoadedLatency(const Gpu& gpu, const Buffer<uint64_t>& ring, const Buffer<unsigned char>& data) {
  constexpr int kSteps = 2048;
  const Flush flush(gpu);
  const int sms = gpu.sms();
  Buffer<int> stop(1);
  Buffer<Stamp> stamps(1);
  for (const int loaders : {0, sms / 16, sms / 8, sms / 4, sms / 3, sms / 2, 2 * sms / 3, 5 * sms / 6, sms - 1, 2 * sms - 2}) {
    Buffer<unsigned long long> counts(1 + loaders), nanoseconds(1 + loaders);
    std::vector<double> cycles, rates;
    for (int i = 0; i < 5; ++i) {
      stop.write({0});
      flush();
      chaseUnderLoad<<<1 + loaders, kL2Threads>>>(ring.get(), kSteps, data.get(), data.bytes(), stop.get(), counts.get(), stamps.get(),
                                                  nanoseconds.get(), nullptr);
      check(cudaGetLastError(), "measuring loaded latency");
      check(cudaDeviceSynchronize(), "measuring loaded latency");
      const Stamp stamp = stamps.read()[0];
      cycles.push_back(double(stamp.end - stamp.start) / kSteps);
      const auto bytes = counts.read(), times = nanoseconds.read();
      double rate = 0;
      for (int b = 1; b <= loaders; ++b)
        if (times[b] > 0) rate += double(bytes[b]) / double(times[b]);
      rates.push_back(rate);
    }
    Line("latency.dram.loaded").number("loaders", loaders).value("cycles", valueOf(cycles)).number("gbs", valueOf(rates).median);
  }
}

inline void benchDram(const Gpu& gpu) {
  const size_t bytes = std::min(gpu.allowance() / 3, size_t(1) << 30) / 65536 * 65536;
  Buffer<unsigned char> data(bytes);
  const EventTimer timer;
  const int blocks = gpu.sms() * 8;
  const auto print = [&](const char* what, double moved, Value ms) {
    Line("dram").text("what", what).number("bytes", moved).value("ms", ms).number("gbs", moved / 1e6 / ms.median);
  };
  uint4* const units = reinterpret_cast<uint4*>(data.get());
  print("read", double(bytes), timer.repeat(9, [&] { sweepAgain<<<2 * gpu.sms(), kL2Threads>>>(data.get(), bytes, 1, nullptr); }));
  print("write", double(bytes), timer.repeat(9, [&] { writeEvery<<<blocks, 256>>>(data.get(), bytes, 16); }));
  print("write.half.sectors", double(bytes) / 2, timer.repeat(9, [&] { writeEvery<<<blocks, 256>>>(data.get(), bytes, 32); }));
  print("write.sixteenth", double(bytes) / 8, timer.repeat(9, [&] { writeEvery<<<blocks, 256>>>(data.get(), bytes, 128); }));
  print("copy", double(bytes), timer.repeat(9, [&] { copyAll<<<blocks, 256>>>(units, units + bytes / 32, bytes / 32); }));

  Buffer<uint64_t> ring(std::min(bytes, size_t(256) << 20) / 8);
  makeRing(ring, ring.bytes(), 4096 + 128);
  benchLoadedLatency(gpu, ring, data);
}
