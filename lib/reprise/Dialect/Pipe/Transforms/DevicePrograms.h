// reprise: construction of the programs of a pipeline's devices
#ifndef REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H
#define REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H

#include "mlir/IR/IRMapping.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include <map>

namespace reprise::pipe {

/// Builder that splits a step in pieces into the programs of devices. A value is sent once,
/// directly from the device that computes it to each device that reads it, and once more to a
/// backward pass that joins the value with other parts. Arguments and results
/// stay with the stage where they live. Passes pull the arguments of other replicas.
class DevicePrograms {
public:
  /// Makes the builder; `pieces` are the pieces of every device, in execution order. `shape` is
  /// that of each replica. With a label `gathers`, pulled arguments and what is computed from them
  /// have the label. With `prefer_recompute` each micro-batch pulls its own.
  DevicePrograms(ProgramOp step, const pipeline::Shape &shape,
                 std::vector<std::vector<PieceOp>> pieces, std::optional<Label> gathers);
  /// Builds the programs behind the step, which can be erased afterwards. Fails at a piece that its
  /// device runs before a value that the piece reads.
  mlir::LogicalResult build();

private:
  struct Message {
    mlir::Value value;
    size_t to;                ///< device
    PieceOp reader = nullptr; ///< first piece that reads the value; null for pulls and results
  };
  /// Value that a device pulls for its passes over a micro-batch; for all micro-batches the number
  /// is -1.
  using Pull = std::pair<mlir::Value, int64_t>;
  struct Device {
    ProgramOp program;
    mlir::IRMapping known;
    llvm::DenseSet<mlir::Value> needed;             ///< values of no device that it needs
    llvm::SmallVector<size_t> returned;             ///< numbers of results of the step
    std::map<size_t, std::vector<size_t>> received; ///< messages by the first piece that reads them
    /// Messages for later passes of their receivers, by the piece behind them.
    std::map<size_t, std::vector<size_t>> sentAgain;
    llvm::DenseMap<Pull, size_t> pulls;       ///< messages of pulled arguments
    llvm::DenseMap<Pull, mlir::Value> pulled; ///< arguments, and what ops compute from them
  };

  void findReturned();
  mlir::LogicalResult findMessages();
  int64_t findJoinPass(mlir::Operation *op) const;
  mlir::LogicalResult need(mlir::Value value, size_t device, size_t reader, int64_t pass = -1);
  bool sendAgain(mlir::Value value, size_t to, size_t reader);
  void needPull(Pull pull, size_t device, size_t reader);
  bool isOfReplica(mlir::Value value);
  /// Returns the number of the micro-batch for pulls of a piece; none for a piece without pulls.
  std::optional<int64_t> getPuller(PieceOp piece) const;
  /// Numbers messages device by device, in the order in which values are computed.
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
  void send(size_t message, Device &device);
  void receive(size_t reader, Device &device);
  void run(PieceOp piece, Device &device);
  mlir::Value get(mlir::Value value, Device &device);
  mlir::Value pull(Pull pull, Device &device, mlir::Operation *reader);
  void mark(mlir::Operation *op, mlir::Operation *reader) const;
  void finish(size_t device);
  std::string nameOf(size_t device) const;

  ProgramOp step;
  EntrySignature signature;
  pipeline::Shape shape;
  std::vector<std::vector<PieceOp>> pieces; ///< pieces by device
  /// Positions of pieces in their device's list.
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  std::optional<Label> gathers;
  std::vector<Device> devices;
  llvm::DenseMap<mlir::Value, bool> ofReplica; ///< whether a value is, or shows, such an argument
  /// Devices that pull an argument, each with the micro-batch.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<size_t, int64_t>>> pullers;
  /// First piece of each receiver that reads a value, keyed by value, receiver, and the pass for
  /// which it joins the value with others. The return counts as a piece behind the last.
  llvm::DenseMap<mlir::Value, std::map<std::pair<size_t, int64_t>, size_t>> readers;
  std::vector<Message> messages; ///< in the order of the senders, one device after the other
  llvm::DenseMap<mlir::Value, llvm::SmallVector<size_t>> messagesOf;
  /// Attributes of the arguments of each program.
  llvm::SmallVector<mlir::DictionaryAttr> arguments;
  mlir::OpBuilder builder;
};

} // namespace reprise::pipe

#endif // REPRISE_LIB_DIALECT_PIPE_TRANSFORMS_DEVICEPROGRAMS_H
