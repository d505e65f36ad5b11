// Atomics in global memory: the latency of an atomic that returns a value, and the throughput of all SMs by number of
// addresses.
#pragma once

#include "measure.cuh"

template <int kSteps>
__global__ void chaseAtomic(int turns, uint32_t* counter, Stamp* stamps, uint32_t* sink) {
  uint32_t x = threadIdx.x;
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(x) : "l"(counter + threadIdx.x) : "memory");
  if (x == 0xffffffffu) *sink = x;
  keepStamp(stamps, start, clock64());
}

enum class Atomic { RedInt, RedFloat, AtomInt };
enum class Spread { Random, Rows };

// Random: the first `lanes` lanes of each warp add 1 to random words; `addresses` (a power of two) is the number of
// words. Rows: each warp adds 1 to 32 consecutive words.
template <Atomic kWhat, Spread kSpread>
__global__ void __launch_bounds__(256) addMany(uint32_t* words, uint32_t addresses, int lanes, int turns, uint32_t* sink) {
  if (int(threadIdx.x % 32) >= lanes) return;
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t sum = 0, at = thread;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    at = kSpread == Spread::Random ? mixBits(at + turn) : at + gridDim.x * blockDim.x;
    uint32_t* const word = words + (at & (addresses - 1));
    if (kWhat == Atomic::RedInt) asm volatile("red.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
    else if (kWhat == Atomic::RedFloat) asm volatile("red.global.add.f32 [%0], 0f3f800000;" ::"l"(word) : "memory");
    else {
      uint32_t old;
      asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(word) : "memory");
      sum ^= old;
    }
  }
  if (sum == 0xffffffffu) *sink = sum;
}

template <Atomic kWhat, Spread kSpread>
void benchAtomic(const Gpu& gpu, const Buffer<uint32_t>& words, const char* what, uint32_t addresses, int turns, int lanes = 32) {
  const EventTimer timer;
  const int blocks = gpu.sms() * 4;
  const auto run = [&](int count) {
    return timer.repeat(5, [&] { addMany<kWhat, kSpread><<<blocks, 256>>>(words.get(), addresses, lanes, count, nullptr); });
  };
  const Value ms = slope(run(3 * turns), run(turns), 2.0 * turns);
  const double warps = double(blocks) * 8;
  Line("atomics.global")
      .text("what", what)
      .text("places", kSpread == Spread::Random ? "random" : "rows")
      .number("addresses", addresses)
      .number("lanes", lanes)
      .number("nsPerWarp", ms.median * 1e6 / warps)
      .number("spread", ms.spread * 1e6 / warps)
      .number("lanesPerNs", warps * lanes / (ms.median * 1e6));
}

template <Spread kSpread>
void benchReductions(const Gpu& gpu, const Buffer<uint32_t>& words, uint32_t addresses, int turns, int lanes = 32) {
  benchAtomic<Atomic::RedInt, kSpread>(gpu, words, "red.int", addresses, turns, lanes);
  benchAtomic<Atomic::RedFloat, kSpread>(gpu, words, "red.float", addresses, turns, lanes);
}

inline void benchAtomics(const Gpu& gpu) {
  Buffer<uint32_t> words(1 << 22);
  for (const int lanes : {1, 32}) {
    const auto run = [&](auto kernel) {
      return blockCycles(1, [&](Stamp* stamps) { kernel<<<1, lanes>>>(8, words.get(), stamps, nullptr); });
    };
    Line("latency.atomic.global").number("lanes", lanes).value("cycles", slope(run(chaseAtomic<48>), run(chaseAtomic<16>), 32.0 * 8));
  }
  for (const uint32_t addresses : {1u, 2u, 4u, 8u, 32u, 256u, 4096u, 65536u, 1u << 20}) {
    const int turns = addresses < 64 ? 8 : 32;
    benchReductions<Spread::Random>(gpu, words, addresses, turns);
    benchAtomic<Atomic::AtomInt, Spread::Random>(gpu, words, "atom.int", addresses, turns);
  }
  for (const int lanes : {1, 4, 16}) benchReductions<Spread::Random>(gpu, words, 1, 64, lanes);
  benchReductions<Spread::Rows>(gpu, words, 1 << 20, 64);
  benchAtomic<Atomic::AtomInt, Spread::Rows>(gpu, words, "atom.int", 1 << 20, 64);
}
