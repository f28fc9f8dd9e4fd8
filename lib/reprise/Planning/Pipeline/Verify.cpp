// reprise: the judge of schedules
#include "Walk.h"

#include "reprise/Support/Wording.h"

#include <algorithm>

namespace reprise::pipeline {

namespace {

using Kind = Defect::Kind;

std::string nameRank(size_t rank) { return "rank " + std::to_string(rank); }

std::optional<Defect> checkShape(const Schedule &schedule, const Pipeline &pipeline) {
  const Shape &shape = schedule.shape;
  auto fail = [](std::string message) { return Defect{Kind::Shape, std::move(message)}; };
  if (shape.ranks < 1 || shape.chunks < 1 || shape.microbatches < 1)
    return fail("expected at least one rank, one chunk and one micro-batch");
  if (schedule.ranks.size() != static_cast<size_t>(shape.ranks))
    return fail("the schedule has " + std::to_string(schedule.ranks.size()) + " ranks of " +
                std::to_string(shape.ranks));
  if (pipeline.stages.size() != static_cast<size_t>(shape.stages()))
    return fail("the pipeline has " + std::to_string(pipeline.stages.size()) +
                " stages, the schedule " + std::to_string(shape.stages()));
  if (!pipeline.memory.empty() && pipeline.memory.size() != schedule.ranks.size())
    return fail("expected the memory of every rank");
  if (pipeline.buffers < 1)
    return fail("expected at least one buffer per transfer");
  for (const Transfer &transfer : pipeline.transfers)
    if (transfer.from < 0 || transfer.from >= transfer.to || transfer.to >= shape.stages())
      return fail("a transfer goes from stage " + std::to_string(transfer.from) + " to stage " +
                  std::to_string(transfer.to));
  return std::nullopt;
}

/// Reader of the pieces of all ranks, once. Micro-batches of each pass must be in order, so one
/// count per pass records those that have run.
class Reading {
public:
  explicit Reading(const Schedule &schedule)
      : schedule(schedule), passes(schedule.splitsBackward ? 3 : 2),
        counts(3 * schedule.shape.stages()) {}

  std::optional<Defect> run() {
    for (size_t rank = 0; rank < schedule.ranks.size(); ++rank)
      for (const Piece &piece : schedule.ranks[rank])
        if (auto defect = read(piece, rank))
          return defect;
    for (int stage = 0; stage < schedule.shape.stages(); ++stage)
      for (int pass = 0; pass < passes; ++pass)
        if (int64_t next = counts[3 * stage + pass]; next < schedule.shape.microbatches)
          return Defect{Kind::Count,
                        describe({static_cast<Pass>(pass), stage, static_cast<int32_t>(next)}) +
                            " is missing"};
    return std::nullopt;
  }

private:
  bool exists(const Piece &piece) const {
    return piece.stage >= 0 && piece.stage < schedule.shape.stages() && piece.microbatch >= 0 &&
           piece.microbatch < schedule.shape.microbatches && static_cast<int>(piece.pass) < passes;
  }

  std::optional<Defect> read(const Piece &piece, size_t rank) {
    auto fail = [&](Kind kind, const std::string &what) {
      return Defect{kind, describe(piece) + what};
    };
    if (!exists(piece))
      return fail(Kind::Count, " is no piece of this pipeline");
    if (static_cast<size_t>(schedule.shape.rankOf(piece.stage)) != rank)
      return fail(Kind::Count, " stands on " + nameRank(rank) + ", its stage lies on " +
                                   nameRank(schedule.shape.rankOf(piece.stage)));
    int64_t *counted = &counts[3 * piece.stage];
    int pass = static_cast<int>(piece.pass);
    if (counted[pass] > piece.microbatch)
      return fail(Kind::Count, " stands on " + nameRank(rank) + " twice");
    if (counted[pass] < piece.microbatch)
      return fail(Kind::Order,
                  " comes before that of micro-batch " + std::to_string(counted[pass]));
    if (pass > 0 && counted[pass - 1] <= piece.microbatch)
      return fail(Kind::Order, std::string(" comes before its ") +
                                   (pass == 1 ? "forward pass" : "backward pass"));
    ++counted[pass];
    return std::nullopt;
  }

