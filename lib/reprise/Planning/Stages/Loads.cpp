// reprise: costs of runs of units as stages
#include "reprise/Planning/Stages/Balance.h"
#include "reprise/Support/StableSort.h"

#include <algorithm>
#include <limits>

namespace reprise::stages {

static void add(pipeline::Stage &sum, const pipeline::Stage &unit) {
  sum.forward += unit.forward;
  sum.backward += unit.backward;
  sum.weight += unit.weight;
  sum.saved += unit.saved;
  sum.savedForWeight += unit.savedForWeight;
  sum.madeForWeight += unit.madeForWeight;
  sum.resident += unit.resident;
  sum.gradients += unit.gradients;
}

static pipeline::Stage subtract(pipeline::Stage sum, const pipeline::Stage &before) {
  sum.forward -= before.forward;
  sum.backward -= before.backward;
  sum.weight -= before.weight;
  sum.saved -= before.saved;
  sum.savedForWeight -= before.savedForWeight;
  sum.madeForWeight -= before.madeForWeight;
  sum.resident -= before.resident;
  sum.gradients -= before.gradients;
  return sum;
}

/// Prefix sums over units, so that sums of a run are differences.
class Loads::Sums {
public:
  explicit Sums(const Problem &problem) : size(problem.units.size() + 1), problem(problem) {
    own = addUp(problem.units);
    for (const Problem::Rates &rates : problem.rates)
      others.push_back(addUp(rates.units));
    replayed.resize(size);
    for (size_t unit = 0; unit < problem.replayed.size(); ++unit)
      replayed[unit + 1] = replayed[unit] + problem.replayed[unit];
    outside.resize(size);
    for (size_t unit = 0; unit < problem.outside.size(); ++unit)
      outside[unit + 1] = outside[unit] + problem.outside[unit];
    incoming.resize(size * size);
    received.resize(size * size);
    tied.resize(size * size);
    returned.resize(size * size);
    working.resize(size * size);
    closing.resize(size * size);
    for (const Value &value : problem.values)
      forEachRun(value.unit, value.readers, size, [&](size_t run) {
        incoming[run] += value.forward + value.backward;
        received[run] += value.bytes;
      });
    for (const TiedWeight &weight : problem.tied)
      addTied(weight);
    for (size_t first = 0; first < size; ++first)
      for (size_t last = first + 1; last < size; ++last) {
        size_t run = first * size + last;
        incoming[run] += incoming[run - 1];
        received[run] += received[run - 1];
        tied[run] += tied[run - 1];
        returned[run] += returned[run - 1];
        working[run] = std::max(working[run - 1], problem.units[last - 1].working);
        closing[run] = std::max(closing[run - 1], problem.units[last - 1].closing);
      }
    addReplays();
  }

  /// Returns the costs of the passes of a run on a device, with the bytes of received values.
  pipeline::Stage getPasses(int first, int last, const Device &device) const {
    pipeline::Stage stage = subtract(own[last], own[first]);
    if (device.rates >= 0) {
      const std::vector<pipeline::Stage> &sums = others[device.rates];
      pipeline::Stage seconds = subtract(sums[last], sums[first]);
      stage.forward = seconds.forward;
      stage.backward = seconds.backward;
      stage.weight = seconds.weight;
    }
    for (double *seconds : {&stage.forward, &stage.backward, &stage.weight})
      *seconds /= device.speed;
    stage.saved += received[first * size + last];
    stage.resident += tied[first * size + last];
    stage.working = working[first * size + last];
    stage.closing = closing[first * size + last];
    return stage;
  }

  double getIncoming(int first, int last) const { return incoming[first * size + last]; }
  double getReplayed(int first, int last) const { return replayed[last] - replayed[first]; }
  int64_t getReturned(int first, int last) const { return returned[first * size + last]; }
  int64_t getOutside(int first, int last) const { return outside[last] - outside[first]; }

  /// Returns the least seconds that free `bytes` bytes; on return `bytes` is the rest that cannot
  /// be freed.
  double free(int first, int last, int64_t &bytes) const {
    double seconds = 0;
    for (const Class &group : classes) {
      int64_t most = group.bytes[last] - group.bytes[first];
      if (most <= 0)
        continue;
      int64_t taken = std::min(most, bytes);
      seconds += (group.seconds[last] - group.seconds[first]) * static_cast<double>(taken) /
                 static_cast<double>(most);
      if ((bytes -= taken) == 0)
        break;
    }
    return seconds;
  }

  /// Returns the seconds of a forward pass on the device, divided by those at speed 1.
  double getScale(int first, int last, const pipeline::Stage &stage) const {
    double usual = own[last].forward - own[first].forward;
    return usual > 0 ? stage.forward / usual : 1;
  }

private:
  /// Replays with similar seconds per byte.
  struct Class {
    std::vector<int64_t> bytes;
    std::vector<double> seconds;
  };
  static constexpr size_t kMostClasses = 64;

  std::vector<pipeline::Stage> addUp(const std::vector<pipeline::Stage> &units) const {
    std::vector<pipeline::Stage> sums(size);
    for (size_t unit = 0; unit + 1 < size; ++unit) {
      sums[unit + 1] = sums[unit];
      add(sums[unit + 1], units[unit]);
    }
    return sums;
  }

  /// Calls `add` for each run that receives a value: a range that begins behind the maker receives
  /// it once, for its first reader.
  template <typename Add>
  static void forEachRun(size_t unit, const std::vector<int> &readers, size_t size, Add add) {
    size_t before = unit + 1;
    for (size_t reader : readers)
      for (; before <= reader; ++before)
        add(before * size + reader + 1);
  }

