// reprise: checks that no buffer is overwritten before its last reader.
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "reprise/Conversion/Target.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Offsets/Problem.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_VERIFYBUFFERSPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

/// Judges the places of one function's buffers.
class Verifier {
public:
  Verifier(func::FuncOp function, const Target &target) : function(function), target(target) {
    for (auto launch : function.getOps<LaunchOp>()) {
      position[launch] = launches.size();
      launches.push_back(launch);
    }
  }

  LogicalResult run() {
    for (LaunchOp launch : launches)
      if (!launch.getOffsets())
        return launch.emitError("expected places of the results: run exec-place-buffers first");
    for (LaunchOp launch : launches)
      for (OpResult result : launch->getResults())
        if (isInArena(result))
          addBuffer(result);
        else if (failed(verifyOverwrite(result)))
          return failure();
    for (LaunchOp launch : launches)
      collectShared(launch);
    return judge();
  }

private:
  static int64_t argumentOf(OpResult result) {
    return (*cast<LaunchOp>(result.getOwner()).getArguments())[result.getResultNumber()];
  }
  static int64_t offsetOf(OpResult result) {
    return (*cast<LaunchOp>(result.getOwner()).getOffsets())[result.getResultNumber()];
  }
  static bool isInArena(OpResult result) { return argumentOf(result) < 0; }

  /// The last launch that reads the value; behind all launches for one that is returned.
  int64_t lastUse(Value value) {
    int64_t last = value.getDefiningOp() ? position.lookup(value.getDefiningOp()) : -1;
    for (Operation *user : value.getUsers())
      last = std::max<int64_t>(last, isa<LaunchOp>(user) ? position.lookup(user) : launches.size());
    return last;
  }

  /// True if the kernel may store the result where the input lies.
  bool mayShare(OpResult result, unsigned input) const {
    auto launch = cast<LaunchOp>(result.getOwner());
    return llvm::is_contained(target.findInPlacePairs(launch.getBody().front()),
                              std::pair<unsigned, unsigned>(result.getResultNumber(), input));
  }

  LogicalResult verifyOverwrite(OpResult result) {
    Operation *launch = result.getOwner();
    int64_t number = argumentOf(result);
    if (number >= function.getNumArguments() ||
        function.getArgument(number).getType() != result.getType())
      return launch->emitError("result ")
             << result.getResultNumber() << " overwrites no argument of its type";
    BlockArgument old = function.getArgument(number);
    if (!overwritten.insert(number).second || !isNextValue(result, number))
      return launch->emitError("result ") << result.getResultNumber() << " overwrites argument "
                                          << number << ", but is not its next value";
    for (OpOperand &use : old.getUses()) {
      Operation *reader = use.getOwner();
      bool isOwn = reader == launch && mayShare(result, use.getOperandNumber());
      bool isEarlier = isa<LaunchOp>(reader) && position.lookup(reader) < position.lookup(launch);
      if (isOwn || isEarlier)
        continue;
      InFlightDiagnostic diagnostic = launch->emitError("argument ")
                                      << number << " is overwritten before its last reader";
      diagnostic.attachNote(reader->getLoc()) << "a later reader of the old value";
      return diagnostic;
    }
    return success();
  }

  bool isNextValue(OpResult result, unsigned argument) {
    auto name = function.getArgAttrOfType<StringAttr>(argument, "reprise.name");
    return name && llvm::any_of(result.getUses(), [&](OpOperand &use) {
             return isa<func::ReturnOp>(use.getOwner()) &&
                    function.getResultAttr(use.getOperandNumber(), "reprise.name") == name;
           });
  }

  void addBuffer(OpResult result) {
    bufferOf[result] = values.size();
    values.push_back(result);
    problem.buffers.push_back(
        {position.lookup(result.getOwner()), lastUse(result), getByteSize(result.getType())});
    solution.offsets.push_back(offsetOf(result));
  }

  /// Results at the offset of an input that dies in their launch, where the kernel may store in
  /// place. An input gives its place to one result only.
  void collectShared(LaunchOp launch) {
    llvm::SmallDenseSet<Value> taken;
    for (OpResult result : launch->getResults())
      for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
        bool sharesPlace = isInArena(result) && bufferOf.contains(input) &&
                           offsetOf(result) == offsetOf(cast<OpResult>(input));
        if (!sharesPlace || lastUse(input) != position.lookup(launch) ||
            llvm::count(launch.getInputs(), input) != 1 || !mayShare(result, i) ||
            !taken.insert(input).second)
          continue;
        share(bufferOf.lookup(input), bufferOf.lookup(result));
        break;
      }
  }

  void share(size_t input, size_t result) {
    auto [group, isNew] = groupOf.try_emplace(input, problem.groups.size());
    if (isNew)
      problem.groups.push_back({input});
    size_t number = group->second;
    problem.groups[number].push_back(result);
    groupOf[result] = number;
  }

  LogicalResult judge() {
    auto bytes = function->getAttrOfType<IntegerAttr>("exec.arena_bytes");
    if (!bytes)
      return function.emitError("expected 'exec.arena_bytes': run exec-place-buffers first");
    solution.height = bytes.getInt();
    std::optional<offsets::Defect> defect = offsets::validate(problem, solution);
    if (!defect)
      return success();
    bool ofBuffer = defect->kind != offsets::Defect::Kind::Height && defect->first < values.size();
    Operation *at = ofBuffer ? values[defect->first].getOwner() : function.getOperation();
    InFlightDiagnostic diagnostic = at->emitError("the arena is wrong: ") << defect->message;
    if (defect->second != defect->first && defect->second < values.size())
      diagnostic.attachNote(values[defect->second].getLoc()) << "the other buffer";
    return diagnostic;
  }

  func::FuncOp function;
  const Target &target;
  SmallVector<LaunchOp> launches;
  DenseMap<Operation *, int64_t> position;
  llvm::SmallDenseSet<int64_t> overwritten;
  DenseMap<Value, size_t> bufferOf;
  DenseMap<size_t, size_t> groupOf;
  SmallVector<OpResult> values; ///< of the buffers
  offsets::Problem problem;
  offsets::Solution solution;
};

struct VerifyBuffersPass : impl::VerifyBuffersPassBase<VerifyBuffersPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return Target::get(targetName, UnknownLoc::get(context), target);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(Verifier(function, *target).run()))
        return signalPassFailure();
  }

  std::shared_ptr<const Target> target;
};

} // namespace
} // namespace reprise::exec
