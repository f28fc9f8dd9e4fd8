// reprise: runs the blocks of a launch on the machine's threads
#include "Machine.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>

using namespace reprise::emulator;

namespace {

/// Steps of lanes below which a thread costs more than it saves.
constexpr uint64_t stepsWorthAThread = 1 << 20;

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// Returns the block at each place of the order.
std::vector<uint32_t> orderOfBlocks(const Launch &launch) {
  std::vector<uint32_t> blocks(launch.grid.count());
  for (uint32_t i = 0; i < blocks.size(); ++i)
    blocks[i] = i;
  if (launch.order == Order::Backwards)
    std::reverse(blocks.begin(), blocks.end());
  else if (launch.order == Order::Shuffled)
    std::shuffle(blocks.begin(), blocks.end(), std::mt19937(launch.number));
  return blocks;
}

void runBlocks(Block &block, const std::vector<uint32_t> &blocks, std::atomic<size_t> &taken,
               ConstantReads &reads) {
  for (size_t i; (i = taken.fetch_add(1)) < blocks.size() && !block.launch->failed;)
    block.run(blocks[i]);
  std::lock_guard<std::mutex> lock(block.launch->mutex);
  reads.add(block.constantReads);
}

} // namespace

Order reprise::emulator::orderFromEnvironment() {
  const char *text = std::getenv("REPRISE_EMULATED_ORDER");
  std::string order = text ? text : "";
  return order == "backwards"  ? Order::Backwards
         : order == "shuffled" ? Order::Shuffled
                               : Order::Forwards;
}

uint32_t Launch::dynamicOffset() const {
  return roundUp(program->sharedBytes, program->dynamicAlign);
}

void Launch::fail(Fault fault, const std::string &text) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!failed) {
    report = {fault, text};
    failed = true;
  }
}

/// Runs a launch. The first block shows the amount of work, and so the number of threads that pay
/// off.
bool reprise::emulator::runLaunch(Launch &launch) {
  std::vector<uint32_t> blocks = orderOfBlocks(launch);
  std::atomic<size_t> taken{1};
  ConstantReads reads;
  Block block(launch);
  block.run(blocks[0]);
  uint64_t steps = launch.laneSteps.load() * (blocks.size() - 1);
  size_t most = std::min<size_t>(std::thread::hardware_concurrency(), blocks.size() - 1);
  most = std::min<size_t>(most, 1 + steps / stepsWorthAThread);
  std::vector<std::thread> threads;
  for (size_t i = 1; i < most; ++i)
    threads.emplace_back([&] {
      Block another(launch);
      runBlocks(another, blocks, taken, reads);
    });
  runBlocks(block, blocks, taken, reads);
  for (std::thread &thread : threads)
    thread.join();
  if (!launch.failed)
    reads.check(launch);
  return !launch.failed;
}
