// L1: SM cycles per global load that hits L1, for strided, multi-line, bank-conflict and random patterns.
#pragma once

#include "measure.cuh"

constexpr int kPatternWarps = 16;

template <typename Word>
__device__ __forceinline__ uint32_t loadWord(const unsigned char* at) {
  uint32_t a, b, c, d;
  if (sizeof(Word) == 4) asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(at));
  else if (sizeof(Word) == 8) asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at));
  else asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at));
  return a;
}

// Cycles through four patterns of lane offsets (in bytes) in a 64 KiB buffer that fits in L1. The compiler does not
// know that `zero` is 0, so it cannot hoist loads of the same address out of the loop.
template <int kSteps, typename Word>
__global__ void __launch_bounds__(512) loadPattern(int turns, size_t zero, const uint32_t* offsets, const unsigned char* data,
                                                   Stamp* stamps, uint32_t* sink) {
  const unsigned char* at[4];
  for (int i = 0; i < 4; ++i) at[i] = data + offsets[i * 32 + threadIdx.x % 32];
  uint32_t sum = 0;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) sum += loadWord<Word>(at[step % 4] + step / 4 * 16384);
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    uint32_t words[kSteps];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) words[step] = loadWord<Word>(at[step % 4] + step / 4 * 16384);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) sum ^= words[step];
#pragma unroll
    for (int i = 0; i < 4; ++i) at[i] += zero;
  }
  const long long end = clock64();
  if (sum == 1) *sink = sum;
  keepStamp(stamps, start, end);
}

template <typename Word>
Value patternCycles(const std::vector<uint32_t>& offsets) {
  constexpr int kSteps = 16;
  Buffer<uint32_t> lanes(128);
  lanes.write(offsets);
  Buffer<unsigned char> data(64 << 10);
  const auto kernel = loadPattern<kSteps, Word>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 0), "carveout");
  const auto run = [&](int turns) {
    return blockCycles(kPatternWarps, [&](Stamp* stamps) {
      kernel<<<1, 32 * kPatternWarps>>>(turns, 0, lanes.get(), data.get(), stamps, nullptr);
    });
  };
  return slope(run(48), run(16), 32.0 * kSteps * kPatternWarps);
}

// Prints a pattern's cycles, 32-byte sectors, lines, and words per bank.
inline void printPattern(const char* name, int argument, const std::vector<uint32_t>& offsets, int bytes, Value cycles) {
  double lines = 0, sectors = 0, banks = 0;
  for (int p = 0; p < 4; ++p) {
    std::vector<uint32_t> line, sector, word;
    for (int lane = 0; lane < 32; ++lane)
      for (int b = 0; b < bytes; b += 4) {
        const uint32_t at = offsets[p * 32 + lane] + b;
        line.push_back(at / 128), sector.push_back(at / 32), word.push_back(at / 4);
      }
    for (auto* list : {&line, &sector, &word}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    int most = 0;
    for (int bank = 0; bank < 32; ++bank)
      most = std::max(most, int(std::count_if(word.begin(), word.end(), [&](uint32_t w) { return int(w % 32) == bank; })));
    lines += line.size() / 4.0, sectors += sector.size() / 4.0, banks += most / 4.0;
  }
  Line("l1.pattern").text("pattern", name).number("argument", argument).number("bytes", bytes).number("lines", lines)
      .number("sectors", sectors).number("ways", banks).value("cycles", cycles);
}

inline void benchWavefronts(const Gpu&) {
  const auto pattern = [](auto place) {
    std::vector<uint32_t> offsets;
    for (uint32_t p = 0; p < 4; ++p)
      for (uint32_t lane = 0; lane < 32; ++lane) offsets.push_back(place(p, lane) % 16384);
    return offsets;
  };
  const auto bench = [&](const char* name, uint32_t argument, int bytes, auto place) {
    const auto at = pattern([&](uint32_t p, uint32_t lane) { return uint32_t(place(p, lane)) / bytes * bytes; });
    printPattern(name, int(argument), at, bytes,
                 bytes == 4 ? patternCycles<uint32_t>(at) : bytes == 8 ? patternCycles<uint2>(at) : patternCycles<uint4>(at));
  };
  for (const int bytes : {4, 8, 16}) {
    // The addresses of the lanes are `stride` elements apart.
    for (const uint32_t stride : {0, 1, 2, 4, 8, 16, 32})
      if (stride * bytes <= 512) bench("stride", stride, bytes, [&](uint32_t p, uint32_t lane) { return lane * stride * bytes + p * 4096; });
    for (const uint32_t kib : {1, 4, 16})
      bench("random", kib, bytes, [&](uint32_t p, uint32_t lane) { return mixBits(p * 32 + lane + 1) % (kib * 1024); });
  }
  // Every lane uses its own bank, across `lines` lines, so only tag lookups can add cycles.
  for (const uint32_t lines : {2, 4, 8, 16, 32})
    bench("lines", lines, 4, [&](uint32_t p, uint32_t lane) { return lane % lines * 128 + lane * 4 + p * 4096; });
  // Each bank in use serves `ways` words, each in a different line.
  for (const uint32_t ways : {2, 4, 8, 16, 32})
    bench("bank", ways, 4, [&](uint32_t p, uint32_t lane) { return lane % ways * 128 + lane / ways * 4 + p * 4096; });
}
