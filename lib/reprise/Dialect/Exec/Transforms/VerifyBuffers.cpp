// reprise: verifies that no buffer is overwritten before its last reader.
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "HostPlaces.h"
#include "Pauses.h"
#include "VerifyOrder.h"
#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Planning/Offsets/Problem.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Support/Wording.h"
#include "reprise/Target/LaunchFacts.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_VERIFYBUFFERSPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

/// Judges the places of one function's buffers.
class Verifier {
public:
  Verifier(ProgramOp function, LaunchFacts &facts)
      : function(function), signature(function), facts(facts),
        positions(function.getBody().front()) {}

  LogicalResult run() {
    SmallVector<Operation *> commands(positions.launches.begin(), positions.launches.end());
    llvm::append_range(commands, positions.others);
    for (Operation *command : commands)
      if (failed(verifyBuffers(command)))
        return failure();
    for (LoopOp loop : positions.loops)
      if (failed(verifyLoop(loop)))
        return failure();
    for (Operation *command : commands)
      if (auto maker = dyn_cast<StoringOpInterface>(command))
        for (OpResult result : maker.getStoredResults())
          if (failed(isInArena(result) ? addBuffer(result) : verifyOverwrite(result)))
            return failure();
    if (failed(verifyNextValues()))
      return failure();
    for (LoopOp loop : positions.loops)
      collectSharedRows(loop);
    for (LaunchOp launch : positions.launches)
      collectShared(launch);
    for (LaunchOp launch : positions.launches)
      if (failed(addScratch(launch)))
        return failure();
    for (Operation *command : positions.others)
      if (auto call = dyn_cast<CallOp>(command); call && failed(addWorkspace(call)))
        return failure();
    // Commands that run beside others, with their places, have separate verifiers.
    return failure(failed(judge()) || failed(verifyHostPlaces(function)) ||
                   failed(verifyPause(function)) || failed(verifyOrder(function)));
  }

private:
  /// Verifies that a command reads buffers, and has places for its results.
  static LogicalResult verifyBuffers(Operation *command) {
    if (auto maker = dyn_cast<StoringOpInterface>(command); maker && !maker.getOffsets())
      return command->emitError("expected places of the results: run exec-place-buffers first");
    for (Value operand : command->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !isBuffer(findStorage(operand).root))
        return command->emitError("reads a value that no launch before it has stored");
    return success();
  }

  /// Arguments and constants have buffers of their own.
  static bool isBuffer(Value root) {
    return isa<BlockArgument>(root) || isMade(root) || isa<ConstantOp>(root.getDefiningOp());
  }
  static int64_t argumentOf(OpResult result) {
    auto maker = dyn_cast<StoringOpInterface>(result.getOwner());
    return maker ? (*maker.getArguments())[result.getResultNumber()] : -1;
  }
  static int64_t offsetOf(OpResult result) {
    if (auto maker = dyn_cast<StoringOpInterface>(result.getOwner()))
      return (*maker.getOffsets())[result.getResultNumber()];
    return result.getOwner()->getAttrOfType<DenseI64ArrayAttr>(
        kOffsetsAttr)[result.getResultNumber()];
  }
  static bool isInArena(OpResult result) { return argumentOf(result) < 0; }

  /// Loops start from buffers of their own, yield buffers of their own, and store no carry before
  /// the old one has been read.
  LogicalResult verifyLoop(LoopOp loop) {
    auto places = loop->getAttrOfType<DenseI64ArrayAttr>(kOffsetsAttr);
    if (!places || places.size() != loop.getNumResults())
      return loop.emitError("expected places of the results: run exec-place-buffers first");
    for (Value init : loop.getInits())
      if (!isMade(init) || !init.hasOneUse() || init.getParentBlock() != loop->getBlock())
        return loop.emitError("a carry starts in a buffer that others read");
    llvm::SmallDenseSet<Value> seen;
    for (Value value : loop.getYield()->getOperands()) {
      bool isGiven = llvm::any_of(value.getUses(), [](OpOperand &use) {
        auto inner = dyn_cast<LoopOp>(use.getOwner());
        return inner && use.getOperandNumber() < inner.getNumCarries();
      });
      if (!isMade(value) || value.getParentBlock() != &loop.getBlock() || isGiven ||
          !seen.insert(value).second)
        return loop.emitError("the body yields a value without a buffer of its own");
    }
    for (unsigned i = 0; i < loop.getNumCarries(); ++i)
      if (Operation *reader = findLateReader(loop, i, [&](OpResult result, unsigned input) {
            return facts.mayShare(result, input);
          })) {
        InFlightDiagnostic diagnostic = loop.emitError("carry ")
                                        << i << " is overwritten before its last reader";
        diagnostic.attachNote(reader->getLoc()) << "a later reader of the old value";
        return diagnostic;
      }
    for (OpResult result : loop->getResults())
      if (failed(addBuffer(result)))
        return failure();
    return success();
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
    Operation *late = nullptr;
    forEachReader(old, [&](OpOperand &use) {
      Operation *reader = use.getOwner();
      bool isOwn = reader == launch && isa<LaunchOp>(launch) &&
                   facts.mayShare(result, use.getOperandNumber());
      bool isEarlier = positions.seenFrom(old, reader).second < positions.inFlight(launch).first;
      if (!isOwn && !isEarlier)
        late = reader;
    });
    if (!late)
      return success();
    InFlightDiagnostic diagnostic = launch->emitError("argument ")
                                    << number << " is overwritten before its last reader";
    diagnostic.attachNote(late->getLoc()) << "a later reader of the old value";
    return diagnostic;
  }

