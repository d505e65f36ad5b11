// @rung    03_graph
// @title   A graph
// @idea    a graph captures four launches once and launches them together
#include "row_sums.cuh"

static cudaGraphExec_t graph;

extern "C" cudaError_t kl_prepare(const KlTask* p) {
  cudaStream_t stream;
  cudaGraph_t captured;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int part = 0; part < 4; ++part) sumRowsOf(p, part * p->ROWS / 4, (part + 1) * p->ROWS / 4, stream);
  cudaStreamEndCapture(stream, &captured);
  const cudaError_t status = cudaGraphInstantiate(&graph, captured, 0);
  cudaGraphDestroy(captured);
  cudaStreamDestroy(stream);
  return status;
}
extern "C" cudaError_t kl_launch(const KlTask*, cudaStream_t stream) { return cudaGraphLaunch(graph, stream); }
extern "C" void kl_release(const KlTask*) { cudaGraphExecDestroy(graph); }
