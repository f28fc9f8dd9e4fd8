// reprise: what choices cost: the bytes that move for their sake
#include "MeterState.h"

using namespace reprise::checkpoint;

/// Lists the runs of each step, and what each buffer is.
static void listRuns(MeterState &meter) {
  const MeterTables &tables = meter.tables;
  auto numValues = static_cast<int>(tables.buffers.size());
  meter.firstRun.assign(meter.numSteps(), -1);
  meter.nextRun.resize(meter.runs.size());
  meter.loadedAt.assign(meter.numBuffers, -1);
  meter.valueOf.resize(meter.numBuffers);
  meter.madeAt.resize(meter.numBuffers);
  for (int value : meter.read)
    if (value < numValues) {
      meter.valueOf[value] = value;
      meter.madeAt[value] = meter.stepOfLaunch[tables.buffers[value].first];
    }
  for (size_t i = meter.runs.size(); i-- > 0;) {
    const MeterState::Run &run = meter.runs[i];
    const MeterTables::Op &op = tables.ops[run.operation];
    if (op.isFree())
      continue;
    meter.nextRun[i] = meter.firstRun[run.step];
    meter.firstRun[run.step] = static_cast<int>(i);
    for (int result = 0; meter.isReplay(run) && result < op.numResults; ++result) {
      meter.valueOf[meter.slots[run.slot].buffer + result] = op.firstResult + result;
      meter.madeAt[meter.slots[run.slot].buffer + result] = run.step;
    }
  }
}

/// Results of replays that leave their step, and originals that nothing else reads later.
static int64_t countStores(MeterState &meter) {
  const MeterTables &tables = meter.tables;
  int64_t bytes = 0;
  for (int value : meter.read) {
    const MeterTables::Buffer &buffer = tables.buffers[value];
    if (!buffer.isAlive() && meter.lastReads[value].step > meter.stepOfLaunch[buffer.last])
      bytes += tables.sizes[buffer.sizeClass];
  }
  for (const MeterState::Run &run : meter.runs)
    for (int result = 0, count = tables.ops[run.operation].numResults;
         meter.isReplay(run) && !tables.ops[run.operation].isFree() && result < count; ++result)
      if (meter.lastReads[meter.slots[run.slot].buffer + result].step != run.step)
        bytes +=
            tables.sizes[tables.buffers[tables.ops[run.operation].firstResult + result].sizeClass];
  return bytes;
}

/// Visits the buffers of earlier steps that runs of this one read, and whether they do so in any
/// case: in a kernel that reads memory, or what lies in memory as a replay, too.
template <typename Visit> static void forEachLoad(const MeterState &meter, int step, Visit visit) {
  const MeterTables &tables = meter.tables;
  for (int i = meter.firstRun[step]; i >= 0; i = meter.nextRun[i]) {
    const MeterState::Run &run = meter.runs[i];
    bool mayStay = !meter.isReplay(run) && !tables.ops[run.operation].readsRegisters;
    for (int at = run.firstRead, end = meter.endOfReads(i); at < end; ++at)
      if (int buffer = meter.reads[at].buffer; buffer >= 0 && meter.madeAt[buffer] < step)
        visit(buffer,
              mayStay || (!meter.isReplay(run) && !tables.mayVanish[meter.valueOf[buffer]]));
  }
}

static int64_t countLoads(MeterState &meter, int step) {
  const MeterTables &tables = meter.tables;
  int64_t bytes = 0;
  forEachLoad(meter, step, [&](int buffer, bool inAnyCase) {
    if (inAnyCase)
      meter.loadedAt[buffer] = step;
  });
  forEachLoad(meter, step, [&](int buffer, bool inAnyCase) {
    if (inAnyCase || meter.loadedAt[buffer] == step)
      return;
    meter.loadedAt[buffer] = step;
    std::pair<int, int> load = {meter.launchOfStep[step], buffer};
    if (!std::binary_search(tables.loads.begin(), tables.loads.end(), load))
      bytes += tables.sizes[tables.buffers[meter.valueOf[buffer]].sizeClass];
  });
  return bytes;
}

int64_t reprise::checkpoint::countTraffic(MeterState &meter) {
  listRuns(meter);
  int64_t bytes = countStores(meter);
  for (int step = 0; step < meter.numSteps(); ++step)
    if (meter.firstRun[step] >= 0)
      bytes += countLoads(meter, step);
  return bytes;
}
