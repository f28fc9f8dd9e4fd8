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
                       const pipeline::Schedule &schedule, int64_t rounds) {
  build(builder, state, name, schedule.shape.stages(), schedule.shape.microbatches, rounds,
        spellRows(state.getContext(), schedule));
}

std::string ScheduleOp::read(pipeline::Schedule &schedule) {
  return readRows(getRows(), static_cast<int64_t>(getStages()),
                  static_cast<int64_t>(getMicrobatches()), schedule);
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
  PieceVerifier(ProgramOp function, const pipeline::Schedule &schedule, int64_t rounds)
      : function(function), schedule(schedule), rounds(rounds) {}

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
    if (static_cast<int64_t>(piece.getStage()) >= shape.stages() ||
        static_cast<int64_t>(piece.getMicrobatch().value_or(0)) >= shape.microbatches ||
        static_cast<int64_t>(piece.getRound()) >= rounds ||
        (piece.getKind() == PieceKind::Weight && !schedule.splitsBackward))
      return piece.emitOpError("the schedule does not have this piece");
    return success();
  }

  LogicalResult checkOnce(PieceOp piece) {
    if (!piece.isPass())
      return success();
    std::tuple key(piece.getKind(), piece.getStage(), *piece.getMicrobatch(), piece.getRound());
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
      bool isLater =
          rank(piece) > rank(reader) ||
          (piece.isPass() && reader.isPass() && *piece.getMicrobatch() > *reader.getMicrobatch());
      if (isLater)
        return refuse(reader, piece, "reads a value that a later piece makes", "that piece");
    }
    return success();
  }

  static LogicalResult refuse(PieceOp piece, PieceOp other, StringRef text, StringRef note) {
    InFlightDiagnostic error = piece.emitOpError(text);
    error.attachNote(other.getLoc()) << note;
    return error;
  }

  static pipeline::Piece translate(PieceOp piece) {
    auto pass = piece.getKind() == PieceKind::Forward    ? pipeline::Pass::Forward
                : piece.getKind() == PieceKind::Backward ? pipeline::Pass::Backward
                                                         : pipeline::Pass::Weight;
    return {pass, static_cast<int32_t>(piece.getStage()),
            static_cast<int32_t>(piece.getMicrobatch().value_or(0))};
  }

  /// Verifies the pieces of a device program, except those that the step does not have.
  LogicalResult checkRow(int64_t device) {
    if (device < 0 || device >= schedule.shape.ranks)
      return function.emitError("the schedule has no row of device ") << device;
    std::map<std::tuple<pipeline::Pass, int64_t, int64_t>, size_t> positions;
    for (auto [position, piece] : llvm::enumerate(schedule.ranks[device]))
      positions[{piece.pass, piece.stage, piece.microbatch}] = position;
    // A key orders pieces before all passes, then round and place in the row, then pieces behind
    // all passes.
    std::tuple<int, uint64_t, size_t> last{};
    for (PieceOp piece : getPieces(function)) {
      int rank = schedule.shape.rankOf(static_cast<int>(piece.getStage()));
      if (rank != device)
        return piece.emitOpError("stands in the program of device ")
               << device << ", its stage lies on device " << rank;
      pipeline::Piece key = translate(piece);
      std::tuple own(piece.getKind() == PieceKind::Before ? 0
                     : piece.isPass()                     ? 1
                                                          : 2,
                     piece.getRound(),
                     piece.isPass() ? positions.at({key.pass, key.stage, key.microbatch}) : 0);
      if (own < last)
        return piece.emitOpError("stands in another place than the schedule says");
      last = own;
    }
    return success();
  }

  ProgramOp function;
  const pipeline::Schedule &schedule;
  int64_t rounds;
  std::map<std::tuple<PieceKind, uint64_t, uint64_t, uint64_t>, PieceOp> seen;
};

} // namespace

LogicalResult ScheduleOp::verifySymbolUses(SymbolTableCollection &) {
  pipeline::Schedule schedule = getSchedule();
  for (auto function : (*this)->getParentRegion()->getOps<ProgramOp>()) {
    auto name = function->getAttrOfType<FlatSymbolRefAttr>(kScheduleRefAttr);
    if (!name || name.getValue() != getSymName())
      continue;
    if (failed(PieceVerifier(function, schedule, static_cast<int64_t>(getRounds())).run()))
      return failure();
  }
  return success();
}
