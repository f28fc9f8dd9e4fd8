// reprise: seconds and bytes of a step from which meshes are priced
#include "reprise/Planning/Mesh/Step.h"

#include <algorithm>
#include <cmath>

namespace reprise::mesh {

namespace {

/// Line through two points, over the samples of a micro-batch.
class Line {
public:
  Line(int64_t few, int64_t more, int64_t wanted)
      : share((1.0 / static_cast<double>(wanted) - 1.0 / static_cast<double>(more)) /
              (1.0 / static_cast<double>(few) - 1.0 / static_cast<double>(more))) {}

  double get(double few, double more) const { return std::max(0.0, more + share * (few - more)); }
  int64_t get(int64_t few, int64_t more) const {
    return std::llround(get(static_cast<double>(few), static_cast<double>(more)));
  }

private:
  double share;
};

} // namespace

static pipeline::Stage extend(const Line &line, const pipeline::Stage &few,
                              const pipeline::Stage &more) {
  pipeline::Stage made;
  for (double pipeline::Stage::*seconds :
       {&pipeline::Stage::forward, &pipeline::Stage::backward, &pipeline::Stage::weight})
    made.*seconds = line.get(few.*seconds, more.*seconds);
  for (int64_t pipeline::Stage::*bytes : {&pipeline::Stage::saved, &pipeline::Stage::savedForWeight,
                                          &pipeline::Stage::working, &pipeline::Stage::closing})
    made.*bytes = line.get(few.*bytes, more.*bytes);
  return made;
}

template <typename Number>
static std::vector<Number> extend(const Line &line, const std::vector<Number> &few,
                                  const std::vector<Number> &more) {
  std::vector<Number> made;
  for (size_t i = 0; i < few.size(); ++i)
    made.push_back(line.get(few[i], more[i]));
  return made;
}

/// Returns whether both steps list the same units, values and replays.
static bool haveOneForm(const stages::Problem &few, const stages::Problem &more) {
  auto isSameValue = [](const stages::Value &a, const stages::Value &b) {
    return a.unit == b.unit && a.readers == b.readers;
  };
  auto isSameReplay = [](const stages::Replay &a, const stages::Replay &b) {
    return a.unit == b.unit;
  };
  return few.units.size() == more.units.size() &&
         std::equal(few.values.begin(), few.values.end(), more.values.begin(), more.values.end(),
                    isSameValue) &&
         std::equal(few.replays.begin(), few.replays.end(), more.replays.begin(),
                    more.replays.end(), isSameReplay);
}

std::string extrapolate(const Step &few, int64_t fewMicrobatches, const Step &more,
                        int64_t moreMicrobatches, int64_t microbatches, Step &made) {
  if (!haveOneForm(few.problem, more.problem))
    return "the step has other units in " + std::to_string(fewMicrobatches) + " than in " +
           std::to_string(moreMicrobatches) + " micro-batches";
  Line line(fewMicrobatches, moreMicrobatches, microbatches);
  made = more;
  const stages::Problem &first = few.problem, &second = more.problem;
  for (size_t i = 0; i < first.units.size(); ++i)
    made.problem.units[i] = extend(line, first.units[i], second.units[i]);
  for (size_t i = 0; i < first.values.size(); ++i) {
    stages::Value &value = made.problem.values[i];
    const stages::Value &a = first.values[i], &b = second.values[i];
    value.forward = line.get(a.forward, b.forward);
    value.backward = line.get(a.backward, b.backward);
    value.bytes = line.get(a.bytes, b.bytes);
  }
  for (size_t i = 0; i < first.replays.size(); ++i) {
    made.problem.replays[i].bytes = line.get(first.replays[i].bytes, second.replays[i].bytes);
    made.problem.replays[i].seconds = line.get(first.replays[i].seconds, second.replays[i].seconds);
  }
  made.problem.replayed = extend(line, first.replayed, second.replayed);
  made.madeForWeight = extend(line, few.madeForWeight, more.madeForWeight);
  return "";
}

/// Returns, per place between two units, the bytes of the values that cross it.
static std::vector<int64_t> countCrossing(const stages::Problem &problem) {
  std::vector<int64_t> crossing(problem.units.size() + 1);
  for (const stages::Value &value : problem.values) {
    crossing[value.unit + 1] += value.bytes;
    crossing[value.readers.back() + 1] -= value.bytes;
  }
  for (size_t i = 1; i < crossing.size(); ++i)
    crossing[i] += crossing[i - 1];
  return crossing;
}

/// Returns the number of the joined unit of each unit.
static std::vector<int> findGroups(const stages::Problem &problem, size_t most) {
  std::vector<int64_t> crossing = countCrossing(problem);
  std::vector<int64_t> sorted(crossing.begin() + 1, crossing.end() - 1);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<int64_t>(most - 1), sorted.end());
  int64_t limit = sorted[most - 1];
  auto getSeconds = [](const pipeline::Stage &unit) {
    return unit.forward + unit.backward + unit.weight;
  };
  double total = 0, passed = 0;
  for (const pipeline::Stage &unit : problem.units)
    total += getSeconds(unit);
  std::vector<int> groups;
  double share = total / static_cast<double>(most);
  int group = 0;
  double next = share;
  for (size_t unit = 0; unit < problem.units.size(); ++unit) {
    if (unit > 0 && crossing[unit] <= limit && passed * (1 + 1e-9) >= next) {
      ++group;
      next = (std::floor(passed * (1 + 1e-9) / share) + 1) * share;
    }
    groups.push_back(group);
    passed += getSeconds(problem.units[unit]);
  }
  return groups;
}

