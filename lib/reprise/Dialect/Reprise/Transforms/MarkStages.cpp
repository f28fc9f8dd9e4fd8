// reprise: marks the ops of a forward pass with their stage, before derivatives inherit it
#include "reprise/Dialect/Reprise/Transforms/Passes.h"

#include "Aliases.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Naming.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise {
#define GEN_PASS_DEF_MARKSTAGESPASS
#include "reprise/Dialect/Reprise/Transforms/Passes.h.inc"

namespace {

/// Op of the forward pass; an op in a loop has one entry per iteration.
struct Entry {
  Operation *op;
  int64_t iteration;
  std::string scope;
};

/// The forward pass in its order: the ops of the innermost gradients, or of a function without one.
class ForwardPass {
public:
  explicit ForwardPass(func::FuncOp function) {
    bool isDifferentiated = false;
    function.walk([&](ValueAndGradOp op) {
      bool isInnermost = true;
      op.getBody().walk([&](ValueAndGradOp) { isInnermost = false; });
      isDifferentiated = true;
      if (isInnermost && !op.getBody().empty())
        add(op.getBody().front());
    });
    if (!isDifferentiated && !function.isExternal())
      add(function.getBody().front());
    live.assign(entries.size() + 1, 0);
    for (const Instance &value : values)
      if (value.last > value.made) {
        live[value.made + 1] += value.bytes;
        live[value.last + 1] -= value.bytes;
      }
    for (size_t i = 1; i < live.size(); ++i)
      live[i] += live[i - 1];
  }

  ArrayRef<Entry> getEntries() const { return entries; }
  /// Returns the bytes computed before entry `place` and read by it or a later entry; INT64_MAX at
  /// both ends, where no cut is possible.
  int64_t countCrossing(size_t place) const {
    return place == 0 || place == entries.size() ? INT64_MAX : live[place];
  }

private:
  struct Instance {
    size_t made, last;
    int64_t bytes;
  };
  static constexpr size_t kFree = SIZE_MAX;

  void add(Block &block, int64_t iteration = 0, StringRef loopScope = "") {
    for (Operation &op : block.without_terminator()) {
      if (op.hasTrait<OpTrait::ConstantLike>()) {
        current[op.getResult(0)] = kFree;
        continue;
      }
      if (auto loop = dyn_cast<LoopOp>(op)) {
        addLoop(loop, iteration);
        continue;
      }
      bool isFree = read(op.getOperands());
      std::string scope = getScope(op.getLoc());
      entries.push_back({&op, iteration,
                         loopScope.empty() ? scope : insertIteration(scope, loopScope, iteration)});
      make(op.getResults(), isFree);
    }
  }

  /// Marks the operands as read by the next entry. Returns true if it reads only constants.
  bool read(ValueRange operands) {
    bool isFree = true;
    for (Value operand : operands) {
      auto found = current.find(aliases.getRoot(operand));
      isFree &= found != current.end() && found->second == kFree;
      if (found != current.end() && found->second != kFree)
        values[found->second].last = entries.size();
    }
    return isFree;
  }

  void make(ResultRange results, bool isFree) {
    for (Value result : results) {
      if (aliases.getRoot(result) != result)
        continue;
      current[result] = isFree ? kFree : values.size();
      if (!isFree)
        values.push_back({entries.size() - 1, entries.size() - 1, getByteSize(result.getType())});
    }
  }

  void addLoop(LoopOp loop, int64_t iteration) {
    read(loop->getOperands());
    SmallVector<std::optional<size_t>> carried;
    for (Value init : loop.getInits())
      carried.push_back(find(init));
    auto trip = static_cast<int64_t>(loop.getTrip());
    for (int64_t i = 0; i < trip; ++i) {
      for (auto [argument, value] : llvm::zip(loop.getCarryArguments(), carried))
        value ? void(current[argument] = *value) : void(current.erase(argument));
      // An inner loop belongs to one iteration of the outer loop.
      bool isInner = loop->getParentOfType<LoopOp>() != nullptr;
      add(loop.getBlock(),
          isInner             ? iteration
          : loop.getReverse() ? trip - 1 - i
                              : i,
          getScope(loop.getLoc()));
      for (size_t carry = 0; carry < carried.size(); ++carry)
        carried[carry] = find(loop.getYield()->getOperand(carry));
    }
    for (auto [result, value] : llvm::zip(loop.getLastCarries(), carried))
      if (value)
        current[result] = *value;
    loops.push_back(loop);
  }

