// reprise: when values leave and arrive between the pieces of device programs
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERSCHEDULE_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERSCHEDULE_H

#include "reprise/Dialect/Pipe/IR/Pipe.h"

#include <array>
#include <map>

namespace reprise::pipe {

/// Of a message, by numbers: devices, and their turns. Turn 0 of a device is its begin, turn i + 1
/// its i-th piece, and the last one its end.
struct Message {
  size_t from, to;
  size_t made, read;
};

/// - What a turn makes is sent at its end, and its receive begins a turn before the one that reads
///   it. Messages of a channel are received in the order in which they are sent.
/// - Two turns of one pass of a stage may have values on their way to one pass of another stage:
///   the third one waits until the other side has begun to receive the first one's. Where programs
///   would wait for each other in a circle, as with a value that skips the stages of an interleaved
///   schedule, more turns may.
class TransferSchedule {
public:
  /// What a device does: it begins to send or to receive a message, waits for one, or runs a turn.
  struct Step {
    enum Kind { Begin, Wait, Run } kind;
    size_t number; ///< of the message or the turn
  };

  /// The pieces of each device; messages as their senders make them, one device after the other.
  TransferSchedule(llvm::ArrayRef<llvm::SmallVector<PieceOp>> pieces,
                   std::vector<Message> messages);

  std::vector<Step> listSteps(size_t device) const;
  int64_t tagOf(size_t message) const;

private:
  /// A pass of a stage, or what stands around all passes; in the order in which programs wait.
  using Class = std::array<int64_t, 3>;
  using Channel = std::pair<Class, Class>;
  struct Device {
    std::vector<Class> turns;
    std::vector<std::vector<size_t>> sent, begun, read; ///< messages by turn
  };

  static Class classify(PieceOp piece);
  void orderMessages();
  /// How many turns of each channel may have values on their way.
  void findWindows();
  std::optional<std::vector<size_t>> findWaitingSends() const;
  bool mustWait(size_t message, size_t pending) const;

  std::vector<Device> devices;
  std::vector<Message> messages;
  std::vector<Channel> channels;                                        ///< by message
  std::map<std::pair<size_t, size_t>, std::map<Channel, int64_t>> tags; ///< by sender and receiver
  std::map<std::tuple<size_t, size_t, Channel>, size_t> windows; ///< by sender and receiver, too
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_TRANSFERSCHEDULE_H
