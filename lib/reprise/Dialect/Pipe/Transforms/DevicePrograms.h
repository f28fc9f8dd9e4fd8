// reprise: builds the programs of a pipeline's devices
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H

#include "mlir/IR/IRMapping.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include <map>

namespace reprise::pipe {

/// Cuts a step in pieces into the programs of devices. A value goes straight from the device that
/// makes it to each that reads it, once. Arguments and results stay with the stage where they live.
class DevicePrograms {
public:
  /// `pieces`: of every device, in the order in which it runs them.
  DevicePrograms(ProgramOp step, const pipeline::Shape &shape,
                 std::vector<std::vector<PieceOp>> pieces);
  /// The programs, behind the step, which can be erased then. Errors, at a piece: its device runs
  /// it before what it reads.
  mlir::LogicalResult build();

private:
  struct Message {
    mlir::Value value;
    size_t to; ///< device
  };
  struct Device {
    ProgramOp program;
    mlir::IRMapping known;
    llvm::DenseSet<mlir::Value> needed;             ///< of what belongs to no device
    llvm::SmallVector<size_t> returned;             ///< results of the step, by their numbers
    std::map<size_t, std::vector<size_t>> received; ///< messages by the piece that reads them first
  };

  void findReturned();
  mlir::LogicalResult findMessages();
  mlir::LogicalResult need(mlir::Value value, size_t device, size_t reader);
  void numberMessages();
  size_t deviceOf(PieceOp piece) const { return shape.rankOf(static_cast<int>(piece.getStage())); }
  /// The device of a parameter or state; none for what each may have.
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
  std::vector<std::vector<PieceOp>> pieces;            ///< by device
  llvm::DenseMap<mlir::Operation *, size_t> positions; ///< of pieces among those of their device
  std::vector<Device> devices;
  /// By value and receiver: its first piece that reads it; behind the last one, its return.
  llvm::DenseMap<mlir::Value, std::map<size_t, size_t>> readers;
  std::vector<Message> messages; ///< as their senders make them, one device after the other
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t>> messagesOf;
  llvm::SmallVector<mlir::DictionaryAttr> arguments; ///< attributes of those of each program
  mlir::OpBuilder builder;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H
