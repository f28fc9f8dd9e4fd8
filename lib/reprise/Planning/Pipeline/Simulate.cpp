// reprise: times of the pieces of a schedule, and the bytes of its ranks
#include "Walk.h"

#include <algorithm>
#include <numeric>

namespace reprise::pipeline {

static double findSeconds(const Schedule &schedule, const Stage &stage, Pass pass) {
  switch (pass) {
  case Pass::Forward:
    return stage.forward;
  case Pass::Backward:
    return schedule.splitsBackward ? stage.backward : stage.backward + stage.weight;
  case Pass::Weight:
    return stage.weight;
  }
  return 0;
}

/// Returns the bytes that a piece adds when it begins, and those that it frees when it ends.
static std::pair<int64_t, int64_t> findChange(const Schedule &schedule, const Stage &stage,
                                              Pass pass) {
  int64_t forWeight = stage.savedForWeight + stage.madeForWeight;
  switch (pass) {
  case Pass::Forward:
    return {stage.saved + stage.savedForWeight, 0};
  case Pass::Backward:
    return {stage.madeForWeight, stage.saved + (schedule.splitsBackward ? 0 : forWeight)};
  case Pass::Weight:
    return {0, forWeight};
  }
  return {0, 0};
}

std::pair<int64_t, size_t> findPeak(const Schedule &schedule, const Pipeline &pipeline,
                                    size_t rank) {
  int64_t held = 0;
  std::vector<bool> hasGradients(pipeline.stages.size());
  Pass last = schedule.splitsBackward ? Pass::Weight : Pass::Backward;
  for (size_t stage = 0; stage < pipeline.stages.size(); ++stage)
    if (static_cast<size_t>(schedule.shape.rankOf(static_cast<int>(stage))) == rank)
      held += pipeline.stages[stage].resident - pipeline.stages[stage].gradients;
  std::pair<int64_t, size_t> peak{held, 0};
  for (size_t place = 0; place < schedule.ranks[rank].size(); ++place) {
    const Piece &piece = schedule.ranks[rank][place];
    const Stage &stage = pipeline.stages[piece.stage];
    auto [added, freed] = findChange(schedule, stage, piece.pass);
    held += added;
    auto raise = [&](int64_t bytes) {
      if (bytes > peak.first)
        peak = {bytes, place};
    };
    raise(held + stage.working);
    held -= freed;
    if (piece.pass != last)
      continue;
    // In the first pass gradients grow as saved values are freed.
    if (!hasGradients[piece.stage] && stage.gradients > 0)
      raise((held += stage.gradients) + stage.working);
    hasGradients[piece.stage] = true;
    raise(held + stage.closing);
  }
  return peak;
}

double Simulation::bubbleOfTotal() const {
  double all = makespan * static_cast<double>(busy.size());
  return all > 0 ? 1 - std::accumulate(busy.begin(), busy.end(), 0.0) / all : 0;
}

double Simulation::bubbleOfIdeal() const {
  double ideal = busy.empty() ? 0 : *std::max_element(busy.begin(), busy.end());
  return ideal > 0 ? makespan / ideal - 1 : 0;
}

Simulation simulate(const Schedule &schedule, const Pipeline &pipeline, bool keepsTimes) {
  Simulation found;
  size_t ranks = schedule.ranks.size();
  std::vector<double> free(ranks);
  found.busy.resize(ranks);
  if (keepsTimes) {
    found.begins.resize(ranks);
    found.ends.resize(ranks);
    found.waits.resize(ranks);
  }
  Walk(schedule, pipeline).run([&](int rank, size_t place, double ready) {
    const Piece &piece = schedule.ranks[rank][place];
    double seconds = findSeconds(schedule, pipeline.stages[piece.stage], piece.pass);
    // The early seconds pass while the rank waits.
    double begin = std::max(ready - pipeline.getEarly(piece), free[rank]);
    if (keepsTimes)
      found.waits[rank].push_back(std::max(0.0, ready - free[rank]));
    free[rank] = begin + seconds;
    found.busy[rank] += seconds;
    if (keepsTimes) {
      found.begins[rank].push_back(begin);
      found.ends[rank].push_back(free[rank]);
    }
    return free[rank];
  });
  found.makespan = ranks > 0 ? *std::max_element(free.begin(), free.end()) : 0;
  for (size_t rank = 0; rank < ranks; ++rank)
    found.peaks.push_back(findPeak(schedule, pipeline, rank).first);
  return found;
}

} // namespace reprise::pipeline
