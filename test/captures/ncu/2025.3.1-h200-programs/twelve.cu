// Twelve launches of one kernel template: other arguments, other grids, the same again, one unnamed.
#include <cstdio>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

template <int Width, bool Doubled> __global__ void scale(float* data, int count) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * Width;
    for (int n = 0; n < Width; ++n)
        if (first + n < count) data[first + n] *= Doubled ? 2.0f : 0.5f;
}

namespace {
__global__ void offset(float* data, int count) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) data[n] += 1.0f;
}
} // namespace

template <class F> __global__ void each(F body, int count) {
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < count) body(n);
}

int main(int argc, char** argv) {
    const int count = 1 << 22;
    float* data;
    if (cudaMalloc(&data, count * sizeof(float)) != cudaSuccess) return 3;
    cudaMemset(data, 0, count * sizeof(float));
    for (int round = 0; round < 2; ++round) {
        nvtxRangePushA(round == 0 ? "first" : "second");
        scale<1, true><<<count / 256, 256>>>(data, count);
        scale<1, false><<<count / 256, 256>>>(data, count);
        scale<2, true><<<count / 512, 256>>>(data, count);
        scale<4, true><<<count / 1024, 256>>>(data, count);
        scale<4, true><<<count / 2048, 512>>>(data, count);
        scale<1, true><<<count / 256, 256>>>(data, count);
        nvtxRangePop();
    }
    if (argc > 1) {
        offset<<<count / 256, 256>>>(data, count);
        each<<<count / 256, 256>>>([=] __device__(int n) { data[n] -= 1.0f; }, count);
    }
    const cudaError_t failed = cudaDeviceSynchronize();
    std::printf("%s, %d arguments\n", cudaGetErrorString(failed), argc - 1);
    return argc > 2 ? 7 : 0;
}