  const Schedule &schedule;
  int passes;
  std::vector<int64_t> counts; // by stage and pass
};

/// Follows the waits from a rank that waits for ever until a rank comes twice.
std::string describeCircle(const Schedule &schedule, const Walk &walk) {
  int rank = 0;
  while (walk.isDone(rank))
    ++rank;
  std::vector<int> path;
  while (std::find(path.begin(), path.end(), rank) == path.end()) {
    path.push_back(rank);
    rank = schedule.shape.rankOf(walk.getWait(rank).second.stage);
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), rank));
  std::string text = "ranks wait for each other for ever";
  for (int member : path) {
    auto [stopped, open] = walk.getWait(member);
    text += "; " + nameRank(member) + " stands before " + describe(stopped) + ", which waits for " +
            describe(open);
  }
  return text;
}

/// Returns the pass behind which a slot of its stage is free.
Pass findLastPass(const Schedule &schedule) {
  return schedule.splitsBackward ? Pass::Weight : Pass::Backward;
}

std::optional<Defect> checkSlots(const Schedule &schedule, const std::vector<int64_t> &slots) {
  Pass last = findLastPass(schedule);
  if (slots.size() != static_cast<size_t>(schedule.shape.stages()))
    return Defect{Kind::Slot, "expected the number of slots of every stage"};
  std::vector<int64_t> freed(slots.size());
  for (const std::vector<Piece> &pieces : schedule.ranks)
    for (const Piece &piece : pieces) {
      freed[piece.stage] += piece.pass == last;
      int64_t before = piece.microbatch - slots[piece.stage];
      if (piece.pass == Pass::Forward && before >= freed[piece.stage])
        return Defect{Kind::Slot, describe(piece) + " takes the slot of micro-batch " +
                                      std::to_string(before) + " before " +
                                      describe({last, piece.stage, static_cast<int32_t>(before)})};
    }
  return std::nullopt;
}

} // namespace

Pipeline makeCostlessChain(const Shape &shape) {
  Pipeline chain;
  chain.stages.resize(shape.stages());
  for (int stage = 1; stage < shape.stages(); ++stage)
    chain.transfers.push_back({stage - 1, stage});
  chain.buffers = std::max<int64_t>(shape.microbatches, 1);
  return chain;
}

std::vector<int64_t> countSlots(const Schedule &schedule) {
  Pass last = findLastPass(schedule);
  std::vector<int64_t> slots(schedule.shape.stages()), taken(slots.size());
  for (const std::vector<Piece> &pieces : schedule.ranks)
    for (const Piece &piece : pieces) {
      taken[piece.stage] += piece.pass == Pass::Forward;
      slots[piece.stage] = std::max(slots[piece.stage], taken[piece.stage]);
      taken[piece.stage] -= piece.pass == last;
    }
  return slots;
}

std::optional<Defect> verify(const Schedule &schedule, const Pipeline &pipeline,
                             const std::vector<int64_t> *slots) {
  if (auto defect = checkShape(schedule, pipeline))
    return defect;
  if (auto defect = Reading(schedule).run())
    return defect;
  Walk walk(schedule, pipeline);
  if (!walk.run([](int, size_t, double ready) { return ready; }))
    return Defect{Kind::Cycle, describeCircle(schedule, walk)};
  if (slots)
    if (auto defect = checkSlots(schedule, *slots))
      return defect;
  for (size_t rank = 0; rank < pipeline.memory.size(); ++rank) {
    auto [peak, place] = findPeak(schedule, pipeline, rank);
    if (peak > pipeline.memory[rank])
      return Defect{Kind::Memory, nameRank(rank) + " needs " + groupDigits(peak) + " bytes of " +
                                      groupDigits(pipeline.memory[rank]) + " at " +
                                      describe(schedule.ranks[rank][place])};
  }
  return std::nullopt;
}

} // namespace reprise::pipeline
