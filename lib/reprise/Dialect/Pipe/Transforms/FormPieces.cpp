// reprise: sorts the ops of a step into the pieces that devices run
#include "reprise/Dialect/Pipe/Transforms/Passes.h"

#include "Order.h"
#include "Places.h"
#include "Segments.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Support/Attributes.h"

#include <map>

using namespace mlir;

namespace reprise::pipe {
#define GEN_PASS_DEF_FORMPIECESPASS
#include "reprise/Dialect/Pipe/Transforms/Passes.h.inc"

namespace {

/// Key of a piece in an order in which no pass reads a value of a later pass: micro-batch, weights
/// last, sweep, stages up or down, segment.
using Key = std::tuple<int64_t, bool, int64_t, int64_t, int64_t>;

Key getKey(const Place &place, std::optional<int64_t> segment) {
  bool isDown = place.sweep % 2 && !place.isWeight;
  return {place.microbatch, place.isWeight, place.sweep, isDown ? -place.stage : place.stage,
          segment.value_or(0)};
}

/// Key of a piece behind a segment: segment, replica, stage.
using EarlyKey = std::tuple<int64_t, int64_t, int64_t>;

/// Ops of a piece.
struct Group {
  Place place;
  SmallVector<Operation *> ops;
  std::optional<int64_t> segment;
};

class PieceFormer {
public:
  PieceFormer(ProgramOp step, const Places &places, int64_t replicas)
      : block(step.getBody().front()), places(places), segments(step, places, replicas),
        builder(block.getTerminator()) {}

  void run(const pipeline::Schedule &schedule) {
    addPasses(schedule);
    collect();
    for (Operation *op : beside)
      op->moveBefore(block.getTerminator());
    for (const Group &group : before)
      formOrMove(group);
    for (const auto &[key, group] : passes)
      form(group);
    for (const auto &[key, group] : early)
      form(group);
    for (const Group &group : after)
      formOrMove(group);
  }

private:
  /// Adds the passes of the schedule in each replica, without ops so far.
  void addPasses(const pipeline::Schedule &schedule) {
    int64_t own = schedule.shape.microbatches;
    for (int64_t begin = 0; begin < places.countMicrobatches(); begin += own)
      for (const std::vector<pipeline::Piece> &row : schedule.ranks)
        for (const pipeline::Piece &piece : row)
          for (int64_t sweep = piece.pass != pipeline::Pass::Forward; sweep < places.countSweeps();
               sweep += 2) {
            Place place = places.getPass(piece.stage, sweep, piece.pass == pipeline::Pass::Weight,
                                         begin + piece.microbatch);
            passes[getKey(place, 0)].place = place;
          }
  }

  void collect() {
    for (Operation &op : block.without_terminator()) {
      std::optional<Place> place = places.get(&op);
      std::optional<Place::Kind> kind = place ? place->kind : findLatest(op);
      if (kind)
        kinds[&op] = *kind;
      if (!kind)
        beside.push_back(&op);
      else if (place && (kind == Place::Within || segments.get(&op)))
        add(&op, *place);
      else
        (kind == Place::Before ? before : after)
            .push_back({place.value_or(Place{*kind}), {&op}, {}});
      dropMarks.apply(&op);
    }
  }

  /// Adds an op to its pass, or to the ops behind its segment. The latter ops, such as sums of
  /// losses, stand among gradients, so they are no ops of the forward pass that a plan may replay.
  void add(Operation *op, const Place &place) {
    if (place.kind == Place::After)
      op->removeDiscardableAttr(kPrimalAttr);
    std::optional<int64_t> segment = segments.get(op);
    Group &group = place.kind == Place::Within
                       ? passes[getKey(place, segment)]
                       : early[{segment.value_or(0), place.replica, place.stage}];
    group.place = place;
    group.segment = segment;
    group.ops.push_back(op);
  }

  /// Returns the latest kind of the pieces that an op reads; none if it reads no piece.
  std::optional<Place::Kind> findLatest(Operation &op) const {
    std::optional<Place::Kind> latest;
    for (Value operand : op.getOperands())
      if (auto found = kinds.find(operand.getDefiningOp()); found != kinds.end())
        latest = std::max(latest.value_or(found->second), found->second);
    return latest;
  }

  /// Forms a piece, unless the ops belong to no piece because their readers compute them.
  void formOrMove(const Group &group) {
    if (places.get(group.ops.front()))
      form(group);
    else
      group.ops.front()->moveBefore(block.getTerminator());
  }