static std::vector<int> mapReaders(const std::vector<int> &readers, const std::vector<int> &groups,
                                   int own) {
  std::vector<int> mapped;
  for (int reader : readers)
    if (int group = groups[reader]; group != own && (mapped.empty() || mapped.back() != group))
      mapped.push_back(group);
  return mapped;
}

template <typename Number>
static std::vector<Number> addUp(const std::vector<Number> &numbers,
                                 const std::vector<int> &groups) {
  std::vector<Number> sums(groups.back() + 1);
  for (size_t i = 0; i < numbers.size(); ++i)
    sums[groups[i]] += numbers[i];
  return sums;
}

static std::vector<pipeline::Stage> addUpUnits(const std::vector<pipeline::Stage> &units,
                                               const std::vector<int> &groups) {
  std::vector<pipeline::Stage> sums(groups.back() + 1);
  for (size_t i = 0; i < units.size(); ++i) {
    pipeline::Stage &sum = sums[groups[i]];
    const pipeline::Stage &unit = units[i];
    sum.forward += unit.forward;
    sum.backward += unit.backward;
    sum.weight += unit.weight;
    sum.saved += unit.saved;
    sum.savedForWeight += unit.savedForWeight;
    sum.working = std::max(sum.working, unit.working);
    sum.closing = std::max(sum.closing, unit.closing);
  }
  return sums;
}

Step joinUnits(const Step &step, size_t most) {
  if (step.countUnits() <= most)
    return step;
  std::vector<int> groups = findGroups(step.problem, most);
  Step made;
  made.problem.units = addUpUnits(step.problem.units, groups);
  for (stages::Value value : step.problem.values) {
    value.unit = groups[value.unit];
    value.readers = mapReaders(value.readers, groups, value.unit);
    if (!value.readers.empty())
      made.problem.values.push_back(std::move(value));
  }
  for (stages::Replay replay : step.problem.replays) {
    replay.unit = groups[replay.unit];
    made.problem.replays.push_back(replay);
  }
  for (stages::TiedWeight weight : step.problem.tied) {
    weight.unit = groups[weight.unit];
    weight.readers = mapReaders(weight.readers, groups, weight.unit);
    if (!weight.readers.empty())
      made.problem.tied.push_back(std::move(weight));
  }
  made.problem.replayed = addUp(step.problem.replayed, groups);
  made.madeForWeight = addUp(step.madeForWeight, groups);
  made.arrays = addUp(step.arrays, groups);
  made.parameters = addUp(step.parameters, groups);
  made.numParameters = addUp(step.numParameters, groups);
  return made;
}

} // namespace reprise::mesh
