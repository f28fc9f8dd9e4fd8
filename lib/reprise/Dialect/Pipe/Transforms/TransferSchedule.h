// reprise: order of sends, receives and waits between the pieces of device programs
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERSCHEDULE_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERSCHEDULE_H

#include "reprise/Dialect/Pipe/IR/Pipe.h"

#include <array>
#include <map>

namespace reprise::pipe {

/// Message by numbers: devices, and their turns. Turn 0 of a device is its begin, turn i + 1 its
/// i-th piece, and the last turn its end.
struct Message {
  size_t from, to;
  size_t made, read;
  bool isPulled = false; ///< received anywhere before the reader, possibly more than once
};

/// Schedule of messages.
///
/// - Values of a turn are sent at its end, and received from one turn before the turn that reads
///   them. Messages of a channel are received in the order in which they are sent.
/// - A message that is pulled has a tag of its own.
/// - Two turns of one pass of a stage may have values in flight to one pass of the next stage: the
///   third turn waits until the other side has begun to receive the values of the first. For each
///   skipped stage one more turn may have values in flight. If programs would deadlock, as with a
///   value that skips the stages of an interleaved schedule, still more may. The same holds between
///   ops behind all passes.
class TransferSchedule {
public:
  /// Step of a device: begins to send or to receive a message, waits for a message, or runs a turn.
  struct Step {
    enum Kind { Begin, Wait, Run } kind;
    size_t number; ///< number of the message or the turn
  };

  /// Makes the schedule for the pieces of each device. Messages are in the order of their senders,
  /// one device after the other.
  TransferSchedule(llvm::ArrayRef<llvm::SmallVector<PieceOp>> pieces,
                   std::vector<Message> messages);

  std::vector<Step> listSteps(size_t device) const;
  int64_t tagOf(size_t message) const;

private:
  /// Pass of a stage, or the turns around all passes; in the order in which programs wait.
  using Class = std::array<int64_t, 3>;
  using Channel = std::pair<Class, Class>;
  struct Device {
    std::vector<Class> turns;
    std::vector<std::vector<size_t>> sent, begun, read; ///< messages by turn
    size_t passes = 0; ///< turns up to the last op of a pass of a part of a model
  };

  static Class classify(PieceOp piece);
  void orderMessages();
  /// Computes how many turns of each channel may have values in flight.
  void findWindows();
  std::optional<std::vector<size_t>> findWaitingSends() const;
  bool mustWait(size_t message, size_t pending) const;

  std::vector<Device> devices;
  std::vector<Message> messages;
  std::vector<Channel> channels; ///< channels by message
  /// Tags by sender and receiver.
  std::map<std::pair<size_t, size_t>, std::map<Channel, int64_t>> tags;
  /// Windows by sender, receiver and channel.
  std::map<std::tuple<size_t, size_t, Channel>, size_t> windows;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERSCHEDULE_H
