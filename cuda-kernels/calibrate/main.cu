// Measures the parameters of the timing model on the first visible GPU and prints one JSON object per line.
//   kl-calibrate [GROUP…]      groups: see below; default: all
#include "atomics.cuh"
#include "barriers.cuh"
#include "chase.cuh"
#include "clock.cuh"
#include "dram.cuh"
#include "instruction-cache.cuh"
#include "l2.cuh"
#include "launch.cuh"
#include "measure.cuh"
#include "pipes.cuh"
#include "queue.cuh"
#include "shared.cuh"
#include "special.cuh"
#include "tensor.cuh"
#include "wavefronts.cuh"
#include "wgmma.cuh"

#include <chrono>

struct Group {
  const char* name;
  void (*run)(const Gpu&);
};

// The clock group runs first because it also wakes up the GPU.
static const Group groups[] = {
    {"clock", benchClock},         {"pipes", benchPipes},           {"shared", benchShared},
    {"special", benchSpecial},     {"queue", benchQueue}, {"barriers", benchBarriers},     {"chase", benchChase},
    {"wavefronts", benchWavefronts}, {"l2", benchL2},               {"l2-capacity", benchL2Capacity},
    {"dram", benchDram},           {"atomics", benchAtomics},       {"instruction-cache", benchInstructionCache},
    {"launch", benchLaunch},       {"tensor", benchTensor},         {"wgmma", benchWgmma},
};

static Gpu openGpu() {
  Gpu gpu;
  int count = 0;
  check(cudaGetDeviceCount(&count), "looking for a GPU");
  if (count == 0) {
    fprintf(stderr, "looking for a GPU: there is none\n");
    exit(3);
  }
  check(cudaGetDeviceProperties(&gpu.properties, 0), "cudaGetDeviceProperties");
  check(cudaDeviceGetAttribute(&gpu.clockKHz, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
  return gpu;
}

int main(int count, char** names) {
  const Gpu gpu = openGpu();
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  Line("gpu")
      .number("version", 1)
      .text("name", gpu.properties.name)
      .text("computeCapability", std::to_string(gpu.properties.major) + "." + std::to_string(gpu.properties.minor))
      .number("sms", gpu.sms())
      .number("boostMHz", gpu.clockKHz / 1e3)
      .number("l2Bytes", gpu.properties.l2CacheSize)
      .number("sharedBytesPerSm", double(gpu.properties.sharedMemPerMultiprocessor))
      .number("sharedBytesPerBlock", double(gpu.properties.sharedMemPerBlockOptin))
      .number("memoryBytes", double(gpu.properties.totalGlobalMem))
      .number("driver", driver)
      .number("runtime", runtime);
  for (const Group& group : groups) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted |= group.name == std::string(names[i]);
    if (!wanted) continue;
    const auto start = std::chrono::steady_clock::now();
    group.run(gpu);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Line("group").text("name", group.name).number("seconds", seconds);
  }
  Line("end").number("version", 1);
}
