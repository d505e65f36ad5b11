// Helpers shared by the rungs of all tasks: grid sizes, the order of tiles and pointer conversions.
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

__host__ __device__ constexpr int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// Maximum resident threads per SM. This maximum determines the second argument of __launch_bounds__, which limits
// registers so that the requested blocks fit. ptxas warns if they cannot.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int kThreadsPerSm = 1024;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900 && \
    __CUDA_ARCH__ != 1000 && __CUDA_ARCH__ != 1030
constexpr int kThreadsPerSm = 1536;
#else
constexpr int kThreadsPerSm = 2048;
#endif

// Returns a grid of `fast` x `slow` blocks. `fast` maps to grid.x (limit 2^31 - 1), and blocks along it are adjacent in
// launch order. `slow` maps to grid.y (limit 65535) and continues in grid.z. Surplus blocks in the last layer get a
// klGridRow() of at least `slow` and return.
inline dim3 klGrid(int fast, int slow) {
  constexpr int kMaxGridY = 65535;
  const int layers = ceilDiv(slow, kMaxGridY);
  return dim3(fast, layers == 1 ? slow : kMaxGridY, layers);
}

// Returns a block's index along the `slow` side of klGrid().
__device__ inline int klGridRow() { return blockIdx.z * gridDim.y + blockIdx.y; }

// The order in which resident blocks process the tiles of a matrix: bands of kGroup rows, column by column within a
// band. Concurrent tiles form nearly a square, which minimizes the rows and columns to load. Serpentine bands start
// with the columns that the previous band processed last. With clusters, one cluster processes each tile in this order.
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

// Returns the shared-memory address of a pointer, as PTX expects it.
__device__ inline uint32_t klSharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

inline bool klAligned16(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }
