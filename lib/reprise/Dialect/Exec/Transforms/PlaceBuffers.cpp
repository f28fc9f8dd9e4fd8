// reprise: gives every launch result its place.
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Conversion/Target.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Offsets/Problem.h"
#include "reprise/Planning/Offsets/Solve.h"
#include "reprise/Support/ByteSize.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

/// The number of the argument that each result of the entry replaces, or -1.
SmallVector<int64_t> nextValueOf(func::FuncOp entry) {
  llvm::StringMap<int64_t> arguments;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (auto name = entry.getArgAttrOfType<StringAttr>(i, "reprise.name"))
      arguments[name.getValue()] = i;
  SmallVector<int64_t> replaced(entry.getNumResults(), -1);
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (auto name = entry.getResultAttrOfType<StringAttr>(i, "reprise.name"))
      if (auto found = arguments.find(name.getValue()); found != arguments.end())
        replaced[i] = found->second;
  return replaced;
}

/// Places the buffers of one entry.
class Placement {
public:
  Placement(func::FuncOp entry, const Target &target)
      : entry(entry), block(entry.getBody().front()) {
    for (auto launch : block.getOps<LaunchOp>()) {
      position[launch] = launches.size();
      for (auto [result, input] : target.findInPlacePairs(launch.getBody().front()))
        inPlace.insert({launch.getResult(result), input});
      launches.push_back(launch);
    }
  }

  FailureOr<int64_t> run() {
    overwriteArguments();
    collectBuffers();
    shareDyingInputs();
    offsets::Solution solution = offsets::solve(problem);
    if (auto defect = offsets::validate(problem, solution))
      return entry.emitError("the packed arena is wrong: ") << defect->message;
    annotate(solution);
    return solution.height;
  }

private:
  int64_t lastUse(Value value) {
    int64_t last = value.getDefiningOp<LaunchOp>() ? position.lookup(value.getDefiningOp()) : -1;
    for (Operation *user : value.getUsers())
      last = std::max<int64_t>(last, isa<LaunchOp>(user) ? position.lookup(user) : launches.size());
    return last;
  }

  /// Next values overwrite their argument where that is safe. Otherwise a copy at the end of the
  /// step does: the runtime copies results that lie in the arena.
  void overwriteArguments() {
    SmallVector<int64_t> replaced = nextValueOf(entry);
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      auto launch = value.getDefiningOp<LaunchOp>();
      if (replaced[i] < 0 || !launch || placedIn.contains(value))
        continue;
      BlockArgument old = entry.getArgument(replaced[i]);
      if (canOverwrite(launch, cast<OpResult>(value).getResultNumber(), old))
        placedIn[value] = replaced[i];
    }
  }

  bool canOverwrite(LaunchOp launch, unsigned result, BlockArgument old) {
    for (OpOperand &use : old.getUses()) {
      auto reader = dyn_cast<LaunchOp>(use.getOwner());
      // The old value itself is returned, or read later.
      if (!reader || position.lookup(reader) > position.lookup(launch))
        return false;
      if (reader == launch && !inPlace.contains({launch.getResult(result), use.getOperandNumber()}))
        return false;
    }
    return true;
  }

  void collectBuffers() {
    for (LaunchOp launch : launches)
      for (Value result : launch.getResults())
        if (!placedIn.contains(result)) {
          bufferOf[result] = problem.buffers.size();
          problem.buffers.push_back(
              {position.lookup(launch), lastUse(result), getByteSize(result.getType())});
        }
  }

  /// A result takes the place of an input that dies in its launch, in chains.
  void shareDyingInputs() {
    std::vector<std::vector<size_t>> groups;
    std::map<size_t, size_t> groupOf;
    for (LaunchOp launch : launches) {
      llvm::SmallDenseSet<Value> taken;
      for (OpResult result : launch->getResults())
        if (bufferOf.contains(result))
          if (Value input = findDyingInput(launch, result, taken)) {
            taken.insert(input);
            size_t from = bufferOf.lookup(input);
            auto [group, isNew] = groupOf.try_emplace(from, groups.size());
            size_t number = group->second;
            if (isNew)
              groups.push_back({from});
            groups[number].push_back(bufferOf.lookup(result));
            groupOf[bufferOf.lookup(result)] = number;
          }
    }
    problem.groups = std::move(groups);
  }

  Value findDyingInput(LaunchOp launch, OpResult result, const llvm::SmallDenseSet<Value> &taken) {
    for (auto [i, input] : llvm::enumerate(launch.getInputs()))
      if (bufferOf.contains(input) && !taken.contains(input) &&
          lastUse(input) == position.lookup(launch) &&
          llvm::count(launch.getInputs(), input) == 1 && inPlace.contains({result, i}))
        return input;
    return {};
  }

  void annotate(const offsets::Solution &solution) {
    Builder builder(entry.getContext());
    for (LaunchOp launch : launches) {
      SmallVector<int64_t> arguments, places;
      for (Value result : launch.getResults()) {
        auto placed = placedIn.find(result);
        arguments.push_back(placed == placedIn.end() ? -1 : placed->second);
        places.push_back(placed == placedIn.end() ? solution.offsets[bufferOf.lookup(result)] : 0);
      }
      launch.setArgumentsAttr(builder.getDenseI64ArrayAttr(arguments));
      launch.setOffsetsAttr(builder.getDenseI64ArrayAttr(places));
    }
  }

  func::FuncOp entry;
  Block &block;
  SmallVector<LaunchOp> launches;
  DenseMap<Operation *, int64_t> position;
  /// Results with the inputs in whose place their kernels may store them.
  llvm::DenseSet<std::pair<Value, unsigned>> inPlace;
  DenseMap<Value, int64_t> placedIn;
  DenseMap<Value, size_t> bufferOf;
  offsets::Problem problem;
};

struct PlaceBuffersPass : impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return Target::get(targetName, UnknownLoc::get(context), target);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto entry : module.getOps<func::FuncOp>()) {
      FailureOr<int64_t> bytes = Placement(entry, *target).run();
      if (failed(bytes))
        return signalPassFailure();
      entry->setAttr("exec.arena_bytes",
                     IntegerAttr::get(IntegerType::get(&getContext(), 64), *bytes));
    }
  }

  std::shared_ptr<const Target> target;
};

} // namespace
} // namespace reprise::exec