  std::optional<size_t> find(Value value) {
    auto found = current.find(aliases.getRoot(value));
    return found == current.end() ? std::nullopt : std::optional(found->second);
  }

public:
  SmallVector<LoopOp> loops;

private:
  std::vector<Entry> entries;
  std::vector<Instance> values;
  DenseMap<Value, size_t> current; ///< current instance of roots, or kFree
  std::vector<int64_t> live;
  Aliases aliases;
};

struct MarkStagesPass : impl::MarkStagesPassBase<MarkStagesPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (devices == 1)
      function.walk([](Operation *op) { op->removeDiscardableAttr(kStageAttr); });
    if (devices == 1 && replicas == 1)
      return;
    if (refusesPause(function))
      return signalPassFailure();
    ForwardPass pass(function);
    if (devices == 1)
      return markOneStage(pass);
    FailureOr<std::vector<int64_t>> stages = !at.empty()         ? findNamed(pass)
                                             : isAnnotated(pass) ? readMarks(pass)
                                                                 : findCuts(pass);
    if (failed(stages))
      return signalPassFailure();
    DenseMap<Operation *, SmallVector<int64_t>> marks;
    for (auto [entry, stage] : llvm::zip(pass.getEntries(), *stages)) {
      SmallVector<int64_t> &own = marks[entry.op];
      own.resize(std::max<size_t>(own.size(), entry.iteration + 1));
      own[entry.iteration] = stage;
    }
    for (auto &[op, own] : marks)
      mark(op, std::move(own));
    for (LoopOp loop : pass.loops)
      for (Operation &op : loop.getBlock().without_terminator())
        if (Attribute stages = op.getDiscardableAttr(kStageAttr)) {
          loop->setDiscardableAttr(kStageAttr, stages);
          break;
        }
  }

private:
  /// Marks all ops of the forward pass with stage 0.
  static void markOneStage(const ForwardPass &pass) {
    auto mark = [](Operation *op) {
      op->setDiscardableAttr(kStageAttr, Builder(op->getContext()).getI64IntegerAttr(0));
    };
    for (const Entry &entry : pass.getEntries())
      mark(entry.op);
    for (LoopOp loop : pass.loops)
      mark(loop);
  }

  /// Marks an op. Ops of a loop have one number per iteration of the outermost loop. A gradient
  /// that is taken in a loop has the same stages in every iteration.
  static void mark(Operation *op, SmallVector<int64_t> stages) {
    Builder builder(op->getContext());
    LoopOp outermost;
    for (auto loop = op->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>())
      outermost = loop;
    if (outermost) {
      stages.resize(outermost.getTrip(), stages.back());
      op->setDiscardableAttr(kStageAttr, builder.getDenseI64ArrayAttr(stages));
    } else {
      op->setDiscardableAttr(kStageAttr, builder.getI64IntegerAttr(stages.front()));
    }
  }

  /// Stages begin at the first op of each scope.
  FailureOr<std::vector<int64_t>> findNamed(const ForwardPass &pass) {
    std::vector<int64_t> stages(pass.getEntries().size());
    size_t next = 0;
    for (auto [i, entry] : llvm::enumerate(pass.getEntries())) {
      if (next < at.size() && isWithin(entry.scope, at[next]))
        ++next;
      stages[i] = static_cast<int64_t>(next);
    }
    if (next == at.size() && (stages.empty() || stages.front() == 0))
      return stages;
    func::FuncOp function = getOperation();
    if (next < at.size())
      return function.emitError("no op of the forward pass ")
             << (next ? "behind '" + at[next - 1] + "' " : "") << "has the scope '" << at[next]
             << "'";
    return function.emitError("a stage cannot begin at '")
           << at[0] << "', where the forward pass begins: the first stage would be empty";
  }

  static bool refusesPause(func::FuncOp function) {
    return function
        .walk([](PauseOp pause) {
          pause.emitError("a step that pauses is not cut into stages");
          return WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  static bool isWithin(StringRef scope, StringRef name) {
    return scope.consume_front(name) && (scope.empty() || scope.front() == '/');
  }

  static bool isAnnotated(const ForwardPass &pass) {
    return llvm::any_of(pass.getEntries(),
                        [](const Entry &entry) { return entry.op->hasAttr(kStageAttr); });
  }

  /// Reads the marks of the model: a marked op begins its stage, and the following ops belong to
  /// it.
  FailureOr<std::vector<int64_t>> readMarks(const ForwardPass &pass) {
    std::vector<int64_t> stages;
    int64_t stage = 0;
    for (const Entry &entry : pass.getEntries()) {
      if (Attribute attribute = entry.op->getAttr(kStageAttr)) {
        auto number = dyn_cast<IntegerAttr>(attribute);
        if (!number || number.getInt() < stage || number.getInt() > stage + 1)
          return entry.op->emitError("expected '")
                 << kStageAttr << "' " << stage << " or " << stage + 1
                 << ": stages begin one after the other, from 0 on";
        stage = number.getInt();
      }
      stages.push_back(stage);
    }
    return stages;
  }

  /// Finds cuts at all places with at most as many bytes as directly before and directly behind.
  FailureOr<std::vector<int64_t>> findCuts(const ForwardPass &pass) {
    std::vector<int64_t> stages;
    int64_t stage = 0;
    size_t size = pass.getEntries().size();
    for (size_t i = 0; i < size; ++i) {
      int64_t bytes = pass.countCrossing(i);
      if (i > 0 && bytes > 0 && bytes <= pass.countCrossing(i - 1) &&
          bytes <= pass.countCrossing(i + 1))
        ++stage;
      stages.push_back(stage);
    }
    return stages;
  }
};

} // namespace
} // namespace reprise
