// reprise: a block runs its warps from barrier to barrier
#include "Machine.h"

#include <algorithm>
#include <random>

using namespace reprise::emulator;

namespace {

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

template <typename T> void fill(Warp &warp, uint32_t place, uint64_t value) {
  std::fill_n(warp.at<T>(place), lanes, static_cast<T>(value));
}

/// The value of a special register in a thread.
uint32_t valueOf(Special special, const Warp &warp, unsigned lane) {
  const Block &block = *warp.block;
  const Launch &launch = *block.launch;
  uint32_t thread = warp.number * lanes + lane, bit = 1u << lane;
  Dim size = launch.block, grid = launch.grid;
  uint32_t multiprocessor = block.number % launch.multiprocessors, warps = block.warps.size();
  // Values are in the order of Special.
  const uint32_t values[] = {thread % size.x,
                             thread / size.x % size.y,
                             thread / size.x / size.y,
                             size.x,
                             size.y,
                             size.z,
                             block.index.x,
                             block.index.y,
                             block.index.z,
                             grid.x,
                             grid.y,
                             grid.z,
                             lane,
                             warp.number,
                             warps,
                             multiprocessor,
                             launch.multiprocessors,
                             launch.number,
                             bit,
                             bit - 1,
                             bit | (bit - 1),
                             ~(bit | (bit - 1)),
                             ~(bit - 1),
                             launch.dynamicShared,
                             block.sharedBytes};
  return values[unsigned(special)];
}

} // namespace

Block::Block(Launch &launch) : launch(&launch) {
  const Program &program = *launch.program;
  uint64_t threads = launch.block.count();
  warps.resize((threads + lanes - 1) / lanes);
  uint64_t file = roundUp(program.registerBytes, 64);
  uint64_t localBytes = uint64_t(program.localBytes) * lanes;
  registers.resize(file * warps.size() + 64);
  local.resize(localBytes * warps.size());
  sharedBytes = launch.dynamicOffset() + launch.dynamicShared;
  shared.resize(sharedBytes);
  sharedShadow.resize(sharedBytes / 4 + 1);
  uint8_t *first = registers.data() + (64 - reinterpret_cast<uint64_t>(registers.data()) % 64) % 64;
  for (unsigned i = 0; i < warps.size(); ++i) {
    Warp &warp = warps[i];
    warp.block = this;
    warp.program = &program;
    warp.number = i;
    warp.registers = first + file * i;
    warp.local = local.data() + localBytes * i;
    fillConstants(warp);
  }
}

void Block::fillConstants(Warp &warp) {
  for (const ConstantRegister &constant : launch->program->constants) {
    if (constant.bytes == 1)
      *warp.at<uint32_t>(constant.place) = constant.value ? allLanes : 0;
    else if (constant.bytes == 2)
      fill<uint16_t>(warp, constant.place, constant.value);
    else if (constant.bytes == 4)
      fill<uint32_t>(warp, constant.place, constant.value);
    else
      fill<uint64_t>(warp, constant.place, constant.value);
  }
}

void Block::fillSpecials(Warp &warp) {
  for (const SpecialRegister &entry : launch->program->specials)
    for (unsigned lane = 0; lane < lanes; ++lane)
      warp.at<uint32_t>(entry.place)[lane] = valueOf(entry.special, warp, lane);
}

void Block::prepareWarp(unsigned number) {
  Warp &warp = warps[number];
  uint64_t left = launch->block.count() - uint64_t(number) * lanes;
  warp.live = left >= lanes ? allLanes : (1u << left) - 1;
  warp.active = 0;
  warp.waiting = warp.awaited = 0;
  warp.pc = 0;
  warp.laneSteps = 0;
  warp.state = WarpState::Ready;
  warp.copies.clear();
  std::fill_n(warp.lanePc, lanes, warp.program->entry);
  std::fill_n(warp.copyGroup, lanes, 0);
  warp.accessor = {makeAgent(launch->number, this->number, 0, number), launch->ordered};
  fillSpecials(warp);
}

void Block::reset() {
  interval = 0;
  std::fill(sharedShadow.begin(), sharedShadow.end(), Record{0, 0});
  for (unsigned i = 0; i < warps.size(); ++i)
    prepareWarp(i);
}

/// Continues warps whose barrier is complete. Returns false if no warp can continue.
bool Block::releaseBarriers() {
  uint32_t alive = 0, waiting[16] = {};
  for (const Warp &warp : warps) {
    alive += warp.state != WarpState::Done;
    waiting[warp.barrier & 15] += warp.state == WarpState::AtBarrier;
  }
  bool released = false;
  for (Warp &warp : warps)
    if (warp.state == WarpState::AtBarrier &&
        waiting[warp.barrier & 15] == (warp.barrierWarps ? warp.barrierWarps : alive)) {
      warp.state = WarpState::Ready;
      released = true;
    }
  // An interval is one of the whole block. A barrier of only some warps orders only these, but we
  // treat it as if it ordered all.
  ++interval;
  for (Warp &warp : warps)
    warp.accessor.agent = makeAgent(launch->number, number, interval, warp.number);
  return released;
}

void Block::run(uint32_t blockNumber) {
  Dim grid = launch->grid;
  number = blockNumber;
  index = {blockNumber % grid.x, blockNumber / grid.x % grid.y, blockNumber / grid.x / grid.y};
  reset();
  std::vector<unsigned> turns(warps.size());
  for (unsigned i = 0; i < turns.size(); ++i)
    turns[i] = launch->order == Order::Backwards ? turns.size() - 1 - i : i;
  std::mt19937 random(launch->number * 7919 + blockNumber);
  bool done = false;
  while (!done && !launch->failed) {
    if (launch->order == Order::Shuffled)
      std::shuffle(turns.begin(), turns.end(), random);
    for (unsigned turn : turns)
      if (warps[turn].state == WarpState::Ready && !launch->failed)
        warps[turn].run();
    done = std::all_of(warps.begin(), warps.end(),
                       [](const Warp &warp) { return warp.state == WarpState::Done; });
    if (!done && !launch->failed && !releaseBarriers())
      launch->fail(Fault::Deadlock,
                   "kernel " + launch->program->name +
                       ": deadlock: warps wait at barriers that others never reach");
  }
  uint64_t steps = 0;
  for (const Warp &warp : warps)
    steps += warp.laneSteps;
  launch->laneSteps += steps;
}
