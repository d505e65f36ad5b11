// Barriers: BAR.SYNC for different warp counts, mbarrier, cp.async, and bulk copies (TMA) of small tiles from L2.
#pragma once

#include "measure.cuh"

#include "../include/kl_hopper.cuh"

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
#define FROM_80(...) __VA_ARGS__
#else
#define FROM_80(...)
#endif
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
#define FROM_90(...) __VA_ARGS__
#else
#define FROM_90(...)
#endif

template <int kSteps>
__global__ void __launch_bounds__(1024) syncBlock(int turns, Stamp* stamps) {
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int step = 0; step < kSteps; ++step) asm volatile("bar.sync 0;" ::: "memory");
  const long long end = clock64();
  keepStamp(stamps, start, end);
}

__device__ __forceinline__ void initBarrier(uint32_t barrier, int arrivals) {
  FROM_80(asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory"));
}

// Spins until the phase with this parity has completed.
__device__ __forceinline__ void waitBarrier(uint32_t barrier, uint32_t parity) {
  uint32_t done = 1;
  do {
    FROM_90(asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory"));
  } while (!done);
}

enum class Mbarrier { Arrive, TryWait, ArriveAndWait };

// Times mbarrier operations by one thread. An arrival returns a state whose low bits are 0. The next address depends on
// that state, so the operations form a chain.
template <Mbarrier kWhat, int kSteps>
__global__ void timeMbarrier(int turns, uint32_t zero, Stamp* stamps, uint32_t* sink) {
  __shared__ uint64_t barrier[2];
  uint32_t at = sharedAddress(barrier), parity = 1;
  initBarrier(at, kWhat == Mbarrier::Arrive ? 1 << 19 : 1);
  if (kWhat == Mbarrier::ArriveAndWait) parity = 0;
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (kWhat != Mbarrier::TryWait) {
        uint64_t state = 0;
        FROM_80(asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory"));
        at += uint32_t(state) & zero;
      }
      if (kWhat != Mbarrier::Arrive) {
        uint32_t done = 0;
        FROM_90(asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.u32 %0, 1, 0, p;\n}"
            : "=r"(done)
            : "r"(at), "r"(parity)
            : "memory"));
        at += done & zero;
      }
      if (kWhat == Mbarrier::ArriveAndWait) parity ^= 1;
    }
  if (at == 1) *sink = at;
  const long long end = clock64();
  keepStamp(stamps, start, end);
}

// Times one thread that copies `bytes` bytes from L2 and waits for the copy.
__global__ void timeBulkCopy(int turns, int bytes, const void* from, Stamp* stamps) {
  __shared__ __align__(128) unsigned char tile[32768];
  __shared__ uint64_t barrier;
  const uint32_t at = sharedAddress(&barrier), to = sharedAddress(tile);
  initBarrier(at, 1);
  FROM_90(asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"));
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    FROM_90(asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                "l"(from), "r"(bytes), "r"(at)
                : "memory"));
    waitBarrier(at, turn & 1);
  }
  const long long end = clock64();
  keepStamp(stamps, start, end);
}

// Times one thread that copies a box of `rows` rows and 64 16-bit columns with a tensor map and waits for the copy.
__global__ void timeTensorCopy(int turns, int rows, const __grid_constant__ CUtensorMap map, Stamp* stamps) {
  __shared__ __align__(1024) unsigned char tile[16384];
  __shared__ uint64_t barrier;
  const uint32_t at = sharedAddress(&barrier), to = sharedAddress(tile);
  initBarrier(at, 1);
  FROM_90(klBarrierInitFence());
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    FROM_90(klBarrierExpect(&barrier, rows * 128); klTmaLoad(to, &map, 0, 0, &barrier));
    waitBarrier(at, turn & 1);
  }
  const long long end = clock64();
  keepStamp(stamps, start, end);
}

// Times one warp that copies 16 bytes per lane with cp.async (bypassing L1) and waits for the copies.
__global__ void timeAsyncCopy(int turns, const uint4* from, Stamp* stamps) {
  __shared__ uint4 tile[32];
  const uint32_t to = sharedAddress(tile + threadIdx.x);
  const long long start = clock64();
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn)
    FROM_80(asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;" ::"r"(to),
                         "l"(from + threadIdx.x)
                         : "memory"));
  const long long end = clock64();
  keepStamp(stamps, start, end);
}

template <typename Run>
Value perTurn(Run run) {
  return slope(run(96), run(32), 64);
}

inline void benchBarriers(const Gpu& gpu) {
  constexpr int kTurns = 16, kShort = 16, kLong = 48;
  for (const int warps : {1, 2, 4, 8, 16, 32}) {
    const auto run = [&](auto kernel) {
      return blockCycles(warps, [&](Stamp* stamps) { kernel<<<1, 32 * warps>>>(kTurns, stamps); });
    };
    Line("latency.barrier")
        .number("warps", warps)
        .value("cycles", slope(run(syncBlock<kLong>), run(syncBlock<kShort>), double(kLong - kShort) * kTurns));
  }
  if (gpu.capability() >= 80) {
    Buffer<uint4> from(32);
    Line("latency.cp.async").number("bytes", 16).value("cycles", perTurn([&](int turns) {
      return blockCycles(1, [&](Stamp* stamps) { timeAsyncCopy<<<1, 32>>>(turns, from.get(), stamps); });
    }));
  }
  if (gpu.capability() < 90) return;
  const auto mbarrier = [&](const char* what, auto longer, auto shorter) {
    const auto run = [&](auto kernel) {
      return blockCycles(1, [&](Stamp* stamps) { kernel<<<1, 1>>>(kTurns, 0, stamps, nullptr); });
    };
    Line("latency.mbarrier").text("what", what).value("cycles", slope(run(longer), run(shorter), double(kLong - kShort) * kTurns));
  };
  mbarrier("arrive", timeMbarrier<Mbarrier::Arrive, kLong>, timeMbarrier<Mbarrier::Arrive, kShort>);
  mbarrier("try_wait", timeMbarrier<Mbarrier::TryWait, kLong>, timeMbarrier<Mbarrier::TryWait, kShort>);
  mbarrier("arrive+try_wait", timeMbarrier<Mbarrier::ArriveAndWait, kLong>, timeMbarrier<Mbarrier::ArriveAndWait, kShort>);
  Buffer<uint4> from(32768 / 16);
  for (const int bytes : {16, 128, 512, 2048, 8192, 32768})
    Line("latency.bulk").number("bytes", bytes).value("cycles", perTurn([&](int turns) {
      return blockCycles(1, [&](Stamp* stamps) { timeBulkCopy<<<1, 1>>>(turns, bytes, from.get(), stamps); });
    }));
  for (const int rows : {8, 32, 128}) {
    CUtensorMap map;
    if (klTensorMap(&map, reinterpret_cast<const __nv_bfloat16*>(from.get()), 128, 64, rows, 64) != cudaSuccess) return;
    Line("latency.tensor.copy").number("bytes", rows * 128).value("cycles", perTurn([&](int turns) {
      return blockCycles(1, [&](Stamp* stamps) { timeTensorCopy<<<1, 1>>>(turns, rows, map, stamps); });
    }));
  }
}
