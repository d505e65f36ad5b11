// @rung    01_naive
// @title   One thread per cell
// @idea    each thread reads its cell and the six neighbors. A warp covers 32 cells along x, so loads are coalesced.
//          The planes above and below come from L2
#include "kernel_ladder.h"

__global__ void stencil(const float* u, float* v, int nx, int ny, int nz, float center, float side) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
  if (x >= nx || y >= ny) return;
  const long long row = nx, plane = row * ny, at = z * plane + y * row + x;
  if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
    v[at] = u[at];
    return;
  }
  v[at] = center * u[at] +
          side * (((u[at - 1] + u[at + 1]) + (u[at - row] + u[at + row])) + (u[at - plane] + u[at + plane]));
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  const dim3 grid(unsigned((p->NX + 31) / 32), unsigned((p->NY + 7) / 8), unsigned(p->NZ));
  stencil<<<grid, dim3(32, 8), 0, stream>>>(p->u, p->v, int(p->NX), int(p->NY), int(p->NZ), p->center, p->side);
  return cudaGetLastError();
}
