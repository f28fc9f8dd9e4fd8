// reprise: the memory that the ranks of an emulated communicator share
#ifndef REPRISE_GPU_EMULATOR_NCCL_ROOM_H
#define REPRISE_GPU_EMULATOR_NCCL_ROOM_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace reprise::emulator {

constexpr int maxRanks = 16;

/// What the sender or the receiver of a line has at its head.
struct Side {
  std::atomic<uint32_t> hasConnected;
  std::atomic<uint64_t> number; ///< of its transfers on this line, from 1; stored last
  uint64_t count;
  int32_t type;
};

/// From one rank to another.
struct Line {
  static constexpr uint64_t ringBytes = 32 << 10;
  Side sender, receiver;
  std::atomic<uint64_t> written, read; ///< bytes, of all transfers
  uint8_t ring[ringBytes];
};

/// Zero at first. It goes when the last process has ended, however that ends.
struct Room {
  std::atomic<uint32_t> arrived;
  std::atomic<int32_t> devices[maxRanks]; ///< of the ranks, and one more
  Line lines[maxRanks][maxRanks];         ///< by sender and receiver
};

using RoomPtr = std::shared_ptr<Room>;

/// A new one, and by which name other processes open it; "" if the system gives none.
std::string makeRoom();
/// Null if it is none, or its maker has ended.
RoomPtr openRoom(const std::string &name);

} // namespace reprise::emulator

#endif
