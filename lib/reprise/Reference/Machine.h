// reprise: execution of one program, op by op.
#ifndef REPRISE_LIB_REFERENCE_MACHINE_H
#define REPRISE_LIB_REFERENCE_MACHINE_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Reference/Tensor.h"
#include "reprise/Reference/Transfer.h"
#include <map>

namespace reprise {

/// Values of one call of a function, regions included. Uses of an op are multiplied by its loop
/// iterations.
class Frame {
public:
  const Tensor &get(mlir::Value value) const { return slots.find(value)->second.tensor; }
  /// Binds a value until its last use.
  void define(mlir::Value value, Tensor tensor);
  void define(mlir::ValueRange values, std::vector<Tensor> tensors);
  /// Takes the value for one use: moved out at the last one.
  Tensor use(mlir::Value value);
  std::vector<Tensor> useAll(mlir::ValueRange values);
  /// Multiplies by `factor` every use inside `region` of a value from above.
  void multiplyUses(mlir::Region &region, int64_t factor);
  void release(mlir::Value value);

private:
  struct Slot {
    Tensor tensor;
    int64_t uses;
  };
  llvm::DenseMap<mlir::Value, Slot> slots;
};

/// Values that device programs have sent to each other and not yet received.
class Mailboxes {
public:
  void send(int64_t from, TransferOpInterface op, std::vector<Tensor> values);
  /// Begins a receive of device `to`; returns its number among those of its key.
  int64_t begin(int64_t to, TransferOpInterface op);
  /// Takes the values for the receive of that number; returns the op that sent them, or null if
  /// they have not arrived.
  mlir::Operation *take(int64_t to, TransferOpInterface op, int64_t number,
                        std::vector<Tensor> &values);
  /// Returns an op whose values no program received; null if there is none.
  mlir::Operation *findLeft() const;

private:
  struct Message {
    mlir::Operation *sender;
    std::vector<Tensor> values;
  };
  struct Box {
    std::map<int64_t, Message> messages; ///< messages by number
    int64_t numSent = 0, numBegun = 0;
  };
  /// Mailboxes by sender, receiver and key.
  std::map<std::tuple<int64_t, int64_t, int64_t>, Box> boxes;
};

/// Program with its own stack, so that it can stop at any op, also in loops and calls, and continue
/// when awaited values have arrived.
class Machine {
public:
  Machine(mlir::FunctionOpInterface program, std::vector<Tensor> arguments, Mailboxes &mail);

  /// Runs until the program waits, is done, or has executed `most` ops. Returns whether it executed
  /// any op.
  mlir::FailureOr<bool> run(int64_t most);
  bool isDone() const { return stack.empty(); }
  /// Returns the transfer that the program waits for; null if there is none.
  mlir::Operation *getWaiting() const { return waiting; }
  std::vector<Tensor> takeResults() { return std::move(results); }

private:
  /// A block that is being executed.
  struct Activation {
    mlir::Block *block = nullptr;
    mlir::Block::iterator next;
    std::shared_ptr<Frame> frame;
    mlir::Operation *op = nullptr; ///< op of the block, or its caller; null for the program
    int64_t iteration = 0;         ///< iteration of a loop
    /// Values of a loop; stacks are written, rows are read.
    std::vector<Tensor> carried, stacks, rows;
  };

  void enter(mlir::Block &block, std::shared_ptr<Frame> frame, mlir::Operation *op);
  void enterFunction(mlir::FunctionOpInterface function, std::vector<Tensor> arguments,
                     mlir::Operation *call);
  /// Executes an op; returns false if it waits.
  mlir::FailureOr<bool> execute(mlir::Operation *op);
  mlir::LogicalResult leave(mlir::Operation *terminator);
  mlir::LogicalResult startLaunch(exec::LaunchOp launch);
  mlir::LogicalResult startLoop(LoopOp loop);
  void startIteration(Activation &body, LoopOp loop);
  bool endIteration(Activation &body, LoopOp loop, std::vector<Tensor> yielded);
  mlir::LogicalResult startCall(mlir::func::CallOp call);
  mlir::LogicalResult evaluate(mlir::Operation *op);
  mlir::FailureOr<bool> exchange(TransferOpInterface op);
  mlir::FailureOr<bool> receive(TransferOpInterface op);

  mlir::FunctionOpInterface program;
  Mailboxes &mail;
  std::vector<Activation> stack;
  mlir::Operation *waiting = nullptr;
  llvm::DenseMap<mlir::Operation *, int64_t> begun; ///< receives that have not ended, by op
  std::vector<Tensor> results;
  mlir::SymbolTableCollection symbols;
  llvm::SmallPtrSet<mlir::Operation *, 4> running; ///< running functions
};

} // namespace reprise

#endif
