// Copies the bytes of x to y. HOW selects how the rung launches its work. The copy is correct for every HOW.
#include "kl_abi.h"

#include <chrono>
#include <stdlib.h>
#include <thread>

enum {
  kGiven,          // on the given stream
  kDefault,        // on the default stream, as k<<<g, b>>>() does
  kPerThread,      // on this thread's default stream
  kBlocking,       // on its own stream
  kNonBlocking,    // on a non-blocking stream that is not joined to the given stream
  kForked,         // on a stream forked from the given stream and joined to it
  kHalf,           // one half on the given stream, the other half on a non-blocking stream
  kNewStream,      // on a stream created and destroyed in each launch
  kGraph,          // as a graph on the given stream
  kGraphElsewhere, // as a graph on a non-blocking stream
  kCapture,        // captured in each launch and launched as a graph
  kOtherThread,    // on another thread's default stream
  kCopyOnly,       // a memory copy without a kernel
  kOnce,           // no work after the third launch
  kCallback,       // from a host callback, which CUDA forbids, after the third launch
  kSlowHost,       // 60 us after kl_launch starts
  kSlowHostLater,  // 60 us after kl_launch starts, from launch 100 on
  kStalls,         // occasionally with a delay of 3 ms
  kSynchronizes,   // waits for the stream
  kAllocates,      // through a buffer allocated and freed in each launch
};

struct KlTask {
  long long count, elementBytes;
  const char* x;
  char* y;
};

__global__ void copyBytes(const uint4* x, uint4* y, long long count) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) y[i] = x[i];
}

[[maybe_unused]] static void launch(const KlTask* p, cudaStream_t stream, long long from, long long to) {
  copyBytes<<<528, 512, 0, stream>>>((const uint4*)p->x + from, (uint4*)p->y + from, to - from);
}

[[maybe_unused]] static void wait(int microseconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(microseconds)) {
  }
}

[[maybe_unused]] static cudaStream_t nonBlocking() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

[[maybe_unused]] static cudaGraphExec_t graphOf(const KlTask* p, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  launch(p, stream, 0, p->count * p->elementBytes / 16);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  return exec;
}

extern "C" KL_EXPORT cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  [[maybe_unused]] const long long n = p->count * p->elementBytes / 16;
  static int launches = 0;
  ++launches;
#if HOW == 1
  launch(p, 0, 0, n);
#elif HOW == 2
  launch(p, cudaStreamPerThread, 0, n);
#elif HOW == 3
  static const cudaStream_t own = [] { cudaStream_t it; cudaStreamCreate(&it); return it; }();
  launch(p, own, 0, n);
#elif HOW == 4
  static const cudaStream_t own = nonBlocking();
  launch(p, own, 0, n);
#elif HOW == 5
  static const cudaStream_t own = nonBlocking();
  static const cudaEvent_t event = [] { cudaEvent_t it; cudaEventCreateWithFlags(&it, cudaEventDisableTiming); return it; }();
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(own, event, 0);
  launch(p, own, 0, n);
  cudaEventRecord(event, own);
  cudaStreamWaitEvent(stream, event, 0);
#elif HOW == 6
  static const cudaStream_t own = nonBlocking();
  launch(p, stream, 0, n / 2);
  launch(p, own, n / 2, n);
#elif HOW == 7
  const cudaStream_t own = nonBlocking();
  launch(p, own, 0, n);
  cudaStreamDestroy(own);
#elif HOW == 8
  static const cudaGraphExec_t graph = graphOf(p, nonBlocking());
  cudaGraphLaunch(graph, stream);
#elif HOW == 9
  static const cudaStream_t own = nonBlocking();
  static const cudaGraphExec_t graph = graphOf(p, own);
  cudaGraphLaunch(graph, own);
#elif HOW == 10
  static const cudaStream_t own = nonBlocking();
  const cudaGraphExec_t graph = graphOf(p, own);
  cudaGraphLaunch(graph, stream);
  cudaGraphExecDestroy(graph);
#elif HOW == 11
  std::thread([&] { launch(p, cudaStreamPerThread, 0, n); }).join();
#elif HOW == 12
  cudaMemcpyAsync(p->y, p->x, n * 16, cudaMemcpyDeviceToDevice, stream);
#elif HOW == 13
  if (launches <= 3) launch(p, stream, 0, n);
#elif HOW == 14
  static const KlTask task = *p;
  if (launches <= 3) launch(p, stream, 0, n);
  else cudaLaunchHostFunc(stream, [](void*) { launch(&task, nullptr, 0, task.count * task.elementBytes / 16); }, nullptr);
#elif HOW == 15
  wait(60);
  launch(p, stream, 0, n);
#elif HOW == 16
  if (launches > 100) wait(60);
  launch(p, stream, 0, n);
#elif HOW == 17
  if (rand() % 5 == 0) wait(3000);
  launch(p, stream, 0, n);
#elif HOW == 18
  launch(p, stream, 0, n);
  cudaStreamSynchronize(stream);
#elif HOW == 19
  void* buffer;
  cudaMalloc(&buffer, n * 16);
  cudaMemcpyAsync(buffer, p->x, n * 16, cudaMemcpyDeviceToDevice, stream);
  cudaMemcpyAsync(p->y, buffer, n * 16, cudaMemcpyDeviceToDevice, stream);
  cudaFree(buffer);
#else
  launch(p, stream, 0, n);
#endif
  return cudaGetLastError();
}
