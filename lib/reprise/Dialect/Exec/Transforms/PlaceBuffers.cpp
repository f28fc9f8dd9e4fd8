// reprise: gives every launch result its place.
#include "reprise/Dialect/Exec/Transforms/Passes.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

#include "Grouping.h"
#include "HostMoves.h"
#include "HostPlaces.h"
#include "Pauses.h"
#include "reprise/Dialect/Exec/IR/Arena.h"
#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Dialect/Reprise/IR/Pause.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Planning/Offsets/Problem.h"
#include "reprise/Planning/Offsets/Solve.h"
#include "reprise/Support/ByteSize.h"
#include "reprise/Target/LaunchFacts.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

/// Places the buffers of one entry.
class Placement {
public:
  Placement(ProgramOp entry, LaunchFacts &facts)
      : entry(entry), block(entry.getBody().front()), pause(findPause(entry)), positions(block),
        facts(facts) {}

  FailureOr<int64_t> run(int64_t enough, int64_t programs) {
    overwriteArguments();
    collectBuffers();
    shareDyingInputs();
    if (failed(collectScratch()))
      return failure();
    offsets::SolveOptions options = offsets::limitWork(problem, programs);
    options.enough = enough;
    offsets::Solution solution = offsets::solve(problem, options);
    if (auto defect = offsets::validate(problem, solution))
      return entry.emitError("the packed arena is wrong: ") << defect->message;
    annotate(solution);
    return solution.height;
  }

private:
  /// Stores next values over their arguments where no reader follows. Otherwise a copy at the end
  /// of the step, or before its pause, overwrites the argument.
  void overwriteArguments() {
    EntrySignature signature(entry);
    replaced.assign(signature.getReplacedArguments().begin(),
                    signature.getReplacedArguments().end());
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
      auto maker = value.getDefiningOp<StoringOpInterface>();
      if (replaced[i] < 0 || !maker || isa<JoinOp>(maker) || placedIn.contains(value))
        continue;
      BlockArgument old = entry.getArgument(replaced[i]);
      if (canOverwrite(cast<OpResult>(value), old))
        placedIn[value] = replaced[i];
    }
  }

  bool canOverwrite(OpResult result, BlockArgument old) {
    Operation *maker = result.getOwner();
    int64_t stored = positions.inFlight(maker).first;
    // At the pause the caller receives the content of arguments, and may change it.
    bool isSafe = !pause || !isReadAcross(pause, result);
    forEachReader(old, [&](OpOperand &use) {
      // The old value itself is returned, or read later.
      isSafe &= positions.seenFrom(old, use.getOwner()).second <= stored;
      isSafe &= use.getOwner() != maker ||
                (isa<LaunchOp>(maker) && facts.mayShare(result, use.getOperandNumber()));
    });
    return isSafe;
  }

  /// Makes one buffer per root of a storage, from the first to the last access.
  void collectBuffers() {
    for (LaunchOp launch : positions.launches)
      for (Value result : launch.getResults())
        if (!placedIn.contains(result))
          touch(result, launch);
    for (LaunchOp launch : positions.launches)
      for (Value input : launch.getInputs())
        touch(input, launch);
    for (Operation *command : positions.others) {
      if (auto storing = dyn_cast<StoringOpInterface>(command))
        for (Value result : storing.getStoredResults())
          touch(result, command);
      for (Value operand : command->getOperands())
        touch(operand, command);
    }
    for (LoopOp loop : positions.loops)
      for (Value value : llvm::concat<Value>(SmallVector<Value>(loop.getResults()),
                                             SmallVector<Value>(loop.getXs())))
        touch(value, loop);
    for (Value value : block.getTerminator()->getOperands())
      touch(value, block.getTerminator());
  }

  void touch(Value value, Operation *op) {
    Value root = findStorage(value).root;
    if (!isMade(root) || placedIn.contains(root))
      return;
    auto [first, last] = positions.seenFrom(root, op);
    auto [buffer, isNew] = bufferOf.try_emplace(root, problem.buffers.size());
    if (isNew)
      problem.buffers.push_back({first, last, getByteSize(root.getType())});
    offsets::Buffer &life = problem.buffers[buffer->second];
    life.first = std::min(life.first, first);
    life.last = std::max(life.last, last);
  }

  /// Returns the buffer of the whole value, if it has one in the arena.
  std::optional<size_t> findWhole(Value value) const {
    Storage storage = findStorage(value);
    auto found = bufferOf.find(storage.root);
    if (!storage.isWhole() || found == bufferOf.end())
      return std::nullopt;
    return found->second;
  }

  /// Lets a result take the place of an input that dies in its launch, in chains.
  void shareDyingInputs() {
    std::vector<std::vector<size_t>> groups;
    std::map<size_t, size_t> groupOf;
    for (LoopOp loop : positions.loops)
      shareDyingRows(loop, groups, groupOf);
    for (LaunchOp launch : positions.launches) {
      llvm::SmallDenseSet<size_t> taken;
      for (OpResult result : launch->getResults()) {
        std::optional<size_t> to = findWhole(result);
        std::optional<size_t> from = to ? findDyingInput(launch, result, taken) : std::nullopt;
        if (!from || problem.buffers[*to].first != positions.of(launch).first || groupOf.count(*to))
          continue;
        taken.insert(*from);
        auto [group, isNew] = groupOf.try_emplace(*from, groups.size());
        size_t number = group->second;
        if (isNew)
          groups.push_back({*from});
        groups[number].push_back(*to);
        groupOf[*to] = number;
      }
    }
    problem.groups = std::move(groups);
  }

  /// Lets rows that a loop stacks take the places of slices that die in the loop.
  void shareDyingRows(LoopOp loop, std::vector<std::vector<size_t>> &groups,
                      std::map<size_t, size_t> &groupOf) {
    auto mayShare = [&](OpResult result, unsigned input) { return facts.mayShare(result, input); };
    for (auto [stack, result] : llvm::enumerate(loop.getStacks()))
      for (auto [slice, x] : llvm::enumerate(loop.getXs())) {
        std::optional<size_t> to = findWhole(result), from = findWhole(x);
        if (!to || !from || groupOf.count(*to) || groupOf.count(*from) ||
            problem.buffers[*from].last != positions.of(loop).second ||
            problem.buffers[*from].size != problem.buffers[*to].size ||
            !mayTakeRows(loop, slice, stack, mayShare))
          continue;
        groupOf[*from] = groupOf[*to] = groups.size();
        groups.push_back({*from, *to});
        break;
      }
  }

  std::optional<size_t> findDyingInput(LaunchOp launch, OpResult result,
                                       const llvm::SmallDenseSet<size_t> &taken) {
    for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
      std::optional<size_t> buffer = findWhole(input);
      if (buffer && !taken.contains(*buffer) &&
          problem.buffers[*buffer].last == positions.of(launch).first &&
          llvm::count(launch.getInputs(), input) == 1 && facts.mayShare(result, i))
        return buffer;
    }
    return std::nullopt;
  }

  /// Makes buffers for the shared scratch of launches, which live as long as their launch.
  LogicalResult collectScratch() {
    for (LaunchOp launch : positions.launches) {
      FailureOr<Scratch> scratch = facts.findScratch(launch);
      if (failed(scratch))
        return failure();
      if (scratch->shared == 0)
        continue;
      auto [first, last] = positions.of(launch);
      scratchOf[launch] = problem.buffers.size();
      problem.buffers.push_back({first, last, scratch->shared});
    }
    for (Operation *command : positions.others)
      if (auto call = dyn_cast<CallOp>(command); call && call.getWorkspace() > 0) {
        auto [first, last] = positions.inFlight(call);
        scratchOf[call] = problem.buffers.size();
        problem.buffers.push_back({first, last, static_cast<int64_t>(call.getWorkspace())});
      }
    return success();
  }

  void annotate(const offsets::Solution &solution) {
    Builder builder(entry.getContext());
    auto offsetOf = [&](Value value) {
      Storage storage = findStorage(value);
      auto buffer = bufferOf.find(storage.root);
      return buffer == bufferOf.end() ? 0 : solution.offsets[buffer->second] + storage.offset;
    };
    auto setPlaces = [&](StoringOpInterface maker) {
      SmallVector<int64_t> arguments, places;
      for (Value result : maker.getStoredResults()) {
        auto placed = placedIn.find(result);
        arguments.push_back(placed == placedIn.end() ? -1 : placed->second);
        places.push_back(placed == placedIn.end() ? offsetOf(result) : 0);
      }
      maker.setArgumentsAttr(builder.getDenseI64ArrayAttr(arguments));
      maker.setOffsetsAttr(builder.getDenseI64ArrayAttr(places));
      auto scratch = scratchOf.find(maker);
      if (scratch == scratchOf.end())
        return;
      auto place = builder.getDenseI64ArrayAttr(
          {solution.offsets[scratch->second], problem.buffers[scratch->second].size});
      if (auto launch = dyn_cast<LaunchOp>(*maker))
        launch.setScratchAttr(place);
      else
        cast<CallOp>(*maker).setScratchAttr(place);
    };
    for (LaunchOp launch : positions.launches)
      setPlaces(launch);
    for (Operation *command : positions.others)
      if (auto maker = dyn_cast<StoringOpInterface>(command))
        setPlaces(maker);
    for (LoopOp loop : positions.loops)
      loop->setAttr(kOffsetsAttr,
                    builder.getDenseI64ArrayAttr(llvm::map_to_vector(loop.getResults(), offsetOf)));
    copyNextValues();
  }

  /// The next values that lie elsewhere than their arguments.
  void copyNextValues() {
    for (CopyOp old : llvm::make_early_inc_range(block.getOps<CopyOp>()))
      old.erase();
    for (auto [value, argument] : llvm::zip(block.getTerminator()->getOperands(), replaced)) {
      Value root = findStorage(value).root;
      if (argument < 0 || placedIn.contains(value) || root == entry.getArgument(argument))
        continue;
      bool isEarly =
          pause && isThereAt(pause, root) && !findReaderBehind(pause, entry.getArgument(argument));
      OpBuilder builder(isEarly ? pause.getOperation() : block.getTerminator());
      CopyOp::create(builder, block.getTerminator()->getLoc(), value, argument);
    }
  }

  ProgramOp entry;
  Block &block;
  PauseOp pause; ///< may be null
  Positions positions;
  LaunchFacts &facts;
  SmallVector<int64_t> replaced; ///< argument of each result, or -1
  DenseMap<Value, int64_t> placedIn;
  DenseMap<Value, size_t> bufferOf;        ///< buffers by root
  DenseMap<Operation *, size_t> scratchOf; ///< scratch buffers of launches and calls
  offsets::Problem problem;
};

