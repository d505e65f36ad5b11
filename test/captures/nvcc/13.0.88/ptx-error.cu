__global__ void k(float* c) {
  asm volatile("nosuch.instruction.f32 %0;" : "+f"(c[0]));
}
