// L2: bytes and requests per cycle, for one SM and for all SMs, by sectors per request. Covers reads of private lines,
// reads of lines that all SMs share, stores, and the L2 capacity.
#pragma once

#include "measure.cuh"

#include "launch.cuh"

constexpr int kL2Threads = 1024, kL2Loads = 8;

__device__ __forceinline__ uint32_t loadPastL1(const unsigned char* at) {
  uint32_t a, b, c, d;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at));
  return a;
}

// Reads or writes lines. Each warp instruction accesses 512 bytes as requests of kSectors sectors, in 16 / kSectors
// lines. A block cycles through `lines` lines (a power of two), starting at its share of the buffer.
template <int kSectors, bool kStore>
__global__ void __launch_bounds__(kL2Threads) walkLines(unsigned char* data, uint32_t lines, uint32_t linesPerBlock,
                                                        uint32_t turn0, int turns, Stamp* stamps, uint32_t* sink) {
  constexpr uint32_t kLines = 16 / kSectors, kWarps = kL2Threads / 32;
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned char* const base = data + size_t(blockIdx.x) * linesPerBlock * 128 + lane % (2 * kSectors) * 16;
  uint32_t line = (blockIdx.x * turn0 + warp) * kLines + lane / (2 * kSectors), sum = 0;
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < kL2Loads; ++i) {
      unsigned char* const at = base + size_t((line + i * kWarps * kLines) & (lines - 1)) * 128;
      if (kStore) asm volatile("st.global.cg.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(line) : "memory");
      else sum ^= loadPastL1(at);
    }
    line += kL2Loads * kWarps * kLines;
  }
  if (sum == 1) *sink = sum;
  __syncthreads();
  if (threadIdx.x == 0) stamps[blockIdx.x] = {start, clock64()};
}

struct Walk {
  double milliseconds;
  Value cycles;       // cycles of the slowest block
  double typical = 0;  // cycles of the median block
};

template <int kSectors, bool kStore>
Walk walk(const Buffer<unsigned char>& data, int blocks, uint32_t lines, bool shared, int turns) {
  Buffer<Stamp> stamps(blocks);
  const EventTimer timer;
  std::vector<double> cycles, typical, milliseconds;
  for (int i = 0; i < 6; ++i) {
    const double ms = timer.once([&] {
      walkLines<kSectors, kStore><<<blocks, kL2Threads>>>(data.get(), lines, shared ? 0 : lines, shared ? 37 : 0, turns,
                                                         stamps.get(), nullptr);
    });
    if (i == 0) continue;
    std::vector<double> each;
    for (const Stamp& s : stamps.read()) each.push_back(double(s.end - s.start));
    std::sort(each.begin(), each.end());
    cycles.push_back(each.back()), typical.push_back(each[each.size() / 2]), milliseconds.push_back(ms);
  }
  return {valueOf(milliseconds).median, valueOf(cycles), valueOf(typical).median};
}

template <int kSectors, bool kStore>
void benchWalk(const Buffer<unsigned char>& data, int blocks, uint32_t lines, bool shared) {
  const int turns = blocks == 1 ? 64 : 128;
  const Walk longer = walk<kSectors, kStore>(data, blocks, lines, shared, 3 * turns);
  const Walk shorter = walk<kSectors, kStore>(data, blocks, lines, shared, turns);
  const double warps = double(blocks) * kL2Threads / 32 * kL2Loads * 2 * turns;
  const double cycles = longer.cycles.median - shorter.cycles.median, rate = warps * 512 / cycles;
  Line(kStore ? "l2.write" : "l2.read")
      .number("sms", blocks)
      .text("lines", shared ? "shared" : "private")
      .number("sectorsPerRequest", kSectors)
      .number("lineBytes", double(lines) * 128)
      .number("bytesPerCycle", rate)
      .number("spread", rate * (longer.cycles.spread + shorter.cycles.spread) / cycles)
      .number("typicalBytesPerCycle", warps * 512 / (longer.typical - shorter.typical))
      .number("requestsPerCycle", warps * (16 / kSectors) / cycles)
      .number("gbs", warps * 512 / 1e6 / (longer.milliseconds - shorter.milliseconds));
}

// Reads `bytes` bytes repeatedly with all SMs.
__global__ void __launch_bounds__(kL2Threads) sweepAgain(const unsigned char* data, size_t bytes, int turns, uint32_t* sink) {
  const size_t step = size_t(gridDim.x) * blockDim.x * 16;
  uint32_t sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    size_t at = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * 16;
    for (; at + 3 * step < bytes; at += 4 * step) {
      uint32_t words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) words[i] = loadPastL1(data + at + i * step);
#pragma unroll
      for (int i = 0; i < 4; ++i) sum ^= words[i];
    }
    for (; at < bytes; at += step) sum ^= loadPastL1(data + at);
  }
  if (sum == 1) *sink = sum;
}

inline void benchL2(const Gpu& gpu) {
  const int sms = gpu.sms();
  // Private lines fill at most a third of L2.
  uint32_t lines = 1024;
  while (lines > 64 && size_t(lines) * 128 * sms > size_t(gpu.properties.l2CacheSize) / 3) lines /= 2;
  Buffer<unsigned char> data(std::max(size_t(lines) * 128 * sms, size_t(8192) * 128));
  for (const int blocks : {1, sms}) {
    benchWalk<1, false>(data, blocks, lines, false);
    benchWalk<2, false>(data, blocks, lines, false);
    benchWalk<4, false>(data, blocks, lines, false);
    benchWalk<1, true>(data, blocks, lines, false);
    benchWalk<4, true>(data, blocks, lines, false);
  }
  for (const int blocks : {2, 4, 8, 16, sms / 4, sms / 2}) benchWalk<4, false>(data, blocks, lines, false);
  for (const uint32_t shared : {1024u, 8192u}) {
    benchWalk<1, false>(data, sms, shared, true);
    benchWalk<4, false>(data, sms, shared, true);
  }
}

inline void benchL2Capacity(const Gpu& gpu) {
  const size_t l2 = size_t(gpu.properties.l2CacheSize);
  const size_t most = std::min(gpu.allowance() / 2, 2 * l2);
  Buffer<unsigned char> data(most);
  const EventTimer timer;
  for (int part = 2; part <= 32; ++part) {
    const size_t bytes = l2 / 16 * part / 4096 * 4096;
    if (bytes > most) break;
    const auto sweep = [&](int turns) {
      return timer.repeat(5, [&] { sweepAgain<<<2 * gpu.sms(), kL2Threads>>>(data.get(), bytes, turns, nullptr); });
    };
    const int turns = std::max(2, int((size_t(512) << 20) / bytes));
    const Value ms = slope(sweep(3 * turns), sweep(turns), 2.0 * turns);
    Line("l2.capacity").number("bytes", double(bytes)).number("gbs", double(bytes) / 1e6 / ms.median).number("spread", double(bytes) / 1e6 / ms.median * ms.spread / ms.median);
  }
}
