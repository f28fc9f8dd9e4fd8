// reprise: what choices cost: the bytes that move for their sake
#include "MeterImpl.h"

using namespace reprise::checkpoint;

/// Lists the runs of each step, and what each buffer is.
void Meter::Impl::listRuns() {
  auto numValues = static_cast<int>(tables.buffers.size());
  firstRun.assign(numSteps(), -1);
  nextRun.resize(runs.size());
  loadedAt.assign(numBuffers, -1);
  valueOf.resize(numBuffers);
  madeAt.resize(numBuffers);
  for (int value : read)
    if (value < numValues) {
      valueOf[value] = value;
      madeAt[value] = stepOfLaunch[tables.buffers[value].first];
    }
  for (size_t i = runs.size(); i-- > 0;) {
    const Run &run = runs[i];
    const Op &op = tables.ops[run.operation];
    if (op.isFree())
      continue;
    nextRun[i] = firstRun[run.step];
    firstRun[run.step] = static_cast<int>(i);
    for (int result = 0; isReplay(run) && result < op.numResults; ++result) {
      valueOf[slots[run.slot].buffer + result] = op.firstResult + result;
      madeAt[slots[run.slot].buffer + result] = run.step;
    }
  }
}

/// Results of replays that leave their step, and originals that nothing else reads later.
int64_t Meter::Impl::countStores() {
  int64_t bytes = 0;
  for (int value : read) {
    const MeterTables::Buffer &buffer = tables.buffers[value];
    if (!buffer.isAlive() && lastReads[value].step > stepOfLaunch[buffer.last])
      bytes += tables.sizes[buffer.sizeClass];
  }
  for (const Run &run : runs)
    for (int result = 0, count = tables.ops[run.operation].numResults;
         isReplay(run) && !tables.ops[run.operation].isFree() && result < count; ++result)
      if (lastReads[slots[run.slot].buffer + result].step != run.step)
        bytes +=
            tables.sizes[tables.buffers[tables.ops[run.operation].firstResult + result].sizeClass];
  return bytes;
}

/// Visits the buffers of earlier steps that runs of this one read, and whether they do so in any
/// case: in a kernel that reads memory, or what lies in memory as a replay, too.
template <typename Visit> void Meter::Impl::forEachLoad(int step, Visit visit) {
  for (int i = firstRun[step]; i >= 0; i = nextRun[i]) {
    const Run &run = runs[i];
    bool mayStay = !isReplay(run) && !tables.ops[run.operation].readsRegisters;
    for (int at = run.firstRead, end = endOfReads(i); at < end; ++at)
      if (int buffer = reads[at].buffer; buffer >= 0 && madeAt[buffer] < step)
        visit(buffer, mayStay || (!isReplay(run) && !tables.mayVanish[valueOf[buffer]]));
  }
}

int64_t Meter::Impl::countLoads(int step) {
  int64_t bytes = 0;
  forEachLoad(step, [&](int buffer, bool inAnyCase) {
    if (inAnyCase)
      loadedAt[buffer] = step;
  });
  forEachLoad(step, [&](int buffer, bool inAnyCase) {
    if (inAnyCase || loadedAt[buffer] == step)
      return;
    loadedAt[buffer] = step;
    std::pair<int, int> load = {launchOfStep[step], buffer};
    if (!std::binary_search(tables.loads.begin(), tables.loads.end(), load))
      bytes += tables.sizes[tables.buffers[valueOf[buffer]].sizeClass];
  });
  return bytes;
}

int64_t Meter::Impl::countTraffic() {
  listRuns();
  int64_t bytes = countStores();
  for (int step = 0; step < numSteps(); ++step)
    if (firstRun[step] >= 0)
      bytes += countLoads(step);
  return bytes;
}
