// A rung's streams, events, captured graphs and host functions. As in CUDA, the default stream cannot be captured.
// Graphs built node by node are not supported.
#pragma once

#include "recording.hpp"
#include "registered.hpp"

extern "C" {

// ---- Streams -------------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return captureOf(stream) ? fail(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned* flags) {
  *flags = cudaStreamDefault;
  return cudaSuccess;
}
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority) {
  *priority = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const auto found = captured.find(event);
  if (found != captured.end()) capturing[stream] = found->second;
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (captureOf(stream)) return fail(cudaErrorStreamCaptureUnsupported);
  function(data);
  return cudaSuccess;
}

// ---- Events --------------------------------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new char);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (Graph* const graph = captureOf(stream)) captured[event] = graph;
  else captured.erase(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  captured.erase(event);
  return cudaSuccess;
}

// ---- Graphs --------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (stream == nullptr || stream == cudaStreamLegacy) return fail(cudaErrorStreamCaptureUnsupported);
  if (captureOf(stream)) return fail(cudaErrorIllegalState);
  graphs.push_back(std::make_unique<Graph>(Graph{{}, stream}));
  capturing[stream] = graphs.back().get();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  Graph* const ended = captureOf(stream);
  *graph = nullptr;
  if (!ended || ended->origin != stream) return fail(cudaErrorStreamCaptureUnmatched);
  for (auto each = capturing.begin(); each != capturing.end();)
    each = each->second == ended ? capturing.erase(each) : std::next(each);
  for (auto each = captured.begin(); each != captured.end();)
    each = each->second == ended ? captured.erase(each) : std::next(each);
  *graph = reinterpret_cast<cudaGraph_t>(ended);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = captureOf(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
// A captured graph never changes, so the graph itself serves as its instance.
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* instance, cudaGraph_t graph, unsigned long long) {
  *instance = reinterpret_cast<cudaGraphExec_t>(graph);
  return graph ? cudaSuccess : fail(cudaErrorInvalidValue);
}
#if CUDART_VERSION >= 12000
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* instance, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(instance, graph, flags);
}
#else
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* instance, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t) {
  return cudaGraphInstantiateWithFlags(instance, graph, 0);
}
#endif
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t stream) {
  if (!instance) return fail(cudaErrorInvalidValue);
  const Operations& operations = reinterpret_cast<const Graph*>(instance)->operations;
  Operations& to = operationsOf(stream);
  to.insert(to.end(), operations.begin(), operations.end());
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }

}  // extern "C"
