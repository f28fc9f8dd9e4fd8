// reprise: cuts of a step into stages as attributes
#include "Rows.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Planning/Pipeline/ScheduleFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

#define GET_ATTRDEF_CLASSES
#include "reprise/Dialect/Pipe/IR/PipeAttributes.cpp.inc"

void PipeDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "reprise/Dialect/Pipe/IR/PipeAttributes.cpp.inc"
      >();
}

ArrayAttr reprise::pipe::spellRows(MLIRContext *context, const pipeline::Schedule &schedule) {
  SmallVector<Attribute> rows;
  for (const std::vector<pipeline::Piece> &pieces : schedule.ranks) {
    auto spelled = llvm::map_range(pieces, [&](const pipeline::Piece &piece) {
      return pipeline::spell(piece, schedule.splitsBackward);
    });
    rows.push_back(StringAttr::get(context, llvm::join(spelled, ", ")));
  }
  return ArrayAttr::get(context, rows);
}

std::string reprise::pipe::readRows(ArrayAttr given, int64_t stages, int64_t microbatches,
                                    pipeline::Schedule &schedule) {
  SmallVector<StringRef> rows = llvm::to_vector(given.getAsValueRange<StringAttr>());
  for (StringRef row : rows)
    if (row.empty() || row.contains('\n'))
      return "expected a row of pieces for each device";
  // The file's format has a line per device.
  if (std::string wrong = pipeline::readSchedule(llvm::join(rows, "\n"), schedule); !wrong.empty())
    return wrong;
  auto named = int64_t(schedule.shape.stages());
  if (named != stages)
    return "the pieces are those of " + std::to_string(named) + " stages, expected " +
           std::to_string(stages);
  int64_t pieces = 0;
  for (const std::vector<pipeline::Piece> &row : schedule.ranks)
    pieces += static_cast<int64_t>(row.size());
  if (pieces < microbatches)
    return "there are " + std::to_string(pieces) + " pieces, fewer than stages or micro-batches";
  schedule.shape.microbatches = microbatches;
  return "";
}

LogicalResult CutAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr /*schedule*/,
                              int64_t chunks, DenseI64ArrayAttr units, FloatAttr makespan,
                              CutState /*state*/) {
  if (chunks < 1)
    return emitError() << "expected one or more chunks per device, got " << chunks;
  ArrayRef<int64_t> begins = units.asArrayRef();
  if (begins.size() < 2 || begins.front() != 0 || !llvm::is_sorted(begins, std::less_equal<>()))
    return emitError() << "expected units that begin at 0 and ascend from stage to stage";
  if (!makespan.getType().isF64())
    return emitError() << "expected the makespan as f64, got " << makespan.getType();
  return success();
}

std::vector<std::pair<int, int>> CutAttr::getRanges() const {
  std::vector<std::pair<int, int>> ranges;
  ArrayRef<int64_t> begins = getUnits().asArrayRef();
  for (auto [first, end] : llvm::zip(begins.drop_back(), begins.drop_front()))
    ranges.push_back({static_cast<int>(first), static_cast<int>(end)});
  return ranges;
}

TimingAttr TimingAttr::get(MLIRContext *context, const pipeline::Schedule &schedule,
                           const pipeline::Pipeline &pipeline, ArrayRef<double> replay) {
  Builder builder(context);
  auto list = [&](auto field) {
    return builder.getDenseF64ArrayAttr(llvm::map_to_vector(pipeline.stages, field));
  };
  SmallVector<int64_t> from, to;
  SmallVector<double> there, back;
  for (const pipeline::Transfer &transfer : pipeline.transfers) {
    from.push_back(transfer.from);
    to.push_back(transfer.to);
    there.push_back(transfer.forward);
    back.push_back(transfer.backward);
  }
  return get(context, spellRows(context, schedule), schedule.shape.microbatches,
             list([](const pipeline::Stage &stage) { return stage.forward; }),
             list([](const pipeline::Stage &stage) { return stage.backward; }),
             list([](const pipeline::Stage &stage) { return stage.weight; }),
             builder.getDenseF64ArrayAttr(replay), builder.getDenseI64ArrayAttr(from),
             builder.getDenseI64ArrayAttr(to), builder.getDenseF64ArrayAttr(there),
             builder.getDenseF64ArrayAttr(back), pipeline.buffers);
}

LogicalResult TimingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayAttr rows,
                                 int64_t microbatches, DenseF64ArrayAttr forward,
                                 DenseF64ArrayAttr backward, DenseF64ArrayAttr weight,
                                 DenseF64ArrayAttr replay, DenseI64ArrayAttr from,
                                 DenseI64ArrayAttr to, DenseF64ArrayAttr there,
                                 DenseF64ArrayAttr back, int64_t buffers) {
  if (!llvm::all_of(rows, llvm::IsaPred<StringAttr>))
    return emitError() << "expected the rows of a schedule as strings";
  pipeline::Schedule schedule;
  int64_t stages = forward.size();
  if (std::string wrong = readRows(rows, stages, microbatches, schedule); !wrong.empty())
    return emitError() << wrong;
  if (backward.size() != stages || weight.size() != stages || replay.size() != stages)
    return emitError() << "expected seconds of " << stages << " stages";
  if (to.size() != from.size() || there.size() != from.size() || back.size() != from.size())
    return emitError() << "expected the ends and the seconds of " << from.size() << " transfers";
  for (auto [sender, receiver] : llvm::zip_equal(from.asArrayRef(), to.asArrayRef()))
    if (sender < 0 || sender >= receiver || receiver >= stages)
      return emitError() << "expected transfers to later stages, got one from stage " << sender
                         << " to stage " << receiver;
  if (buffers < 1)
    return emitError() << "expected one or more buffers, got " << buffers;
  return success();
}

pipeline::Schedule TimingAttr::getSchedule() const {
  pipeline::Schedule schedule;
  (void)readRows(getRows(), getForward().size(), getMicrobatches(), schedule);
  return schedule;
}

pipeline::Pipeline TimingAttr::getPipeline() const {
  pipeline::Pipeline pipeline;
  for (auto [forward, backward, weight] : llvm::zip_equal(
           getForward().asArrayRef(), getBackward().asArrayRef(), getWeight().asArrayRef())) {
    pipeline::Stage &stage = pipeline.stages.emplace_back();
    stage.forward = forward;
    stage.backward = backward;
    stage.weight = weight;
  }
  for (auto [from, to, there, back] :
       llvm::zip_equal(getFrom().asArrayRef(), getTo().asArrayRef(), getThere().asArrayRef(),
                       getBack().asArrayRef()))
    pipeline.transfers.push_back({static_cast<int>(from), static_cast<int>(to), there, back});
  pipeline.buffers = getBuffers();
  return pipeline;
}

SmallVector<CutAttr> reprise::pipe::getCuts(Operation *op) {
  auto cuts = op->getAttrOfType<ArrayAttr>(kCutsAttr);
  return cuts ? llvm::to_vector(cuts.getAsRange<CutAttr>()) : SmallVector<CutAttr>();
}

CutAttr reprise::pipe::findTakenCut(Operation *op) {
  SmallVector<CutAttr> cuts = getCuts(op);
  return cuts.empty() ? CutAttr() : cuts.front();
}
