// reprise: segments of passes, behind which sums over replicas are added
#include "Segments.h"

#include "reprise/Support/ByteSize.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

/// Parts of the bytes that replicas add up. A part is added while the next one is computed, so few
/// parts are in memory at a time.
static constexpr int64_t kParts = 16;

Segments::Segments(ProgramOp step, const Places &places, int64_t replicas)
    : step(step), places(places) {
  if (replicas == 1)
    return;
  findEarly();
  cutPasses();
  findLevels();
}

/// Returns true for an op on values of passes of its stage and on other early ops. Updates read
/// parameters or states, which passes of other replicas may still need.
bool Segments::isEarly(Operation &op, const Place &place) const {
  if (op.getNumRegions() != 0)
    return false;
  return llvm::all_of(op.getOperands(), [&](Value operand) {
    Operation *maker = operand.getDefiningOp();
    std::optional<Place> made = maker ? places.get(maker) : std::nullopt;
    return made && made->stage == place.stage &&
           (made->kind == Place::Within || early.contains(maker));
  });
}

void Segments::findEarly() {
  for (Operation &op : step.getBody().front().without_terminator())
    if (std::optional<Place> place = places.get(&op))
      if (place->kind == Place::After && isEarly(op, *place))
        early.insert(&op);
}

/// Returns the bytes of the results that early ops read.
int64_t Segments::countAdded(Operation &op) const {
  int64_t bytes = 0;
  for (Value result : op.getResults())
    if (llvm::any_of(result.getUsers(), [&](Operation *user) { return early.contains(user); }))
      bytes += getByteSize(result.getType());
  return bytes;
}

void Segments::cutPasses() {
  Block &block = step.getBody().front();
  std::map<Stage, int64_t> total;
  for (Operation &op : block.without_terminator())
    if (std::optional<Place> place = places.get(&op); place && place->kind == Place::Within) {
      Pass &pass = last.try_emplace(getStage(*place), getPass(*place)).first->second;
      pass = std::max(pass, getPass(*place));
      total[getStage(*place)] += countAdded(op);
    }
  struct Segment {
    int64_t number = 0, bytes = 0;
  };
  std::map<Stage, Segment> open;
  for (Operation &op : block.without_terminator()) {
    std::optional<Place> place = places.get(&op);
    if (!place || place->kind != Place::Within || last.at(getStage(*place)) != getPass(*place))
      continue;
    Segment &segment = open[getStage(*place)];
    segments[&op] = segment.number;
    segment.bytes += countAdded(op);
    if (segment.bytes > 0 && segment.bytes * kParts >= total.at(getStage(*place)))
      segment = {segment.number + 1, 0};
  }
}

/// Returns the segment behind which `reader` may read results of the op.
int64_t Segments::getLevel(Operation *op, const Place &reader) const {
  std::optional<Place> made = places.get(op);
  return get(op).value_or(0) + (made->replica != reader.replica);
}

void Segments::findLevels() {
  for (Operation &op : step.getBody().front().without_terminator())
    if (early.contains(&op)) {
      int64_t level = 0;
      for (Value operand : op.getOperands())
        level = std::max(level, getLevel(operand.getDefiningOp(), *places.get(&op)));
      segments[&op] = level;
    }
}
