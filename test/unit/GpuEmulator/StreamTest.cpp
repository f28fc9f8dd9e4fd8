// reprise: order between streams, and messages of the emulated driver if it is missing
#include "Driver.h"

using namespace reprise::emulator;

namespace {

const char *const orders[] = {"forwards", "backwards", "shuffled"};

TEST_F(EmulatedDriver, AMissingWaitIsFoundInEveryOrder) {
  for (const char *order : orders)
    for (bool waits : {true, false}) {
      start(order);
      CUdeviceptr x = give(std::vector<uint32_t>(100, 1)), y = give(std::vector<uint32_t>(100, 2));
      CUstream first = makeStream(), second = makeStream();
      CUevent event = makeEvent();
      CUDA_OK(scale(x, 100, 3, first));
      CUDA_OK(cuEventRecord(event, first));
      if (waits)
        CUDA_OK(cuStreamWaitEvent(second, event, 0));
      CUDA_OK(cuMemcpyDtoDAsync_v2(y, x, 400, second));
      CUresult result = cuStreamSynchronize(second);
      result = result ? result : cuStreamSynchronize(first);
      EXPECT_EQ(result, waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED) << order;
      if (waits)
        EXPECT_EQ(take(y, 100), std::vector<uint32_t>(100, 4));
      else
        EXPECT_NE(std::string(repriseEmulatorLastError()).find("missing wait"), std::string::npos);
    }
}

TEST_F(EmulatedDriver, AWriteWaitsForReadersToo) {
  for (const char *order : orders)
    for (bool waits : {true, false}) {
      start(order);
      CUdeviceptr x = give(std::vector<uint32_t>(100, 1)), y = give(std::vector<uint32_t>(100, 2));
      CUstream first = makeStream(), second = makeStream();
      CUevent event = makeEvent();
      CUDA_OK(cuMemcpyDtoDAsync_v2(y, x, 400, first));
      CUDA_OK(cuEventRecord(event, first));
      if (waits)
        CUDA_OK(cuStreamWaitEvent(second, event, 0));
      CUDA_OK(scale(x, 100, 3, second));
      EXPECT_EQ(cuCtxSynchronize(), waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED) << order;
    }
}

TEST_F(EmulatedDriver, TheHostOrdersWhatItWaitsFor) {
  for (const char *order : orders) {
    start(order);
    CUdeviceptr x = give(std::vector<uint32_t>(100, 1));
    CUstream first = makeStream(), second = makeStream();
    CUevent event = makeEvent();
    CUDA_OK(scale(x, 100, 3, first));
    CUDA_OK(cuEventRecord(event, first));
    CUDA_OK(cuEventSynchronize(event));
    CUDA_OK(scale(x, 100, 3, second));
    CUDA_OK(cuStreamSynchronize(second));
    EXPECT_EQ(take(x, 100), std::vector<uint32_t>(100, 13));
  }
}

TEST_F(EmulatedDriver, PinnedMemoryIsWatchedToo) {
  for (const char *order : orders)
    for (bool waits : {true, false}) {
      start(order);
      CUdeviceptr x = give({5, 6}), y = give({0, 0});
      void *pinned = nullptr;
      CUDA_OK(cuMemHostAlloc(&pinned, 8, 0));
      CUstream out = makeStream(), in = makeStream();
      CUevent event = makeEvent();
      CUDA_OK(cuMemcpyDtoHAsync_v2(pinned, x, 8, out));
      CUDA_OK(cuEventRecord(event, out));
      if (waits)
        CUDA_OK(cuStreamWaitEvent(in, event, 0));
      CUDA_OK(cuMemcpyHtoDAsync_v2(y, pinned, 8, in));
      EXPECT_EQ(cuCtxSynchronize(), waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED) << order;
    }
}

TEST_F(EmulatedDriver, WorkIsDoneWhenSomebodyWaits) {
  start("backwards");
  CUdeviceptr x = give({1}), y = give({1});
  CUstream first = makeStream(), second = makeStream();
  uint32_t *pinned = nullptr;
  CUDA_OK(cuMemHostAlloc(reinterpret_cast<void **>(&pinned), 8, 0));
  pinned[0] = pinned[1] = 0;
  CUDA_OK(cuMemcpyDtoHAsync_v2(pinned, x, 4, first));
  CUDA_OK(cuMemcpyDtoHAsync_v2(pinned + 1, y, 4, second));
  CUDA_OK(cuStreamSynchronize(second));
  EXPECT_EQ(pinned[0], 0u);
  EXPECT_EQ(pinned[1], 1u);
  CUDA_OK(cuCtxSynchronize());
  EXPECT_EQ(pinned[0], 1u);
}

TEST_F(EmulatedDriver, TheDefaultStreamMeetsThoseThatBlock) {
  for (unsigned flags : {0u, streamNonBlocking}) {
    start("shuffled");
    CUdeviceptr x = give(std::vector<uint32_t>(64, 1));
    CUstream stream = nullptr;
    CUDA_OK(cuStreamCreate(&stream, flags));
    CUDA_OK(scale(x, 64, 3, stream));
    CUDA_OK(scale(x, 64, 3, nullptr));
    CUDA_OK(scale(x, 64, 3, stream));
    EXPECT_EQ(cuCtxSynchronize(), flags ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS);
  }
}

TEST_F(EmulatedDriver, ReadsOfUnwrittenMemoryByCopies) {
  start();
  CUdeviceptr x = 0;
  CUDA_OK(cuMemAlloc_v2(&x, 16));
  CUDA_OK(cuMemsetD32Async(x, 3, 3, nullptr));
  EXPECT_EQ(take(x, 3), (std::vector<uint32_t>{3, 3, 3}));
  uint32_t word = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&word, x + 12, 4), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(std::string(repriseEmulatorLastError()).find("never written"), std::string::npos);
}

