// reprise: the order in which the devices of a pipeline run the passes of their stages
#include "Order.h"

#include "reprise/Dialect/Pipe/IR/Pipe.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"
#include "reprise/Planning/Pipeline/Problem.h"
#include "reprise/Planning/Pipeline/ScheduleFile.h"
#include "reprise/Support/Locations.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace reprise::pipe {

std::optional<int64_t> getNumber(Operation *op, StringRef name) {
  auto attribute = dyn_cast_or_null<IntegerAttr>(op->getDiscardableAttr(name));
  return attribute ? std::optional(attribute.getInt()) : std::nullopt;
}

int64_t countSweeps(ProgramOp step) {
  int64_t orders = 0, sweeps = 1;
  auto name = StringAttr::get(step.getContext(), kOrderAttr);
  for (Operation &op : step.getBody().front())
    if (auto order = dyn_cast_or_null<IntegerAttr>(op.getDiscardableAttr(name)))
      orders |= order.getInt();
  for (; orders; orders >>= 1)
    sweeps *= 2;
  return sweeps;
}

int64_t countMicrobatches(ProgramOp step) {
  if (auto number = step->getAttrOfType<IntegerAttr>(kMicrobatchesAttr))
    return number.getInt();
  int64_t count = 1;
  for (Operation &op : step.getBody().front())
    count = std::max(count, getNumber(&op, kMicrobatchAttr).value_or(0) + 1);
  return count;
}

void writeSchedule(ProgramOp step, const pipeline::Schedule &schedule, int64_t replicas,
                   int64_t rounds) {
  OpBuilder builder(step);
  auto written = ScheduleOp::create(builder, step.getLoc(), (step.getName() + "_schedule").str(),
                                    schedule, replicas, rounds);
  SymbolTable(step->getParentOp()).insert(written);
  step->removeAttr(kMicrobatchesAttr);
  step->setAttr(kScheduleRefAttr, FlatSymbolRefAttr::get(written.getSymNameAttr()));
}

/// The schedule is at fault, and no line of the model.
static InFlightDiagnostic emitScheduleError(ProgramOp step, StringRef schedule) {
  return emitError(getFlagLocation(step.getContext(), ("--schedule=" + schedule).str()));
}

static FailureOr<pipeline::Schedule> readFile(ProgramOp step, StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!text)
    return emitScheduleError(step, path)
           << "no schedule has this name, and no file can be read: " << text.getError().message();
  pipeline::Schedule schedule;
  std::string wrong = pipeline::readSchedule((*text)->getBuffer(), schedule);
  if (!wrong.empty())
    return emitScheduleError(step, path) << wrong;
  return schedule;
}

FailureOr<Order> Order::find(ProgramOp step, StringRef name, int64_t devices, int64_t chunks) {
  int64_t sweeps = countSweeps(step);
  if (CutAttr taken = name == kAuto ? findTakenCut(step) : CutAttr()) {
    name = taken.getSchedule();
    chunks = taken.getChunks();
  } else if (name == kAuto && sweeps != 2) {
    name = pipeline::kRuleOfAnySweeps;
    chunks = 1;
  }
  if (name.empty())
    name = pipeline::usualRule(sweeps);
  Order order;
  order.file = name.str();
  order.rule = pipeline::findRule(order.file);
  if (sweeps > 2 && name != pipeline::kRuleOfAnySweeps)
    return emitScheduleError(step, name)
           << "the schedule orders a forward and a backward pass, the step has " << sweeps
           << " passes: use " << pipeline::kRuleOfAnySweeps;
  if (order.rule) {
    order.shape = {static_cast<int>(devices), order.rule->fitChunks(static_cast<int>(chunks)), 1,
                   order.rule->isVee};
    return order;
  }
  FailureOr<pipeline::Schedule> given = readFile(step, name);
  if (failed(given))
    return failure();
  order.given = std::move(*given);
  order.shape = order.given->shape;
  if (order.shape.ranks != devices)
    return emitScheduleError(step, name) << "the schedule is for " << order.shape.ranks
                                         << " devices, the step is cut for " << devices;
  return order;
}

FailureOr<pipeline::Schedule> Order::make(ProgramOp step, int64_t microbatches) const {
  if (rule) {
    pipeline::Shape full = shape;
    full.microbatches = microbatches;
    return pipeline::makeSchedule(*rule, full);
  }
  if (shape.microbatches != microbatches)
    return emitScheduleError(step, file) << "the schedule is for " << shape.microbatches
                                         << " micro-batches, the step has " << microbatches;
  if (std::optional<pipeline::Defect> defect =
          pipeline::verify(*given, pipeline::makeCostlessChain(shape)))
    return emitScheduleError(step, file) << defect->message;
  return *given;
}

} // namespace reprise::pipe
