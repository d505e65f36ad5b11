// Code shared by both rungs: each block's tiles of A, B and C in shared and global memory.
#pragma once

#include "kernel_ladder.h"

#include <cute/tensor.hpp>

using Half = cute::half_t;

constexpr int kRows = 128, kColumns = 128, kDepth = 32, kThreads = 128;

// A tile has rows of 32 halves. The swizzle places eight rows of a column in different banks.
using TileLayout = decltype(cute::tile_to_shape(
    cute::composition(cute::Swizzle<2, 3, 3>{}, cute::Layout<cute::Shape<cute::_8, cute::_32>, cute::Stride<cute::_32, cute::_1>>{}),
    cute::Shape<cute::Int<kRows>, cute::Int<kDepth>>{}));

// Each load copies eight halves, so four threads copy a row.
using TileCopy = decltype(cute::make_tiled_copy(
    cute::Copy_Atom<cute::UniversalCopy<cute::uint128_t>, Half>{},
    cute::Layout<cute::Shape<cute::_32, cute::_4>, cute::Stride<cute::_4, cute::_1>>{},
    cute::Layout<cute::Shape<cute::_1, cute::_8>>{}));

template <class TiledMma>
__global__ void __launch_bounds__(kThreads) multiply(const Half* a, const Half* b, float* c, int m, int n, int k) {
  using namespace cute;
  __shared__ Half sharedA[cosize_v<TileLayout>], sharedB[cosize_v<TileLayout>];
  const Tensor A = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, _1{}));
  const Tensor B = make_tensor(make_gmem_ptr(b), make_shape(n, k), make_stride(k, _1{}));
  Tensor C = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, _1{}));

  const auto tileA = local_tile(A, Shape<Int<kRows>, Int<kDepth>>{}, make_coord(blockIdx.y, _));
  const auto tileB = local_tile(B, Shape<Int<kColumns>, Int<kDepth>>{}, make_coord(blockIdx.x, _));
  auto tileC = local_tile(C, Shape<Int<kRows>, Int<kColumns>>{}, make_coord(blockIdx.y, blockIdx.x));
  Tensor sA = make_tensor(make_smem_ptr(sharedA), TileLayout{});
  Tensor sB = make_tensor(make_smem_ptr(sharedB), TileLayout{});

  const auto copyA = TileCopy{}.get_slice(threadIdx.x), copyB = copyA;
  const auto mma = TiledMma{}.get_slice(threadIdx.x);
  auto partC = mma.partition_C(tileC);
  auto sums = mma.make_fragment_C(partC);
  clear(sums);
  for (int step = 0; step < size<2>(tileA); ++step) {
    copy(TileCopy{}, copyA.partition_S(tileA(_, _, step)), copyA.partition_D(sA));
    copy(TileCopy{}, copyB.partition_S(tileB(_, _, step)), copyB.partition_D(sB));
    __syncthreads();
    const auto partA = mma.partition_A(sA);
    const auto partB = mma.partition_B(sB);
    auto rA = make_fragment_like<typename TiledMma::ValTypeA>(partA);
    auto rB = make_fragment_like<typename TiledMma::ValTypeB>(partB);
    CUTE_UNROLL
    for (int part = 0; part < size<2>(partA); ++part) {
      copy(partA(_, _, part), rA(_, _, part));
      copy(partB(_, _, part), rB(_, _, part));
      gemm(mma, rA(_, _, part), rB(_, _, part), sums);
    }
    __syncthreads();
  }
  copy(sums, partC);
}

template <class TiledMma>
cudaError_t launch(const KlTask* p, cudaStream_t stream) {
  if (p->M % kRows != 0 || p->N % kColumns != 0 || p->K % kDepth != 0) return cudaErrorNotSupported;
  const dim3 grid(unsigned(p->N / kColumns), unsigned(p->M / kRows));
  multiply<TiledMma><<<grid, kThreads, 0, stream>>>((const Half*)p->a, (const Half*)p->b, p->c, int(p->M), int(p->N),
                                                    int(p->K));
  return cudaGetLastError();
}
