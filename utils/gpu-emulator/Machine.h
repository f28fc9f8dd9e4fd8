// reprise: execution of kernels: launches, blocks, warps
#ifndef REPRISE_GPU_EMULATOR_MACHINE_H
#define REPRISE_GPU_EMULATOR_MACHINE_H

#include "ConstantReads.h"
#include "Memory.h"
#include "Program.h"

#include <atomic>
#include <deque>
#include <mutex>

namespace reprise::emulator {

struct Dim {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// The order of warps in a block, of blocks in a grid, and of work in different streams.
enum class Order : uint8_t { Forwards, Backwards, Shuffled };
Order orderFromEnvironment();

struct FaultReport {
  Fault fault = Fault::None;
  std::string text;
};

struct Launch {
  const Program *program = nullptr;
  const Memory *memory = nullptr;
  Dim grid, block;
  uint32_t dynamicShared = 0;
  std::vector<uint8_t> params;
  unsigned number = 1;              ///< number of the launch in the shadow
  const uint8_t *ordered = nullptr; ///< numLaunches bytes
  Order order = Order::Forwards;
  unsigned multiprocessors = 4;
  uint64_t reachable = ~0ull; ///< devices whose memory the kernel may access, a bit each

  FaultReport report; ///< first fault
  std::atomic<bool> failed{false};
  std::atomic<uint64_t> laneSteps{0};
  std::mutex mutex;

  uint32_t dynamicOffset() const;
  void fail(Fault fault, const std::string &text);
};

/// Runs all blocks; returns false after a fault, which is in `report`.
bool runLaunch(Launch &launch);

/// Generic addresses at which windows of other spaces begin.
constexpr unsigned windowShift = 56;
constexpr uint64_t sharedWindow = uint64_t(1) << windowShift,
                   localWindow = uint64_t(2) << windowShift,
                   paramWindow = uint64_t(3) << windowShift;

/// Pending cp.async: the bytes that shared memory receives at the wait.
struct PendingCopy {
  uint32_t lane, group, offset, bytes;
  uint8_t data[16];
};

struct Block;

enum class WarpState : uint8_t { Ready, AtBarrier, Done };

struct Warp {
  Block *block = nullptr;
  uint8_t *registers = nullptr;
  const Program *program = nullptr;
  uint32_t mask = 0;    ///< lanes that execute the instruction
  uint32_t active = 0;  ///< lanes at `pc`
  uint32_t live = 0;    ///< lanes that have not ended
  uint32_t waiting = 0; ///< lanes that wait for others of the warp
  uint32_t awaited = 0; ///< lanes that they wait for
  uint32_t pc = 0, next = 0;
  uint32_t limit = 0; ///< program counter at which further lanes wait
  uint32_t number = 0;
  uint32_t carry = 0; ///< carry of add.cc and similar
  WarpState state = WarpState::Ready;
  uint32_t barrier = 0, barrierWarps = 0; ///< warps that it waits for; 0 for all
  uint64_t laneSteps = 0;
  Accessor accessor{};
  uint32_t lanePc[lanes];
  uint32_t copyGroup[lanes]; ///< groups of cp.async
  std::deque<PendingCopy> copies;
  Allocation recent[4];     ///< allocations of recent accesses
  uint8_t *local = nullptr; ///< localBytes per lane

  template <typename T> T *at(uint32_t place) { return reinterpret_cast<T *>(registers + place); }
  uint32_t predicate(uint32_t place) { return *at<uint32_t>(place); }
  void setPredicate(uint32_t place, uint32_t bits) {
    uint32_t &word = *at<uint32_t>(place);
    word = (word & ~mask) | (bits & mask);
  }
  /// Stores a value per lane, or `width` values, in the executing lanes.
  template <typename T, unsigned width = 1> void store(uint32_t place, const T *values) {
    T *to = at<T>(place);
    if (mask == allLanes) {
      std::memcpy(to, values, sizeof(T) * lanes * width);
      return;
    }
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned i = 0; i < width; ++i)
        to[lane * width + i] = mask >> lane & 1 ? values[lane * width + i] : to[lane * width + i];
  }

  void run();
  void branch(uint32_t target); ///< branches the lanes in `mask`
  void exitLanes();             ///< ends the lanes in `mask`
  void waitAtBarrier(uint32_t id, uint32_t warps);
  void stop() { limit = 0; } ///< leaves the loop behind this instruction
  bool failed() const;
  /// Ends the launch with an error at this place. `lane` is a faulty lane.
  void fail(Fault fault, unsigned lane, const std::string &text = "");
  /// Returns whether all `named` lanes are here, as shuffles and votes need. If not, the lanes here
  /// wait and come back to this instruction. Fails with `text` if no lane can continue.
  bool haveLanes(uint32_t named, const char *text = "a lane that the mask names is not here");

private:
  /// Place of the first waiting lanes, and a lane that they lack.
  struct Lack {
    uint32_t pc, lane;
    const char *text;
  };
  Lack lack{};
  bool isRetry = false; ///< all lanes have waited, and none has continued since
  bool retry();
  bool choose();
  void regroup();
};

struct Block {
  Launch *launch = nullptr;
  Dim index;
  uint32_t number = 0;
  uint32_t interval = 0; ///< number of meetings of all warps
  std::vector<Warp> warps;
  std::vector<uint8_t> registers, shared, local;
  std::vector<Record> sharedShadow;
  ConstantReads constantReads; ///< reads of all its indices
  uint32_t sharedBytes = 0;

  /// A block serves one launch after its construction, for many indices.
  explicit Block(Launch &launch);
  void run(uint32_t blockNumber);

private:
  void reset();
  void prepareWarp(unsigned number);
  void fillConstants(Warp &warp);
  void fillSpecials(Warp &warp);
  bool releaseBarriers();
};

} // namespace reprise::emulator

#endif
