// Helpers shared by the rungs of all tasks: grid sizes, the order of tiles and pointer conversions.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

__host__ __device__ constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// Maximum resident threads per SM, to derive the second argument of __launch_bounds__, which caps registers
// so that this many blocks fit; ptxas warns if they cannot.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int kThreadsPerSm = 1024;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && \
    __CUDA_ARCH__ != 1000 && __CUDA_ARCH__ != 1030
constexpr int kThreadsPerSm = 1536;
#else
constexpr int kThreadsPerSm = 2048;
#endif

// A grid of `fast` x `slow` blocks, adjacent in launch order along `fast`, which maps to grid.x with its limit
// of 2^31 - 1. `slow` maps to grid.y, which is limited to 65535, and continues in grid.z: the last layer may
// have surplus blocks, which see klGridRow() beyond `slow` and return.
inline dim3 klGrid(int fast, int slow) {
  constexpr int kMaxGridY = 65535;
  const int layers = ceilDiv(slow, kMaxGridY);
  return dim3(fast, layers == 1 ? slow : kMaxGridY, layers);
}

__device__ inline int klGridRow() { return blockIdx.z * gridDim.y + blockIdx.y; }

// The order in which resident blocks take the tiles of a matrix. They come in bands of kGroup rows, column by column within a
// band: what runs concurrently is nearly a square, which needs the fewest rows and columns of what is multiplied. Serpentine bands
// begin with the columns that the one before ended with. With clusters a tile here is that of a cluster.
template <int kGroup, bool kSerpentine = false>
struct KlTileOrder {
  int rows, cols;

  __device__ int count() const { return rows * cols; }
  __device__ void at(int tile, int& row, int& col) const {
    const int band = tile / (kGroup * cols), inBand = tile - band * kGroup * cols;
    const int bandRows = min(kGroup, rows - band * kGroup);
    col = inBand / bandRows;
    row = band * kGroup + inBand - col * bandRows;
    if (kSerpentine && band % 2) col = cols - 1 - col;
  }
};

// The shared-memory address of a pointer, as PTX expects it.
__device__ inline uint32_t klSharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

inline bool klAligned16(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }
