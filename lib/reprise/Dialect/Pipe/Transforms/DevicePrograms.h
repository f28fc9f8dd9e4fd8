// reprise: construction of the programs of a pipeline's devices
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H

#include "mlir/IR/IRMapping.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include <map>

namespace reprise::pipe {

/// Builder that splits a step in pieces into the programs of devices. A value is sent once,
/// directly from the device that computes it to each device that reads it. Arguments and results
/// stay with the stage where they live.
class DevicePrograms {
public:
  /// Makes the builder; `pieces` are the pieces of every device, in execution order. `shape` is
  /// that of each replica.
  DevicePrograms(ProgramOp step, const pipeline::Shape &shape,
                 std::vector<std::vector<PieceOp>> pieces);
  /// Builds the programs behind the step, which can be erased afterwards. Fails at a piece that its
  /// device runs before a value that the piece reads.
  mlir::LogicalResult build();

private:
  struct Message {
    mlir::Value value;
    size_t to; ///< device
  };
  struct Device {
    ProgramOp program;
    mlir::IRMapping known;
    llvm::DenseSet<mlir::Value> needed;             ///< values of no device that it needs
    llvm::SmallVector<size_t> returned;             ///< numbers of results of the step
    std::map<size_t, std::vector<size_t>> received; ///< messages by the first piece that reads them
  };

  void findReturned();
  mlir::LogicalResult findMessages();
  mlir::LogicalResult need(mlir::Value value, size_t device, size_t reader);
  void numberMessages();
  size_t deviceOf(int64_t replica, int64_t stage) const {
    return replica * shape.ranks + shape.rankOf(static_cast<int>(stage));
  }
  size_t deviceOf(PieceOp piece) const {
    return deviceOf(static_cast<int64_t>(piece.getReplica()),
                    static_cast<int64_t>(piece.getStage()));
  }
  /// Returns the device of a parameter or state; none for arguments that every device may have.
  std::optional<size_t> homeOf(mlir::BlockArgument argument);

  void buildProgram(size_t device);
  void createFunction(size_t device);
  llvm::ArrayRef<mlir::DictionaryAttr> describeArguments();
  void send(mlir::Value value, Device &device);
  void receive(size_t reader, Device &device);
  void run(PieceOp piece, Device &device);
  mlir::Value get(mlir::Value value, Device &device);
  void finish(size_t device);
  std::string nameOf(size_t device) const;

  ProgramOp step;
  EntrySignature signature;
  pipeline::Shape shape;
  std::vector<std::vector<PieceOp>> pieces; ///< pieces by device
  /// Positions of pieces in their device's list.
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  std::vector<Device> devices;
  /// First piece of each receiver that reads a value, keyed by value and receiver. The return
  /// counts as a piece behind the last.
  llvm::DenseMap<mlir::Value, std::map<size_t, size_t>> readers;
  std::vector<Message> messages; ///< in the order of the senders, one device after the other
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t>> messagesOf;
  /// Attributes of the arguments of each program.
  llvm::SmallVector<mlir::DictionaryAttr> arguments;
  mlir::OpBuilder builder;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H