struct PlaceBuffersPass : impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  PlaceBuffersPass(PlaceBuffersPassOptions options = {}, std::shared_ptr<LaunchFacts> facts = {})
      : Base(std::move(options)), facts(std::move(facts)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    LaunchFacts::addDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    return LaunchFacts::load(targetName, UnknownLoc::get(context), facts);
  }

  void runOnOperation() override {
    ProgramOp entry = getOperation();
    int64_t low = enough ? enough : getEnoughArena(entry);
    FailureOr<int64_t> bytes = Placement(entry, *facts).run(low, programs);
    if (succeeded(bytes) && low > 0 && *bytes > low && tightenHostMoves(entry.getBody().front()))
      bytes = Placement(entry, *facts).run(low, programs);
    if (failed(bytes) || failed(placeOnHost(entry, programs)))
      return signalPassFailure();
    setArenaBytes(entry, *bytes);
    entry->removeDiscardableAttr(kPlanAttr);
  }

  std::shared_ptr<LaunchFacts> facts;
};

} // namespace

std::unique_ptr<Pass> createPlaceBuffersPass(PlaceBuffersPassOptions options,
                                             std::shared_ptr<LaunchFacts> facts) {
  return std::make_unique<PlaceBuffersPass>(std::move(options), std::move(facts));
}

} // namespace reprise::exec