  void addTied(const TiedWeight &weight) {
    forEachRun(weight.unit, weight.readers, size,
               [&](size_t run) { tied[run] += 2 * weight.bytes; });
    // A run that contains the unit receives a gradient unless it ends behind the last reader.
    size_t last = weight.readers.back() + 1;
    for (int first = 0; first <= weight.unit; ++first) {
      returned[first * size + weight.unit + 1] += weight.bytes;
      returned[first * size + last] -= weight.bytes;
    }
  }

  void addReplays() {
    std::vector<const Replay *> sorted;
    for (const Replay &replay : problem.replays)
      if (replay.bytes > 0)
        sorted.push_back(&replay);
    auto isCheaper = [](const Replay *a, const Replay *b) {
      return a->seconds * static_cast<double>(b->bytes) <
             b->seconds * static_cast<double>(a->bytes);
    };
    sortStably(sorted, isCheaper);
    size_t most = (sorted.size() + kMostClasses - 1) / kMostClasses, members = 0;
    for (const Replay *replay : sorted) {
      if (classes.empty() || ++members == most) {
        classes.push_back({std::vector<int64_t>(size), std::vector<double>(size)});
        members = 0;
      }
      classes.back().bytes[replay->unit + 1] += replay->bytes;
      classes.back().seconds[replay->unit + 1] += replay->seconds;
    }
    for (Class &group : classes)
      for (size_t unit = 1; unit < size; ++unit) {
        group.bytes[unit] += group.bytes[unit - 1];
        group.seconds[unit] += group.seconds[unit - 1];
      }
  }

  size_t size;
  const Problem &problem;
  std::vector<pipeline::Stage> own;
  std::vector<std::vector<pipeline::Stage>> others; // by rates
  std::vector<double> replayed;
  std::vector<int64_t> outside;
  std::vector<double> incoming;                                    // by first and last
  std::vector<int64_t> received, tied, returned, working, closing; // by first and last
  std::vector<Class> classes;                                      // classes, cheapest first
};

Loads::Loads(const Problem &problem) : problem(problem), sums(std::make_unique<Sums>(problem)) {}
Loads::~Loads() = default;

double Loads::getFloor(int first, int last, int stage) const {
  pipeline::Stage own = sums->getPasses(first, last, problem.devices[stage]);
  return own.forward + own.backward + own.weight;
}

namespace {

/// Bytes that the arena holds at once.
struct Peak {
  int64_t resident, working, closing, returned, slots;
  int64_t gradients; ///< bytes that grow while the last slot is freed

  /// Returns the bytes beside the other slots when the last slot is free.
  int64_t ending() const {
    return gradients > 0 ? gradients + std::max(working, closing) : closing;
  }

  /// Returns the peak bytes. Gradients of tied weights arrive at the end, when the stage's own
  /// weight gradients are the last.
  double count(int64_t slot) const {
    auto bytes = static_cast<double>(slot), others = static_cast<double>(slots - 1) * bytes;
    double last = std::max(bytes + static_cast<double>(working), static_cast<double>(ending()));
    double end = 2 * static_cast<double>(returned) + static_cast<double>(closing);
    return std::max(static_cast<double>(resident) + others + last, end);
  }

  /// Returns the largest slot within `bytes`; 0 if there is none.
  int64_t findSlot(int64_t bytes) const {
    int64_t left = bytes - resident, most = (left - working) / slots;
    if (slots > 1)
      most = std::min(most, (left - ending()) / (slots - 1));
    return std::max<int64_t>(0, most);
  }
};

} // namespace

/// The share of the room that is taken, or of the whole device where that is too much.
static double findFullness(double taken, int64_t room, int64_t outside) {
  if (taken <= static_cast<double>(room))
    return room > 0 ? std::min(1.0, taken / static_cast<double>(room)) : 0;
  double device = std::max<double>(1, static_cast<double>(room + outside));
  // A quotient of large numbers is rounded.
  return std::max((taken + static_cast<double>(outside)) / device, 1 + 1e-9);
}

Load Loads::get(int first, int last, int stage) const {
  const Device &device = problem.devices[stage];
  Load load;
  load.stage = sums->getPasses(first, last, device);
  double transfers =
      device.transfers * (device.rates < 0 ? 1 : problem.rates[device.rates].transfers);
  double scale = sums->getScale(first, last, load.stage);
  load.incoming = transfers * sums->getIncoming(first, last);
  load.replay = scale * sums->getReplayed(first, last);
  int64_t outside = sums->getOutside(first, last);
  int64_t slots = std::max<int64_t>(1, problem.slots.empty() ? 1 : problem.slots[stage]);
  int64_t gradients = device.endsForward ? load.stage.gradients : 0;
  Peak peak{load.stage.resident - outside - gradients,
            load.stage.working,
            load.stage.closing,
            sums->getReturned(first, last),
            slots,
            gradients};
  int64_t slot = load.stage.saved + load.stage.savedForWeight + load.stage.madeForWeight;
  // The room is negative if bytes outside of the arena do not fit.
  int64_t room = std::min(device.arena, device.memory - outside), wanted = room;
  if (device.share > 0)
    wanted = std::min(wanted, static_cast<int64_t>(device.share * peak.count(slot)));
  int64_t most = peak.findSlot(wanted);
  if (slot > most) {
    int64_t excess = slot - most, left = excess;
    double seconds = scale * sums->free(first, last, left);
    load.replay += seconds;
    load.stage.backward += seconds;
    slot -= excess - left;
    int64_t freed = std::min(excess - left, load.stage.saved);
    load.stage.saved -= freed;
    load.stage.savedForWeight -= excess - left - freed;
  }
  load.taken = peak.count(slot);
  load.fullness = findFullness(load.taken, room, outside);
  return load;
}

} // namespace reprise::stages
