// reprise: what a mesh of devices and a schedule make of a step
#include "reprise/Planning/Mesh/Price.h"

#include <algorithm>
#include <utility>

namespace reprise::mesh {

int64_t Price::peak() const {
  return peaks.empty() ? 0 : *std::max_element(peaks.begin(), peaks.end());
}

double findLeastSeconds(const Step &step, const Point &point) {
  double all = 0;
  for (const pipeline::Stage &unit : step.problem.units)
    all += unit.forward + unit.backward + unit.weight;
  return all * static_cast<double>(point.ownMicrobatches()) / point.ranks;
}

/// Returns whether a transfer leaves its node, in any replica, between two ranks and a distance of
/// replicas.
static double findFactor(const Point &point, const pipeline::Links &links, int from, int to) {
  double most = 1;
  int64_t size = point.ranks * point.parts;
  for (int64_t replica = 0; replica < point.replicas; ++replica)
    for (int64_t part = 0; part < point.parts; ++part) {
      int64_t begin = replica * size + part;
      most = std::max(most, links.getFactor(begin + from * point.parts, begin + to * point.parts));
    }
  return most;
}

/// Returns whether replicas share the work of sums. With parts of a model each sum is added whole.
static bool scattersSums(const Point &point) { return point.parts == 1; }

double getSumSeconds(const Point &point, const pipeline::Links &links, double bytes) {
  double seconds = 0;
  int64_t size = point.ranks * point.parts;
  for (int64_t distance = 1; distance < point.replicas && bytes > 0; distance *= 2) {
    if (scattersSums(point))
      bytes /= 2;
    double slowest = 0;
    for (int64_t replica = 0; replica < point.replicas; ++replica)
      if (int64_t other = replica ^ distance; other > replica && other < point.replicas)
        for (int64_t device = 0; device < size; ++device)
          slowest = std::max(
              slowest, links.getSeconds(replica * size + device, other * size + device, bytes));
    seconds += slowest;
  }
  return seconds;
}

double getGatherSeconds(const Point &point, const pipeline::Links &links, double bytes) {
  double slowest = 0, part = bytes / static_cast<double>(point.replicas);
  int64_t size = point.ranks * point.parts;
  for (int64_t device = 0; device < size && bytes > 0; ++device)
    for (int64_t replica = 0; replica < point.replicas; ++replica) {
      double seconds = 0;
      for (int64_t owner = 0; owner < point.replicas; ++owner)
        if (owner != replica)
          seconds += links.getSeconds(owner * size + device, replica * size + device, part);
      slowest = std::max(slowest, seconds);
    }
  return slowest;
}

/// Returns the sums of a gradient that a replica holds at once: the chain of a lane, and a binary
/// counter of the lanes before.
static int64_t countSums(const Point &point, int64_t lanes) {
  int64_t sums = 1;
  for (int64_t own = lanes / point.replicas; own > 1; own /= 2)
    ++sums;
  return sums;
}

/// Adds the arrays of a unit, its gradients and its gathered parameters.
static void addReplicas(const Step &step, const Point &point, const pipeline::Links &links,
                        int64_t lanes, stages::Problem &problem) {
  bool isScattered = point.replicas > 1 && point.ownMicrobatches() == 1 && scattersSums(point);
  for (size_t i = 0; i < problem.units.size(); ++i) {
    pipeline::Stage &unit = problem.units[i];
    int64_t own = step.parameters[i], outside = step.arrays[i] / point.replicas;
    int64_t gathered = own - own / point.replicas;
    problem.outside[i] = outside;
    unit.gradients = isScattered ? own / point.replicas : countSums(point, lanes) * own;
    unit.resident = outside + unit.gradients;
    if (point.parts > 1)
      unit.resident += gathered; // parts that devices of other replicas own
    if (point.replicas == 1 || point.parts > 1)
      continue;
    // The own part lies outside of the arena, and once more in the joined array.
    if (!point.replaysGathers) {
      unit.resident += own;
      continue;
    }
    double seconds = getGatherSeconds(point, links, static_cast<double>(own));
    unit.working += own;
    unit.forward = std::max(unit.forward, seconds);
    unit.backward = std::max(unit.backward, seconds);
  }
}

stages::Problem makeProblem(const Step &step, const Point &point, const Device &device,
                            int64_t lanes, const pipeline::Schedule &schedule) {
  stages::Problem problem = step.problem;
  problem.outside.assign(problem.units.size(), 0);
  addReplicas(step, point, device.links, lanes, problem);
  if (schedule.splitsBackward)
    for (size_t i = 0; i < problem.units.size(); ++i)
      problem.units[i].madeForWeight = step.madeForWeight[i];
  problem.slots = pipeline::countSlots(schedule);
  int64_t most = *std::max_element(problem.slots.begin(), problem.slots.end());
  for (int stage = 0; stage < point.stages(); ++stage) {
    stages::Device &own = problem.devices.emplace_back();
    own.memory = device.memory / point.chunks;
    own.arena = device.arena / point.chunks;
    own.share = problem.slots[stage] == most ? device.share : 0;
    own.endsForward = problem.slots[stage] == schedule.shape.microbatches;
    if (stage > 0)
      own.transfers = findFactor(point, device.links, schedule.shape.rankOf(stage - 1),
                                 schedule.shape.rankOf(stage));
  }
  return problem;
}

namespace {

/// Sums of parameters over the units of a stage.
struct StageParameters {
  double bytes = 0;   ///< all of the stage
  double largest = 0; ///< those of its largest unit
};

} // namespace

/// Returns the seconds that gathers and sums of a stage add to the step. The gather of a unit hides
/// behind the unit before, and sums hide behind the last backward pass except their last sixteenth.
static double findExchange(const Step &step, const Point &point, const pipeline::Links &links,
                           const pipeline::Stage &stage, int first, int last) {
  if (point.replicas == 1)
    return 0;
  StageParameters sums;
  double late = 0;
  for (int unit = first; unit < last; ++unit) {
    auto own = static_cast<double>(step.parameters[unit]);
    sums.bytes += own;
    sums.largest = std::max(sums.largest, own);
    late += std::max(0.0, getGatherSeconds(point, links, own) - step.problem.units[unit].forward);
  }
  double seconds = getSumSeconds(point, links, sums.bytes);
  double hidden = stage.backward + stage.weight;
  double added = std::max(seconds - hidden, seconds / 16);
  double gathered = getGatherSeconds(point, links, sums.largest);
  return added + gathered + (point.replaysGathers ? 0 : late);
}

/// Simulates a schedule. Messages that skip stages may be in flight for longer than two passes.
static void simulate(const pipeline::Schedule &schedule, pipeline::Pipeline &pipeline,
                     Price &price) {
  for (int64_t buffers : {int64_t(2), schedule.shape.microbatches}) {
    pipeline.buffers = buffers;
    if (pipeline::verify(schedule, pipeline))
      continue;
    pipeline::Simulation found = pipeline::simulate(schedule, pipeline, /*keepsTimes=*/false);
    price.makespan = found.makespan;
    price.bubble = found.bubbleOfTotal();
    price.peaks = found.peaks;
    return;
  }
}

/// Returns a lower bound of the fullest device: all bytes that are held at all times, over the
/// memory of all ranks.
static double findLeastFullness(const stages::Problem &problem) {
  double memory = 0, arena = 0, outside = 0, resident = 0;
  for (const stages::Device &device : problem.devices) {
    memory += static_cast<double>(device.memory);
    arena += static_cast<double>(device.arena);
  }
  for (size_t i = 0; i < problem.units.size(); ++i) {
    outside += static_cast<double>(problem.outside[i]);
    resident += static_cast<double>(problem.units[i].resident - problem.units[i].gradients);
  }
  return std::max(resident / std::max(memory, 1.0), (resident - outside) / std::max(arena, 1.0));
}

/// Returns a split whose devices are about as full as can be avoided: the first stages take as many
/// units as fit a limit, which is found by bisection.
static stages::Split findEvenSplit(const stages::Loads &loads, int units, int stages) {
  stages::Split best;
  auto fill = [&](double limit) {
    std::vector<int> begins;
    int first = 0;
    for (int stage = 0; stage < stages; ++stage) {
      begins.push_back(first);
      int last = first + 1, most = units - (stages - 1 - stage);
      while (last < most && loads.get(first, last + 1, stage).fullness <= limit)
        ++last;
      first = last;
    }
    bool isWhole = first == units && loads.get(begins.back(), units, stages - 1).fullness <= limit;
    if (isWhole)
      best.begins = std::move(begins);
    return isWhole;
  };
  double low = 0, high = 1;
  while (!fill(high) && high < 1e9)
    low = std::exchange(high, 2 * high);
  for (int i = 0; i < 12; ++i) {
    double middle = (low + high) / 2;
    (fill(middle) ? high : low) = middle;
  }
  return best;
}

/// Returns the sends of the parameters of a stage to other replicas, for each gather.
static int64_t countSends(const Step &step, const Point &point, int first, int last) {
  int64_t parameters = 0;
  for (int unit = first; unit < last; ++unit)
    parameters += step.numParameters[unit];
  int64_t gathers = point.replaysGathers ? 2 * point.ownMicrobatches() : 1;
  return parameters * (point.replicas - 1) * gathers;
}

/// Returns the bytes that updates of a stage move: each array is read and written, and gradients
/// are read. Replicas share the work.
static double countUpdated(const Step &step, const Point &point, int first, int last) {
  int64_t bytes = 0;
  for (int unit = first; unit < last; ++unit)
    bytes += 2 * step.arrays[unit] + step.parameters[unit];
  return static_cast<double>(bytes) / static_cast<double>(point.replicas);
}

Price findPrice(const Step &step, const Point &point, const Device &device, int64_t lanes) {
  Price price;
  pipeline::Shape shape{point.ranks, point.chunks, point.ownMicrobatches(), point.rule->isVee};
  pipeline::Schedule schedule = pipeline::makeSchedule(*point.rule, shape);
  stages::Problem problem = makeProblem(step, point, device, lanes, schedule);
  price.fullness = findLeastFullness(problem);
  if (!price.fits())
    return price;
  std::optional<stages::Split> split = stages::balance(problem);
  stages::Loads loads(problem);
  auto units = static_cast<int>(problem.units.size());
  if (!split)
    split = findEvenSplit(loads, units, point.stages());
  price.fullness = 0;
  price.begins = split->begins;
  std::vector<int> ends(split->begins.begin() + 1, split->begins.end());
  ends.push_back(units);
  std::vector<int64_t> sends(point.ranks);
  std::vector<double> replays, updated(point.ranks);
  for (int stage = 0; stage < point.stages(); ++stage) {
    stages::Load load = loads.get(split->begins[stage], ends[stage], stage);
    price.fullness = std::max(price.fullness, load.fullness);
    replays.push_back(load.replay);
    int rank = schedule.shape.rankOf(stage);
    updated[rank] += countUpdated(step, point, split->begins[stage], ends[stage]);
    price.update = std::max(price.update, device.byteSeconds * updated[rank]);
    sends[rank] += countSends(step, point, split->begins[stage], ends[stage]);
    price.sends = std::max(price.sends, sends[rank]);
    price.exchange = std::max(price.exchange, findExchange(step, point, device.links, load.stage,
                                                           split->begins[stage], ends[stage]));
  }
  pipeline::Pipeline pipeline = stages::makePipeline(problem, *split);
  // Passes that gather parameters wait for these before they replay.
  if (!point.replaysGathers && point.parts == 1)
    stages::hideReplays(replays, shape.microbatches, pipeline);
  simulate(schedule, pipeline, price);
  return price;
}

} // namespace reprise::mesh
