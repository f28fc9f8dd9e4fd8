// reprise: builds the programs of a pipeline's devices
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H

#include "Places.h"
#include "mlir/IR/IRMapping.h"
#include <map>

namespace reprise::pipe {

/// What a device runs without waiting in between: a pass of a stage over a micro-batch, or one op
/// before or behind all micro-batches.
struct Turn {
  Place place;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Cuts a step into the programs of devices, whose turns are given.
///
/// - A value goes straight from the device that makes it to each that reads it, once.
/// - What a turn makes is sent at its end, and its receive begins a turn before the one that reads
///   it. Two turns of one pass of a stage may have values on their way to one pass of another
///   stage: the third one waits until the other side has begun to receive the first one's. Where
///   programs would wait for each other in a circle, as with a value that skips the stages of an
///   interleaved schedule, more turns may.
class DevicePrograms {
public:
  /// Every device has a first and a last turn without ops, before and behind all micro-batches.
  DevicePrograms(mlir::func::FuncOp step, const Places &places, const pipeline::Shape &shape,
                 std::vector<std::vector<Turn>> turns);
  /// The programs, behind the step, which can be erased then. Errors, at an op: its device runs it
  /// before what it reads.
  mlir::LogicalResult build();

private:
  /// From one pass of a stage to one of another stage, or to what stands around all passes.
  using Channel = std::pair<int64_t, int64_t>;
  struct Message {
    mlir::Value value;
    size_t from, to;   ///< devices
    size_t made, read; ///< turns of those
    size_t begun;      ///< the turn of `to` in which the receive begins
    Channel channel;
    mlir::Value sent, arrived; ///< events of the sender and of the receiver
  };
  /// What a device does: it begins to send or to receive a message, waits for one, or runs the ops
  /// of a turn.
  struct Step {
    enum Kind { Begin, Wait, Run } kind;
    size_t number; ///< of the message or the turn
  };
  struct Device {
    mlir::func::FuncOp program;
    mlir::IRMapping known;
    llvm::SmallVector<size_t> returned;                 ///< results of the step, by their numbers
    std::vector<std::vector<size_t>> sent, begun, read; ///< messages by turn
  };

  void findReturned();
  mlir::LogicalResult findMessages();
  mlir::LogicalResult need(mlir::Value value, size_t device, size_t turn);
  void addMessage(mlir::Value value, size_t from, size_t made, size_t to, size_t read);
  void orderMessages();
  /// How many turns of each channel may have values on their way.
  void findWindows();
  std::optional<std::vector<size_t>> findWaitingSends();
  bool mustWait(const Message &message, size_t pending) const;
  std::vector<Step> listSteps(size_t device) const;
  int64_t classify(const Place &place) const;
  size_t deviceOf(const Place &place) const { return shape.rankOf(static_cast<int>(place.stage)); }
  size_t homeOf(mlir::BlockArgument argument) const {
    return shape.rankOf(static_cast<int>(places.getHome(argument)));
  }

  void buildProgram(size_t device);
  void createFunction(size_t device);
  void beginSend(size_t device, Message &message);
  void beginReceive(size_t device, Message &message);
  void runTurn(size_t device, size_t turn);
  mlir::Value get(mlir::Value value, Device &device);
  void finish(size_t device);
  int64_t tagOf(const Message &message);
  std::string nameOf(size_t device) const;

  mlir::func::FuncOp step;
  EntrySignature signature;
  const Places &places;
  pipeline::Shape shape;
  std::vector<std::vector<Turn>> turns; ///< by device
  llvm::DenseMap<mlir::Operation *, size_t> turnOf;
  std::vector<Device> devices;
  std::vector<Message> messages; ///< once in order, as their sender makes them
  llvm::DenseMap<std::pair<mlir::Value, size_t>, size_t> messageOf;     ///< by receiver
  std::map<std::pair<size_t, size_t>, std::map<Channel, int64_t>> tags; ///< by sender and receiver
  std::map<std::tuple<size_t, size_t, Channel>, size_t> windows; ///< by sender and receiver, too
  mlir::OpBuilder builder;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H
