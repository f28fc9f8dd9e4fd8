// reprise: schedules in the IR: their spelling, their verification, and the pieces that follow them
#include "reprise/Dialect/Pipe/IR/Pipe.h"

#include "Rows.h"
#include "mlir/IR/Builders.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"

#include <map>

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

void ScheduleOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                       const pipeline::Schedule &schedule, int64_t replicas, int64_t rounds) {
  build(builder, state, name, schedule.shape.stages(), schedule.shape.microbatches * replicas,
        replicas, rounds, spellRows(state.getContext(), schedule));
}

std::string ScheduleOp::read(pipeline::Schedule &schedule) {
  if (getMicrobatches() % getReplicas() != 0)
    return "expected replicas of equally many micro-batches, got " + std::to_string(getReplicas()) +
           " for " + std::to_string(getMicrobatches()) + " micro-batches";
  return readRows(getRows(), static_cast<int64_t>(getStages()), countOwnMicrobatches(), schedule);
}

pipeline::Schedule ScheduleOp::getSchedule() {
  pipeline::Schedule schedule;
  (void)read(schedule);
  return schedule;
}

LogicalResult ScheduleOp::verify() {
  pipeline::Schedule schedule;
  if (std::string wrong = read(schedule); !wrong.empty())
    return emitOpError() << wrong;
  if (std::optional<pipeline::Defect> defect =
          pipeline::verify(schedule, pipeline::makeCostlessChain(schedule.shape)))
    return emitOpError() << defect->message;
  return success();
}

namespace {

/// Verifier of the pieces of one function against the schedule that it names.
class PieceVerifier {
public:
  PieceVerifier(ProgramOp function, ScheduleOp op)
      : function(function), schedule(op.getSchedule()),
        rounds(static_cast<int64_t>(op.getRounds())),
        replicas(static_cast<int64_t>(op.getReplicas())) {}

  LogicalResult run() {
    for (PieceOp piece : getPieces(function))
      if (failed(checkNumbers(piece)) || failed(checkOnce(piece)) || failed(checkReaders(piece)))
        return failure();
    if (!function->hasAttr(kEntryAttr))
      return success();
    for (int64_t device : function.getDevices())
      if (failed(checkRow(device)))
        return failure();
    return success();
  }

private:
  LogicalResult checkNumbers(PieceOp piece) const {
    const pipeline::Shape &shape = schedule.shape;
    auto replica = static_cast<int64_t>(piece.getReplica());
    if (static_cast<int64_t>(piece.getStage()) >= shape.stages() || replica >= replicas ||
        static_cast<int64_t>(piece.getMicrobatch().value_or(0)) >= replicas * shape.microbatches ||
        static_cast<int64_t>(piece.getRound()) >= rounds ||
        (piece.getKind() == PieceKind::Weight && !schedule.splitsBackward))
      return piece.emitOpError("the schedule does not have this piece");
    if (std::optional<uint64_t> number = piece.getMicrobatch();
        number && static_cast<int64_t>(*number) / shape.microbatches != replica)
      return piece.emitOpError("expected replica ")
             << static_cast<int64_t>(*number) / shape.microbatches << " for micro-batch " << *number
             << ", got replica " << replica;
    return success();
  }

  LogicalResult checkOnce(PieceOp piece) {
    if (!piece.isPass())
      return success();
    std::tuple key(piece.getKind(), piece.getStage(), *piece.getMicrobatch(), piece.getRound(),
                   piece.getSegment().value_or(0));
    auto [found, isNew] = seen.try_emplace(key, piece);
    return isNew ? success() : refuse(piece, found->second, "stands twice", "the other one");
  }

  /// Returns the position of the piece among the pieces of its micro-batch, in every schedule.
  static std::tuple<int, int64_t, int64_t> rank(PieceOp piece) {
    auto stage = static_cast<int64_t>(piece.getStage());
    switch (piece.getKind()) {
    case PieceKind::Before:
      return {0, 0, 0};
    case PieceKind::After:
      return {3, 0, 0};
    case PieceKind::Weight:
      return {2, 0, stage};
    default:
      return {1, piece.getSweep(), piece.getSweep() % 2 ? -stage : stage};
    }
  }

