// A tree of launches. Each launch reduces blocks of elements to one element per block, until one element is left.
#pragma once

#include "kernel_ladder.h"

// Returns the number of elements left after every block has summed `perBlock` elements.
inline long long klBlocks(long long n, long long perBlock) { return (n + perBlock - 1) / perBlock; }

// Returns the size in bytes of the sums of the first and second pass. Later passes alternate between the two buffers.
inline size_t klPassBytes(long long n, long long perBlock) {
  const long long first = klBlocks(n, perBlock);
  return (first + klBlocks(first, perBlock)) * sizeof(float);
}

// Runs all passes. launch(from, to, n, blocks) sums the n elements of `from` into one element of `to` per block.
template <typename Launch>
cudaError_t klPasses(const KlTask* p, long long perBlock, Launch launch) {
  const float* from = p->x;
  float* const first = static_cast<float*>(p->workspace);
  float* const second = first + klBlocks(p->N, perBlock);
  for (long long n = p->N;;) {
    const long long blocks = klBlocks(n, perBlock);
    float* to = blocks == 1 ? p->y : from == first ? second : first;
    launch(from, to, n, unsigned(blocks));
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess || blocks == 1) return status;
    from = to;
    n = blocks;
  }
}
