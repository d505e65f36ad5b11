// @rung    02_march_z
// @title   Column in registers
// @after   01_naive
// @idea    each thread walks DEPTH cells along z and keeps the previous, current, and next cell in registers. This
//          saves two loads per cell
// @param   DEPTH 32 {8,16,32,64}
#include "kernel_ladder.h"

__global__ void stencil(const float* u, float* v, int nx, int ny, int nz, float center, float side) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const long long row = nx, plane = row * ny;
  const int from = blockIdx.z * DEPTH, to = min(from + DEPTH, nz);
  const bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
  long long at = from * plane + y * row + x;
  float below = from > 0 ? u[at - plane] : 0, here = u[at];
  for (int z = from; z < to; ++z, at += plane) {
    const float above = z + 1 < nz ? u[at + plane] : 0;
    if (edge || z == 0 || z == nz - 1)
      v[at] = here;
    else
      v[at] = center * here + side * (((u[at - 1] + u[at + 1]) + (u[at - row] + u[at + row])) + (below + above));
    below = here;
    here = above;
  }
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const dim3 grid(unsigned((p->NX + 31) / 32), unsigned((p->NY + 7) / 8), unsigned((p->NZ + DEPTH - 1) / DEPTH));
  stencil<<<grid, dim3(32, 8), 0, stream>>>(p->u, p->v, int(p->NX), int(p->NY), int(p->NZ), p->center, p->side);
  return cudaGetLastError();
}