  /// Verifies that every next value reaches its argument: it is the argument, or overwrites it, or
  /// is copied once, after all launches or after the launches before the pause.
  LogicalResult verifyNextValues() {
    Block &block = function.getBody().front();
    DenseMap<int64_t, Value> copied;
    for (CopyOp copy : block.getOps<CopyOp>()) {
      int64_t number = copy.getArgument();
      if (number >= function.getNumArguments() ||
          function.getArgument(number).getType() != copy.getValue().getType())
        return copy.emitError("expected an argument of the value's type to copy to");
      // The kernels phase stores such a value first. If two arguments swap places, the second copy
      // would read the value that the first copy wrote.
      if (isa<BlockArgument>(findStorage(copy.getValue()).root))
        return copy.emitError("copies an argument, which the kernels phase stores first");
      if (!copied.try_emplace(number, copy.getValue()).second || overwritten.contains(number))
        return copy.emitError("writes argument ") << number << " a second time";
      // Launches may follow the copy only behind the pause.
      for (Operation *next = copy->getNextNode(); next && !isa<PauseOp>(next);
           next = next->getNextNode())
        if (isa<LaunchOp, LoopOp, CallOp>(next) || getEventBeside(next)) {
          InFlightDiagnostic diagnostic = copy.emitError("expected no launch after the copy");
          diagnostic.attachNote(next->getLoc()) << "the launch";
          return diagnostic;
        }
    }
    ArrayRef<int64_t> replaced = signature.getReplacedArguments();
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      if (replaced[i] < 0 || findStorage(value).root == function.getArgument(replaced[i]))
        continue;
      bool isCopied = copied.lookup(replaced[i]) == value;
      if (!isCopied && !overwritten.contains(replaced[i]))
        return block.getTerminator()->emitError("result ")
               << i << " does not reach argument " << replaced[i];
      copied.erase(replaced[i]);
    }
    if (copied.empty())
      return success();
    return function.emitError("a copy writes argument ")
           << copied.begin()->first << ", which no result replaces";
  }

  bool isNextValue(OpResult result, unsigned argument) {
    return llvm::any_of(result.getUses(), [&](OpOperand &use) {
      return isa<reprise::ReturnOp>(use.getOwner()) &&
             signature.getReplacedArguments()[use.getOperandNumber()] == argument;
    });
  }

  /// Adds a buffer. A value in the buffer of another value has its place. Every root is a buffer,
  /// from the first to the last access to any value in it.
  LogicalResult addBuffer(OpResult result) {
    Storage storage = findStorage(result);
    auto root = cast<OpResult>(storage.root);
    if (!isInArena(root) || offsetOf(root) + storage.offset != offsetOf(result))
      return result.getOwner()->emitError("result ")
             << result.getResultNumber()
             << " lies elsewhere than the loop around it or the join behind it expects";
    auto [buffer, isNew] = bufferOf.try_emplace(root, values.size());
    if (isNew) {
      auto [first, last] = positions.seenFrom(root, root.getOwner());
      values.push_back(root);
      problem.buffers.push_back({first, last, getByteSize(root.getType())});
      solution.offsets.push_back(offsetOf(root));
    }
    extend(buffer->second, result);
    if (auto loop = dyn_cast<LoopOp>(result.getOwner()))
      for (BlockArgument argument : loop.getBlock().getArguments())
        if (findStorage(argument).root == root)
          extend(buffer->second, argument);
    return success();
  }

  void extend(size_t buffer, Value value) {
    offsets::Buffer &life = problem.buffers[buffer];
    auto cover = [&](Operation *op) {
      auto [first, last] = positions.seenFrom(values[buffer], op);
      life.first = std::min(life.first, first);
      life.last = std::max(life.last, last);
    };
    if (Operation *op = value.getDefiningOp())
      cover(op);
    // Slices pass a buffer to a loop body; the loop stands for its readers.
    forEachReader(value, [&](OpOperand &use) { cover(use.getOwner()); });
  }

  /// Results at the offset of an input that dies in their launch, where the kernel may store in
  /// place. An input gives its place to one result only.
  void collectShared(LaunchOp launch) {
    llvm::SmallDenseSet<size_t> taken;
    for (OpResult result : launch->getResults())
      for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
        std::optional<size_t> from = findWhole(input), to = findWhole(result);
        int64_t now = positions.of(launch).first;
        if (!from || !to || solution.offsets[*from] != solution.offsets[*to] ||
            problem.buffers[*from].last != now || problem.buffers[*to].first != now ||
            llvm::count(launch.getInputs(), input) != 1 || !facts.mayShare(result, i) ||
            !taken.insert(*from).second)
          continue;
        share(*from, *to);
        break;
      }
  }

  /// Stacks at the offset of slices that die in their loop, row by row.
  void collectSharedRows(LoopOp loop) {
    llvm::SmallDenseSet<size_t> taken;
    for (auto [stack, result] : llvm::enumerate(loop.getStacks()))
      for (auto [slice, x] : llvm::enumerate(loop.getXs())) {
        std::optional<size_t> from = findWhole(x), to = findWhole(result);
        if (!from || !to || solution.offsets[*from] != solution.offsets[*to] ||
            problem.buffers[*from].last != positions.of(loop).second ||
            problem.buffers[*to].first != positions.of(loop).first ||
            !mayTakeRows(
                loop, slice, stack,
                [&](OpResult result, unsigned input) { return facts.mayShare(result, input); }) ||
            !taken.insert(*from).second)
          continue;
        share(*from, *to);
        break;
      }
  }

  static constexpr int64_t kNoScratch[] = {0, 0}; // offset and bytes

  /// Adds the scratch of a launch behind the values' buffers, to which the judge's messages refer.
  LogicalResult addScratch(LaunchOp launch) {
    FailureOr<Scratch> needed = facts.findScratch(launch);
    if (failed(needed))
      return failure();
    ArrayRef<int64_t> scratch = launch.getScratch().value_or(ArrayRef(kNoScratch));
    if (scratch[1] < needed->shared)
      return launch.emitError("needs ") << groupDigits(needed->shared)
                                        << " bytes of scratch, and has " << groupDigits(scratch[1]);
    if (scratch[1] == 0)
      return success();
    auto [first, last] = positions.of(launch);
    problem.buffers.push_back({first, last, scratch[1]});
    solution.offsets.push_back(scratch[0]);
    scratchOf.push_back(launch);
    return success();
  }

  LogicalResult addWorkspace(CallOp call) {
    int64_t needed = static_cast<int64_t>(call.getWorkspace());
    ArrayRef<int64_t> scratch = call.getScratch().value_or(ArrayRef(kNoScratch));
    if (scratch[1] < needed)
      return call.emitError("needs ")
             << groupDigits(needed) << " bytes of scratch, and has " << groupDigits(scratch[1]);
    if (scratch[1] == 0)
      return success();
    auto [first, last] = positions.inFlight(call);
    problem.buffers.push_back({first, last, scratch[1]});
    solution.offsets.push_back(scratch[0]);
    scratchOf.push_back(call);
    return success();
  }

  Operation *ownerOf(size_t buffer) {
    return buffer < values.size() ? values[buffer].getOwner() : scratchOf[buffer - values.size()];
  }

  std::optional<size_t> findWhole(Value value) const {
    Storage storage = findStorage(value);
    auto found = bufferOf.find(storage.root);
    return storage.isWhole() && found != bufferOf.end() ? std::optional(found->second)
                                                        : std::nullopt;
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
    std::optional<int64_t> bytes = getArenaBytes(function);
    if (!bytes)
      return function.emitError("expected 'exec.arena_bytes': run exec-place-buffers first");
    solution.height = *bytes;
    std::optional<offsets::Defect> defect = offsets::validate(problem, solution);
    if (!defect)
      return success();
    size_t count = problem.buffers.size();
    bool ofBuffer = defect->kind != offsets::Defect::Kind::Height && defect->first < count;
    Operation *at = ofBuffer ? ownerOf(defect->first) : function.getOperation();
    InFlightDiagnostic diagnostic = at->emitError("the arena is wrong: ") << defect->message;
    if (defect->second != defect->first && defect->second < count)
      diagnostic.attachNote(ownerOf(defect->second)->getLoc()) << "the other buffer";
    return diagnostic;
  }

  ProgramOp function;
  EntrySignature signature;
  LaunchFacts &facts;
  Positions positions;
  llvm::SmallDenseSet<int64_t> overwritten;
  DenseMap<Value, size_t> bufferOf;
  DenseMap<size_t, size_t> groupOf;
  SmallVector<OpResult> values;       ///< values of the first buffers
  SmallVector<Operation *> scratchOf; ///< launches of the scratch buffers, which follow
  offsets::Problem problem;
  offsets::Solution solution;
};

struct VerifyBuffersPass : impl::VerifyBuffersPassBase<VerifyBuffersPass> {
  VerifyBuffersPass(VerifyBuffersPassOptions options = {}, std::shared_ptr<LaunchFacts> facts = {})
      : Base(std::move(options)), facts(std::move(facts)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    LaunchFacts::addDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    return LaunchFacts::load(targetName, UnknownLoc::get(context), facts);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    ProgramOp function = getOperation();
    if (failed(Verifier(function, *facts).run()))
      signalPassFailure();
  }

  std::shared_ptr<LaunchFacts> facts;
};

} // namespace

std::unique_ptr<Pass> createVerifyBuffersPass(VerifyBuffersPassOptions options,
                                              std::shared_ptr<LaunchFacts> facts) {
  return std::make_unique<VerifyBuffersPass>(std::move(options), std::move(facts));
}

} // namespace reprise::exec
