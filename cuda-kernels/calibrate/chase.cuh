// Pointer chasing: rings of addresses in memory, and kernels that follow these rings.
#pragma once

#include "launch.cuh"
#include "measure.cuh"

#include <numeric>

// Fills the first `bytes` bytes with a ring that visits all multiples of `stride` bytes in random order. Each element
// is an 8-byte pointer.
inline void makeRing(const Buffer<uint64_t>& buffer, size_t bytes, size_t stride) {
  const size_t stops = bytes / stride;
  std::vector<uint32_t> order(stops);
  std::iota(order.begin(), order.end(), 0u);
  for (size_t i = stops - 1; i > 0; --i) std::swap(order[i], order[mixBits(uint32_t(i)) % (i + 1)]);
  std::vector<uint64_t> words(bytes / 8);
  for (size_t i = 0; i < stops; ++i)
    words[order[i] * (stride / 8)] = uint64_t(buffer.get()) + order[(i + 1) % stops] * stride;
  buffer.write(words);
}

enum class Through { L1, L2 };

template <Through kThrough>
__device__ __forceinline__ uint64_t loadPointer(uint64_t at) {
  uint64_t next;
  if (kThrough == Through::L1) asm volatile("ld.global.u64 %0, [%1];" : "=l"(next) : "l"(at));
  else asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at));
  return next;
}

// Follows the pointers of the ring with one thread: `warm` untimed loads, then `steps` timed loads (a multiple of 32).
template <Through kThrough>
__global__ void chaseRing(const uint64_t* ring, int warm, int steps, Stamp* stamps, uint64_t* sink) {
  uint64_t at = uint64_t(ring);
  for (int i = 0; i < warm; ++i) at = loadPointer<kThrough>(at);
  if (at == 1) *sink = at;
  const long long start = clock64();
  for (int i = 0; i < steps; i += 32)
#pragma unroll
    for (int u = 0; u < 32; ++u) at = loadPointer<kThrough>(at);
  if (at == 1) *sink = at;
  keepStamp(stamps, start, clock64());
}

// Returns the cycles per load in a ring of `bytes` bytes, after an untimed first pass.
template <Through kThrough>
Value warmChase(size_t bytes, size_t stride) {
  Buffer<uint64_t> buffer(bytes / 8);
  makeRing(buffer, bytes, stride);
  if (kThrough == Through::L1)
    check(cudaFuncSetAttribute(chaseRing<kThrough>, cudaFuncAttributePreferredSharedMemoryCarveout, 0), "carveout");
  const int stops = int(bytes / stride), steps = std::max(32, std::min(stops / 32 * 32, 8192));
  return perStep(blockCycles(1, [&](Stamp* stamps) { chaseRing<kThrough><<<1, 1>>>(buffer.get(), stops, steps, stamps, nullptr); }, 5),
                 steps);
}

inline void benchChase(const Gpu& gpu) {
  Line("latency.l1").number("bytes", 8).value("cycles", warmChase<Through::L1>(8 << 10, 32));
  Line("latency.l2").number("bytes", 8).value("cycles", warmChase<Through::L2>(1 << 20, 128));

  // DRAM latency without other traffic: a sweep has evicted the lines from L2.
  const size_t span = std::min(gpu.allowance() / 2, size_t(256) << 20);
  Buffer<uint64_t> buffer(span / 8);
  makeRing(buffer, span, 4096 + 128);
  const Flush flush(gpu);
  constexpr int kSteps = 4096;
  Line("latency.dram").number("bytes", 8).value("cycles", perStep(blockCycles(1, [&](Stamp* stamps) {
                                                    flush();
                                                    chaseRing<Through::L2><<<1, 1>>>(buffer.get(), 0, kSteps, stamps, nullptr);
                                                  }, 5), kSteps));

  // L1 capacity: the latency rises once the ring no longer fits.
  for (size_t kib = 16; kib <= 288; kib += kib < 96 ? 16 : 8)
    Line("l1.capacity").number("bytes", double(kib << 10)).value("cycles", warmChase<Through::L1>(kib << 10, 128));
}
