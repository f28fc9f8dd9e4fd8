// reprise: a send or a receive of the emulated NCCL
#ifndef REPRISE_GPU_EMULATOR_NCCL_OPERATION_H
#define REPRISE_GPU_EMULATOR_NCCL_OPERATION_H

#include "../Neighbour.h"
#include "Room.h"

#include <vector>

namespace reprise::emulator {

/// Returns the bytes of an element; 0 for an unknown type.
uint64_t elementBytes(int type);

/// Common state of the operations of a communicator, which may outlive it.
struct Shared {
  RoomPtr room;
  std::atomic<bool> isAborted{false};
  std::atomic<unsigned> open{0}; ///< open operations
};

/// Operation that ends when the other side has begun. No value is sent ahead, unlike small values
/// in the real library, so that an order that deadlocks never ends here.
class Operation {
public:
  Operation(std::shared_ptr<Shared> shared, bool isSend, int rank, int peer, uint64_t address,
            uint64_t count, int type)
      : shared(std::move(shared)), isSend(isSend), rank(rank), peer(peer), address(address),
        count(count), type(type), bytes(count * elementBytes(type)) {}

  Side &side() const { return isSend ? line().sender : line().receiver; }
  /// Returns whether both ranks have reached their first transfer on this line.
  bool canConnect() const { return line().sender.hasConnected && line().receiver.hasConnected; }
  /// Sets the number of the transfer, and the bytes before it on its line.
  void place(uint64_t ownNumber, uint64_t before) {
    number = ownNumber;
    begin = before;
  }
  uint64_t size() const { return bytes; }
  bool sends() const { return isSend; }
  int other() const { return peer; }
  /// Gives the operation to the stream, which then owns it.
  static CUresult enqueue(std::unique_ptr<Operation> own, CUstream stream);

private:
  Line &line() const {
    return isSend ? shared->room->lines[rank][peer] : shared->room->lines[peer][rank];
  }
  bool poll();
  const char *finish(bool isGood);
  bool send();
  bool receive();
  std::string describe(bool sends, uint64_t items, int ofType) const;

  std::shared_ptr<Shared> shared;
  bool isSend;
  int rank, peer;
  uint64_t address, count;
  int type;
  uint64_t bytes, number = 0, begin = 0;
  bool hasPosted = false;
  std::vector<uint8_t> received;
  std::string failure;
};

} // namespace reprise::emulator

#endif
