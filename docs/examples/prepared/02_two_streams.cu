// @rung    02_two_streams
// @title   Two streams
// @idea    the lower half of the rows runs on a second stream. Events synchronize the second stream with the first
#include "row_sums.cuh"

static cudaStream_t second;
static cudaEvent_t forked, joined;

extern "C" cudaError_t kl_prepare(const KlTask*) {
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
  return cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
}

extern "C" cudaError_t kl_launch(const KlTask* p, cudaStream_t stream) {
  cudaEventRecord(forked, stream);
  cudaStreamWaitEvent(second, forked);
  sumRowsOf(p, 0, p->ROWS / 2, stream);
  sumRowsOf(p, p->ROWS / 2, p->ROWS, second);
  cudaEventRecord(joined, second);
  cudaStreamWaitEvent(stream, joined);
  return cudaGetLastError();
}

extern "C" void kl_release(const KlTask*) {
  cudaStreamDestroy(second);
  cudaEventDestroy(forked);
  cudaEventDestroy(joined);
}
