__device__ float elsewhere(float a);
__global__ void k(float* c) { c[0] = elsewhere(c[0]); }
