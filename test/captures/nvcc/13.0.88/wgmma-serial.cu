#include <cstdint>
__global__ void k(float* c, uint64_t a, uint64_t b) {
  float d[4] = {0, 0, 0, 0};
  for (int i = 0; i < 4; ++i) {
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;");
    d[0] += c[i];
    asm volatile("wgmma.wait_group.sync.aligned 0;");
  }
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = d[i];
}
