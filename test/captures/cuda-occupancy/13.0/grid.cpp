// What cuda_occupancy.h of CUDA 13.0 answers, as CSV: g++ grid.cpp -I <cuda>/include -o grid && ./grid > grid.csv
// What the header takes from the device (threads and shared memory of an SM) is given per row of `gpus`.
#include <cstddef>
#include <cuda_occupancy.h>

#include <climits>
#include <cstdio>

struct Gpu {
  int major, minor, threads;
  size_t shared, reserved;
};

int main() {
  const Gpu gpus[] = {{7, 5, 1024, 64, 0},  {8, 0, 2048, 164, 1}, {8, 6, 1536, 100, 1},
                      {8, 7, 1536, 164, 1}, {8, 9, 1536, 100, 1}, {9, 0, 2048, 228, 1},
                      {10, 0, 2048, 228, 1}, {10, 3, 2048, 228, 1}, {12, 0, 1536, 100, 1}};
  const int threads[] = {1, 96, 256, 384, 1000, 1024};
  const int registers[] = {16, 31, 40, 128, 255};
  const size_t shared[] = {0, 1, 9216, 49152, 66576, 101376, 166912, 240000};
  const int barriers[] = {1, 5, 16};
  puts("cc,threads,registers,shared,barriers,blocks,warpLimit,blockLimit,registerLimit,sharedLimit,barrierLimit,registersAllocated,sharedAllocated");
  int pick = 0;
  for (const Gpu& gpu : gpus)
    for (int t : threads)
      for (int r : registers)
        for (size_t s : shared) {
          const int b = barriers[pick++ % 3];
          cudaOccDeviceProp device;
          device.computeMajor = gpu.major;
          device.computeMinor = gpu.minor;
          device.maxThreadsPerBlock = 1024;
          device.maxThreadsPerMultiprocessor = gpu.threads;
          device.regsPerBlock = device.regsPerMultiprocessor = 65536;
          device.warpSize = 32;
          device.sharedMemPerBlock = 48 * 1024;
          device.sharedMemPerMultiprocessor = gpu.shared * 1024;
          device.numSms = 1;
          device.sharedMemPerBlockOptin = (gpu.shared - gpu.reserved) * 1024;
          device.reservedSharedMemPerBlock = gpu.reserved * 1024;
          cudaOccFuncAttributes function;
          function.maxThreadsPerBlock = 1024;
          function.numRegs = r;
          function.sharedSizeBytes = 0;
          function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          function.maxDynamicSharedSizeBytes = s;
          function.numBlockBarriers = b;
          cudaOccDeviceState state;
          cudaOccResult result;
          if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, t, s) != CUDA_OCC_SUCCESS) return 1;
          const auto limit = [](int value) { return value == INT_MAX ? -1 : value; };
          printf("%d.%d,%d,%d,%zu,%d,%d,%d,%d,%d,%d,%d,%d,%zu\n", gpu.major, gpu.minor, t, r, s, b,
                 result.activeBlocksPerMultiprocessor, limit(result.blockLimitWarps), limit(result.blockLimitBlocks),
                 limit(result.blockLimitRegs), limit(result.blockLimitSharedMem), limit(result.blockLimitBarriers),
                 result.allocatedRegistersPerBlock, result.allocatedSharedMemPerBlock);
        }
}