  LogicalResult checkReaders(PieceOp piece) const {
    for (Operation *user : piece->getUsers()) {
      auto reader = user->getParentOfType<PieceOp>();
      if (!reader || reader == piece)
        continue;
      bool arePasses = piece.isPass() && reader.isPass();
      if (rank(piece) > rank(reader) ||
          (arePasses && *piece.getMicrobatch() > *reader.getMicrobatch()))
        return refuse(reader, piece, "reads a value that a later piece makes", "that piece");
      if (arePasses && piece.getReplica() != reader.getReplica())
        return refuse(reader, piece, "reads a value of a pass of another replica", "that piece");
    }
    return success();
  }

  static LogicalResult refuse(PieceOp piece, PieceOp other, StringRef text, StringRef note) {
    InFlightDiagnostic error = piece.emitOpError(text);
    error.attachNote(other.getLoc()) << note;
    return error;
  }

  pipeline::Piece translate(PieceOp piece) const {
    auto pass = piece.getKind() == PieceKind::Forward    ? pipeline::Pass::Forward
                : piece.getKind() == PieceKind::Backward ? pipeline::Pass::Backward
                                                         : pipeline::Pass::Weight;
    return {pass, static_cast<int32_t>(piece.getStage()),
            static_cast<int32_t>(static_cast<int64_t>(piece.getMicrobatch().value_or(0)) %
                                 schedule.shape.microbatches)};
  }

  /// Verifies the pieces of a device program, except those that the step does not have.
  LogicalResult checkRow(int64_t device) {
    const pipeline::Shape &shape = schedule.shape;
    if (device < 0 || device >= replicas * shape.ranks)
      return function.emitError("the schedule has no row of device ") << device;
    std::map<std::tuple<pipeline::Pass, int64_t, int64_t>, size_t> positions;
    for (auto [position, piece] : llvm::enumerate(schedule.ranks[device % shape.ranks]))
      positions[{piece.pass, piece.stage, piece.microbatch}] = position;
    // A key orders pieces before all passes, then round, place in the row and segment, then pieces
    // behind all passes. A piece behind a segment has the key of the segment.
    using Key = std::tuple<int, uint64_t, size_t, uint64_t>;
    Key last{};
    std::map<uint64_t, Key> segmented; // by stage
    for (PieceOp piece : getPieces(function)) {
      int64_t own = static_cast<int64_t>(piece.getReplica()) * shape.ranks +
                    shape.rankOf(static_cast<int>(piece.getStage()));
      if (own != device)
        return piece.emitOpError("stands in the program of device ")
               << device << ", its stage lies on device " << own;
      pipeline::Piece key = translate(piece);
      Key place(piece.getKind() == PieceKind::Before ? 0
                : piece.isPass()                     ? 1
                                                     : 2,
                piece.getRound(),
                piece.isPass() ? positions.at({key.pass, key.stage, key.microbatch}) : 0,
                piece.getSegment().value_or(0));
      if (piece.isPass() && piece.getSegment())
        segmented[piece.getStage()] = place;
      if (auto pass = segmented.find(piece.getStage());
          !piece.isPass() && piece.getSegment() && pass != segmented.end()) {
        place = pass->second;
        std::get<3>(place) = *piece.getSegment();
      }
      if (place < last)
        return piece.emitOpError("stands in another place than the schedule says");
      last = place;
    }
    return success();
  }

  ProgramOp function;
  const pipeline::Schedule schedule; ///< that of each replica
  int64_t rounds, replicas;
  std::map<std::tuple<PieceKind, uint64_t, uint64_t, uint64_t, uint64_t>, PieceOp> seen;
};

} // namespace

LogicalResult ScheduleOp::verifySymbolUses(SymbolTableCollection &) {
  for (auto function : (*this)->getParentRegion()->getOps<ProgramOp>()) {
    auto name = function->getAttrOfType<FlatSymbolRefAttr>(kScheduleRefAttr);
    if (!name || name.getValue() != getSymName())
      continue;
    if (failed(PieceVerifier(function, *this).run()))
      return failure();
  }
  return success();
}
