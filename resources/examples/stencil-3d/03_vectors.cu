// @rung    03_vectors
// @title   Four cells per thread
// @after   02_march_z
// @idea    each thread moves four neighbors along x with 16-byte accesses, so a plane takes a quarter of the loads.
//          Shuffles fetch the cell on either side from neighboring lanes
// @param   DEPTH 32 {8,16,32,64}
#include "kernel_ladder.h"

__global__ void __launch_bounds__(256)
    stencil(const float* u, float* v, int nx, int ny, int nz, float center, float side) {
  const int x = (blockIdx.x * 32 + threadIdx.x) * 4, y = blockIdx.y * 8 + threadIdx.y;
  const long long row = nx, plane = row * ny;
  const int from = blockIdx.z * DEPTH, to = min(from + DEPTH, nz);
  // All lanes of a warp take part in the shuffles; lanes past the end of the row load nothing.
  const bool inside = x < nx && y < ny;
  const float4 none = make_float4(0, 0, 0, 0);
  const auto load = [&](long long at) { return inside ? *(const float4*)(u + at) : none; };
  const bool edge = y == 0 || y >= ny - 1;
  long long at = from * plane + y * row + x;
  float4 below = from > 0 ? load(at - plane) : none, here = load(at);
  for (int z = from; z < to; ++z, at += plane) {
    const float4 above = z + 1 < nz ? load(at + plane) : none;
    float left = __shfl_up_sync(~0u, here.w, 1), right = __shfl_down_sync(~0u, here.x, 1);
    if (inside && threadIdx.x == 0 && x > 0) left = u[at - 1];
    if (inside && threadIdx.x == 31 && x + 4 < nx) right = u[at + 4];
    if (inside) {
      float4 result = here;
      if (!edge && z > 0 && z < nz - 1) {
        const float4 n = *(const float4*)(u + at - row), s = *(const float4*)(u + at + row);
        if (x > 0) result.x = center * here.x + side * (((left + here.y) + (n.x + s.x)) + (below.x + above.x));
        result.y = center * here.y + side * (((here.x + here.z) + (n.y + s.y)) + (below.y + above.y));
        result.z = center * here.z + side * (((here.y + here.w) + (n.z + s.z)) + (below.z + above.z));
        if (x + 4 < nx) result.w = center * here.w + side * (((here.z + right) + (n.w + s.w)) + (below.w + above.w));
      }
      *(float4*)(v + at) = result;
    }
    below = here;
    here = above;
  }
}

extern "C" const char* kl_unsupported(const KlTask* p, int) {
  return p->NX % 4 ? "NX must be a multiple of 4" : nullptr;
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const dim3 grid(unsigned((p->NX + 127) / 128), unsigned((p->NY + 7) / 8), unsigned((p->NZ + DEPTH - 1) / DEPTH));
  stencil<<<grid, dim3(32, 8), 0, stream>>>(p->u, p->v, int(p->NX), int(p->NY), int(p->NZ), p->center, p->side);
  return cudaGetLastError();
}