  void form(const Group &group) {
    SmallPtrSet<Operation *, 16> own(group.ops.begin(), group.ops.end());
    SmallVector<Value> yielded;
    for (Operation *op : group.ops)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !own.contains(block.findAncestorOpInBlock(*user));
            }))
          yielded.push_back(result);
    PieceOp piece = create(group, ValueRange(yielded).getTypes());
    for (Operation *op : group.ops)
      op->moveBefore(piece.getYield());
    for (auto [value, result] : llvm::zip(yielded, piece.getResults()))
      value.replaceUsesWithIf(result,
                              [&](OpOperand &use) { return !piece->isAncestor(use.getOwner()); });
    piece.getYield()->setOperands(yielded);
  }

  PieceOp create(const Group &group, TypeRange types) {
    const Place &place = group.place;
    PieceKind kind = place.kind == Place::Before  ? PieceKind::Before
                     : place.kind == Place::After ? PieceKind::After
                     : place.isWeight             ? PieceKind::Weight
                     : place.sweep % 2            ? PieceKind::Backward
                                                  : PieceKind::Forward;
    bool isPass = place.kind == Place::Within;
    Location location =
        group.ops.empty() ? block.getParentOp()->getLoc() : group.ops.front()->getLoc();
    auto piece =
        PieceOp::create(builder, location, types, kind, place.stage,
                        isPass ? builder.getI64IntegerAttr(place.microbatch) : nullptr,
                        isPass ? place.sweep / 2 : 0, place.replica,
                        group.segment ? builder.getI64IntegerAttr(*group.segment) : nullptr);
    PieceOp::ensureTerminator(piece.getBody(), builder, location);
    return piece;
  }

  Block &block;
  const Places &places;
  const Segments segments;
  OpBuilder builder;
  std::map<Key, Group> passes;
  std::map<EarlyKey, Group> early;  ///< ops behind segments
  SmallVector<Group> before, after; ///< one op each
  SmallVector<Operation *> beside;
  DenseMap<Operation *, Place::Kind> kinds; ///< kinds of ops in pieces, and of ops that read pieces
  AttributeChange dropMarks{[](NamedAttrList &attributes) {
    for (StringRef name : {StringRef(kStageAttr), StringRef(kMicrobatchAttr),
                           StringRef(kBatchSumAttr), StringRef(kReplicaAttr)})
      attributes.erase(name);
  }};
};

/// Verifies that scopes name exactly the stages that exist.
LogicalResult checkMarks(ProgramOp step, int64_t stages) {
  int64_t marked = 0;
  for (Operation &op : step.getBody().front())
    if (auto stage = op.getAttrOfType<IntegerAttr>(kStageAttr))
      marked = std::max(marked, stage.getInt() + 1);
  if (marked <= stages)
    return success();
  return step.emitError("the step has ") << marked << " stages, and the schedule " << stages;
}

/// Writes the stage of each parameter and state.
void setHomes(ProgramOp step, const Places &places) {
  Builder builder(step.getContext());
  for (BlockArgument argument : step.getArguments())
    if (!places.isEverywhere(argument))
      step.setArgAttr(argument.getArgNumber(), kHomeAttr,
                      builder.getI64IntegerAttr(places.getHome(argument)));
}

struct FormPiecesPass : impl::FormPiecesPassBase<FormPiecesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ProgramOp> programs = findPrograms(getOperation());
    if (programs.size() != 1) {
      getOperation().emitError("expected one step to cut into stages, got ")
          << programs.size() << " device programs";
      return signalPassFailure();
    }
    if (failed(form(programs.front())))
      signalPassFailure();
  }

private:
  LogicalResult form(ProgramOp step) {
    if (failed(verifyOneDevice(step)))
      return failure();
    FailureOr<Order> order = Order::find(step, schedule, devices, chunks);
    if (failed(order) || failed(checkMarks(step, order->getShape().stages())))
      return failure();
    if (int64_t microbatches = countMicrobatches(step); microbatches % replicas != 0)
      return step.emitError("expected replicas of equally many micro-batches, got ")
             << static_cast<int64_t>(replicas) << " for " << microbatches;
    Places places(step, order->getShape().stages(), replicas, order->splitsBackward());
    FailureOr<pipeline::Schedule> made = order->make(step, places.countMicrobatches() / replicas);
    if (failed(made))
      return failure();
    PieceFormer(step, places, replicas).run(*made);
    setHomes(step, places);
    writeSchedule(step, *made, replicas, (places.countSweeps() + 1) / 2);
    return success();
  }
};

} // namespace
} // namespace reprise::pipe