TEST_F(EmulatedDriver, CapturedStreamsBecomeGraphs) {
  for (const char *order : orders)
    for (bool waits : {true, false}) {
      start(order);
      CUdeviceptr x = give(std::vector<uint32_t>(100, 1)), y = give(std::vector<uint32_t>(100, 2));
      CUstream first = makeStream(), second = makeStream();
      CUevent fork = makeEvent(), between = makeEvent(), end = makeEvent();
      CUDA_OK(cuStreamBeginCapture_v2(first, 0));
      EXPECT_EQ(cuStreamSynchronize(first), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
      CUDA_OK(cuEventRecord(fork, first));
      CUDA_OK(cuStreamWaitEvent(second, fork, 0));
      CUDA_OK(scale(x, 100, 3, first));
      CUDA_OK(cuEventRecord(between, first));
      if (waits)
        CUDA_OK(cuStreamWaitEvent(second, between, 0));
      CUDA_OK(cuMemcpyDtoDAsync_v2(y, x, 400, second));
      CUDA_OK(cuEventRecord(end, second));
      CUDA_OK(cuStreamWaitEvent(first, end, 0));
      CUgraph graph = nullptr;
      CUgraphExec exec = nullptr;
      CUDA_OK(cuStreamEndCapture(first, &graph));
      CUDA_OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
      CUDA_OK(cuGraphDestroy(graph));
      EXPECT_EQ(take(x, 1)[0], 1u); // no work was done yet
      CUDA_OK(cuGraphLaunch(exec, first));
      CUDA_OK(cuGraphLaunch(exec, first));
      EXPECT_EQ(cuStreamSynchronize(first), waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED);
      if (waits)
        EXPECT_EQ(take(y, 100), std::vector<uint32_t>(100, 13));
      cuGraphExecDestroy(exec);
    }
}

TEST_F(EmulatedDriver, CapturesMustComeBack) {
  start();
  CUdeviceptr x = give({1});
  CUstream first = makeStream(), second = makeStream();
  CUevent fork = makeEvent(), outside = makeEvent();
  CUgraph graph = nullptr;
  CUDA_OK(cuEventRecord(outside, second));
  EXPECT_EQ(cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  CUDA_OK(cuStreamBeginCapture_v2(first, 0));
  EXPECT_EQ(cuStreamWaitEvent(first, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  CUDA_OK(cuEventRecord(fork, first));
  CUDA_OK(cuStreamWaitEvent(second, fork, 0));
  CUDA_OK(scale(x, 1, 2, second));
  EXPECT_EQ(cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  CUDA_OK(scale(x, 1, 2, first));
  CUDA_OK(cuStreamSynchronize(first));
  EXPECT_EQ(take(x, 1)[0], 3u);
}

TEST_F(EmulatedDriver, NumbersOfLaunchesComeAgain) {
  start("forwards");
  CUdeviceptr x = give({0});
  CUstream stream = makeStream();
  for (int i = 0; i < 40000; ++i)
    CUDA_OK(scale(x, 1, 1, stream));
  CUDA_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(take(x, 1)[0], 40000u);
}

TEST_F(EmulatedDriver, EventsHaveTimes) {
  start();
  CUdeviceptr x = give({0});
  CUevent first = makeEvent(), last = makeEvent();
  CUDA_OK(cuEventRecord(first, nullptr));
  CUDA_OK(scale(x, 1, 1, nullptr));
  CUDA_OK(cuEventRecord(last, nullptr));
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, first, last), CUDA_ERROR_NOT_READY);
  CUDA_OK(cuEventSynchronize(last));
  CUDA_OK(cuEventElapsedTime(&milliseconds, first, last));
  EXPECT_GE(milliseconds, 0);
}

} // namespace
