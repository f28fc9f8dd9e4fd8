// reprise: the driver API: streams, events, captured graphs
#include "Driver.h"

using namespace reprise::emulator;

namespace {

template <typename T, typename Handle>
T *find(std::unordered_map<void *, std::unique_ptr<T>> &owned, Handle handle) {
  auto found = owned.find(handle);
  return found == owned.end() ? nullptr : found->second.get();
}

template <typename T, typename Handle>
void keep(std::unordered_map<void *, std::unique_ptr<T>> &owned, std::unique_ptr<T> made,
          Handle *handle) {
  void *address = made.get();
  *handle = static_cast<Handle>(address);
  owned[address] = std::move(made);
}

CUresult synchronize(CUstream handle) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (!stream)
    return result;
  if (stream->capture)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  driver->scheduler.finishStream(*stream);
  return driver->finished();
}

CUresult synchronizeEvent(CUevent handle) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  Event *event = find(driver->events, handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  driver->scheduler.finish(event->piece);
  return driver->finished();
}

} // namespace

REPRISE_CUDA CUresult cuStreamCreate(CUstream *handle, unsigned flags) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  bool blocking = !(flags & streamNonBlocking);
  *handle = reinterpret_cast<CUstream>(driver->scheduler.create(driver.device().number, blocking));
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuStreamCreateWithPriority(CUstream *handle, unsigned flags, int) {
  return cuStreamCreate(handle, flags);
}

REPRISE_CUDA CUresult cuStreamDestroy_v2(CUstream handle) {
  Locked driver;
  auto *stream = reinterpret_cast<Stream *>(handle);
  if (reinterpret_cast<uintptr_t>(handle) <= 2 || !driver->scheduler.owns(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  driver->scheduler.destroy(stream);
  return driver->finished();
}

REPRISE_CUDA CUresult cuStreamSynchronize(CUstream handle) { return synchronize(handle); }
/// Work that nobody waits for would never be done, so that who asks waits, but for other processes.
REPRISE_CUDA CUresult cuStreamQuery(CUstream handle) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (!stream)
    return result;
  if (stream->capture)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return driver->scheduler.advance(stream->last) ? driver->finished() : CUDA_ERROR_NOT_READY;
}

REPRISE_CUDA CUresult cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (!stream)
    return result;
  Event *event = find(driver->events, eventHandle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (driver->failsNow("wait")) // a program that forgot the wait
    return CUDA_SUCCESS;
  return driver->scheduler.wait(*stream, *event) ? CUDA_SUCCESS
                                                 : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

REPRISE_CUDA CUresult cuEventCreate(CUevent *handle, unsigned) {
  Locked driver;
  if (CUresult result = driver.ready())
    return result;
  keep(driver->events, std::make_unique<Event>(), handle);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuEventDestroy_v2(CUevent handle) {
  Locked driver;
  return driver->events.erase(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

REPRISE_CUDA CUresult cuEventRecord(CUevent eventHandle, CUstream handle) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (!stream)
    return result;
  Event *event = find(driver->events, eventHandle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  driver->scheduler.record(*stream, *event);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuEventSynchronize(CUevent handle) { return synchronizeEvent(handle); }
REPRISE_CUDA CUresult cuEventQuery(CUevent handle) { return synchronizeEvent(handle); }

REPRISE_CUDA CUresult cuEventElapsedTime(float *milliseconds, CUevent first, CUevent last) {
  Locked driver;
  Event *from = find(driver->events, first), *to = find(driver->events, last);
  if (!from || !to || !from->piece || !to->piece)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!from->piece->done || !to->piece->done)
    return CUDA_ERROR_NOT_READY;
  *milliseconds = (to->piece->seconds - from->piece->seconds) * 1e3;
  return CUDA_SUCCESS;
}
REPRISE_CUDA CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent first, CUevent last) {
  return cuEventElapsedTime(milliseconds, first, last);
}

REPRISE_CUDA CUresult cuStreamBeginCapture_v2(CUstream handle, int) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (!stream)
    return result;
  // The default stream orders other streams, which a graph cannot.
  if (reinterpret_cast<uintptr_t>(handle) <= 2 || stream->capture)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  driver->scheduler.beginCapture(*stream);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuStreamIsCapturing(CUstream handle, int *status) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (stream)
    *status = stream->capture ? 1 : 0;
  return result;
}

REPRISE_CUDA CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(handle, result);
  if (!stream)
    return result;
  *graph = nullptr;
  if (!stream->capture || stream->captureIndex)
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  std::unique_ptr<Graph> made = driver->scheduler.endCapture(*stream);
  if (!made)
    return driver->fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                        "a captured stream was not joined to the first one");
  keep(driver->graphs, std::move(made), graph);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph handle,
                                                  unsigned long long) {
  Locked driver;
  Graph *graph = find(driver->graphs, handle);
  if (!graph)
    return CUDA_ERROR_INVALID_HANDLE;
  auto made = std::make_unique<GraphExec>();
  made->graph = *graph;
  keep(driver->execs, std::move(made), exec);
  return CUDA_SUCCESS;
}
REPRISE_CUDA CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *, char *,
                                            size_t) {
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}

REPRISE_CUDA CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  Locked driver;
  CUresult result;
  Stream *stream = driver.usable(streamHandle, result);
  if (!stream)
    return result;
  GraphExec *exec = find(driver->execs, handle);
  if (!exec)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  driver->scheduler.launch(*exec, *stream);
  return CUDA_SUCCESS;
}

REPRISE_CUDA CUresult cuGraphExecDestroy(CUgraphExec handle) {
  Locked driver;
  GraphExec *exec = find(driver->execs, handle);
  if (!exec)
    return CUDA_ERROR_INVALID_HANDLE;
  driver->scheduler.finish(exec->last);
  for (Stream *stream : exec->others)
    driver->scheduler.destroy(stream);
  driver->execs.erase(handle);
  return driver->finished();
}

REPRISE_CUDA CUresult cuGraphDestroy(CUgraph handle) {
  Locked driver;
  return driver->graphs.erase(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
