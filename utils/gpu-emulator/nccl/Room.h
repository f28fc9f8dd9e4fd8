// reprise: the memory that the ranks of an emulated communicator share
#ifndef REPRISE_GPU_EMULATOR_NCCL_ROOM_H
#define REPRISE_GPU_EMULATOR_NCCL_ROOM_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace reprise::emulator {

constexpr int maxRanks = 16;

/// Head of a line, as its sender or receiver has it.
struct Side {
  std::atomic<uint32_t> hasConnected;
  std::atomic<uint64_t> number; ///< number of its transfers on this line, from 1; stored last
  uint64_t count;
  int32_t type;
};

/// Line from one rank to another.
struct Line {
  static constexpr uint64_t ringBytes = 32 << 10;
  Side sender, receiver;
  std::atomic<uint64_t> written, read; ///< bytes of all transfers
  uint8_t ring[ringBytes];
};

/// Shared memory, zero at first. It is freed when the last process has ended, even by a crash.
struct Room {
  std::atomic<uint32_t> arrived;
  std::atomic<int32_t> devices[maxRanks]; ///< devices of the ranks, plus 1
  Line lines[maxRanks][maxRanks];         ///< by sender and receiver
};

using RoomPtr = std::shared_ptr<Room>;

/// Makes a room, and returns the name by which other processes open it; "" if the system has no
/// memory.
std::string makeRoom();
/// Opens a room; null if the name is none, or its maker has ended.
RoomPtr openRoom(const std::string &name);

} // namespace reprise::emulator

#endif
