// reprise: lower bounds of the cost of plans within a budget, in any order of the launches
#include "Pricer.h"
#include "reprise/Planning/Checkpoint/Bound/Bound.h"

#include <algorithm>
#include <memory>
#include <optional>

using namespace reprise;
using namespace reprise::checkpoint;
using Label = Problem::Label;
using Operation = Problem::Operation;
using Value = Problem::Value;

namespace {

/// The readers of each value. Operations of one launch that are never replayed run together, once.
struct Graph {
  Graph(const Problem &problem, const Footprint &footprint)
      : problem(problem), least(std::make_shared<LeastCosts>(findLeastCosts(problem, footprint))),
        readers(problem.values.size()), groupOf(problem.operations.size()),
        groups(footprint.numLaunches), isViewed(findViewed(problem, footprint)) {
    for (size_t i = 0; i < problem.operations.size(); ++i) {
      const Operation &op = problem.operations[i];
      bool isAlone = op.primal || footprint.launches[i] == kNoLaunch;
      groupOf[i] = isAlone ? static_cast<int>(groups.size()) : footprint.launches[i];
      if (isAlone)
        groups.emplace_back();
      groups[groupOf[i]].push_back(static_cast<int>(i));
      for (int operand : op.operands)
        if (operand != kAvailable)
          readers[operand].push_back(static_cast<int>(i));
    }
  }

  /// The operations that run with this one, itself included, in program order.
  const std::vector<int> &findTogether(int operation) const { return groups[groupOf[operation]]; }

  /// Finds the operations that depend on the operation, directly or through others.
  std::vector<bool> findAfter(int operation) const {
    return reach(operation, [&](const Operation &op, auto visit) {
      for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
        for (int reader : readers[value])
          visit(reader);
    });
  }
  std::vector<bool> findBefore(int operation) const {
    return reach(operation, [&](const Operation &op, auto visit) {
      for (int operand : op.operands)
        if (operand != kAvailable)
          visit(problem.values[operand].operation);
    });
  }

  const Problem &problem;
  std::shared_ptr<const LeastCosts> least;
  std::vector<std::vector<int>> readers; // per value: operations
  std::vector<int> groupOf;              // per operation
  std::vector<std::vector<int>> groups;  // operations; the first ones by launch
  std::vector<bool> isViewed;            // per value: by a view

private:
  /// The operation itself is reached only by a way back to it.
  template <typename Step> std::vector<bool> reach(int operation, Step step) const {
    std::vector<bool> reached(problem.operations.size()), isListed(groups.size());
    std::vector<int> stack = groups[groupOf[operation]];
    auto visit = [&](int other) {
      if (isListed[groupOf[other]])
        return;
      isListed[groupOf[other]] = true;
      for (int with : groups[groupOf[other]]) {
        stack.push_back(with);
        reached[with] = true;
      }
    };
    while (!stack.empty()) {
      int next = stack.back();
      stack.pop_back();
      step(problem.operations[next], visit);
    }
    return reached;
  }
};

/// A kernel's view of the step: what must have run before, and what reads of that can only run in
/// it or later.
class Moment {
public:
  Moment(const Graph &graph, const Footprint &footprint, int operation);

  /// The bytes that are there if everything is kept, and whatever is chosen.
  int64_t pressure = 0, fixed = 0;

  /// The bytes of any plan, at least.
  int64_t findLeastBytes(const IsOver &isOver) const;
  /// Seconds of replays of any plan for which the bytes are enough, at least.
  double findSeconds(int64_t budget, const IsOver &isOver) const;

private:
  struct Point {
    double bytes = 0, seconds = 0;
  };

  bool isStoredBefore(int value) const {
    int operation = problem.values[value].operation;
    return before[operation] && footprint.isStored[value] &&
           footprint.launches[operation] != kNoLaunch &&
           footprint.launches[operation] != footprint.launches[own.front()];
  }
  void findReads();
  void findStays(const Graph &graph);
  void addUp();
  std::optional<Point> priceAt(double price, double second, const IsOver &isOver) const;

  const Problem &problem;
  const Footprint &footprint;
  std::shared_ptr<const LeastCosts> least;
  std::vector<int> own;            // operations of the kernel
  std::vector<bool> before, after; // per operation: of which it needs a result, and that need its
  std::vector<bool> isThere;       // per value: in memory when the kernel runs
  std::vector<bool> isReadLater, isReadElsewhere;
  std::vector<bool> isReadFromMemory; // per value: later, by a kernel that may read a replay
  std::vector<bool> mustGo;           // per value: it must not be kept
};

} // namespace

Moment::Moment(const Graph &graph, const Footprint &footprint, int operation)
    : problem(graph.problem), footprint(footprint), least(graph.least),
      own(graph.findTogether(operation)), before(graph.findBefore(operation)),
      after(graph.findAfter(operation)), isThere(problem.values.size()),
      isReadLater(problem.values.size()), isReadElsewhere(problem.values.size()),
      isReadFromMemory(problem.values.size()), mustGo(problem.values.size()) {
  findReads();
  findStays(graph);
  addUp();
}

/// Reads through views count for what they are views of.
void Moment::findReads() {
  std::vector<bool> isOwn(problem.operations.size());
  for (int operation : own)
    isOwn[operation] = true;
  for (size_t i = 0; i < problem.operations.size(); ++i) {
    const Operation &op = problem.operations[i];
    if (footprint.launches[i] == kNoLaunch)
      continue;
    for (int operand : op.operands) {
      int root = findRoot(problem, footprint, operand);
      if (root < 0)
        continue;
      int maker = problem.values[root].operation;
      bool isForward = !readsBack(op, problem.operations[maker]);
      if (isForward && footprint.isStored[root] &&
          footprint.launches[i] != footprint.launches[maker])
        isReadElsewhere[root] = true;
      if (!isStoredBefore(root))
        continue;
      // Only elementwise replays run inside the kernel that reads them.
      if (isOwn[i] && (usesMemory(op) || problem.operations[maker].kind != Kind::Elementwise))
        isThere[root] = true;
      isReadLater[root] = isReadLater[root] || after[i];
      if (after[i] && usesMemory(op) && !isForward && !isFixed(problem, root))
        isReadFromMemory[root] = true;
    }
  }
}

/// Decides the values that have no choice. A value that no replay can make stays in memory. A value
/// that must be replayed does not stay, unless a forward read of it may come later.
void Moment::findStays(const Graph &graph) {
  for (size_t value = 0; value < problem.values.size(); ++value) {
    const Value &entry = problem.values[value];
    const Operation &maker = problem.operations[entry.operation];
    if ((entry.outlives || !maker.primal) && isReadLater[value])
      isThere[value] = true;
    mustGo[value] = entry.label == Label::MustRecompute && !graph.isViewed[value] &&
                    footprint.lastOutside[value] < 0 &&
                    std::all_of(
                        graph.readers[value].begin(), graph.readers[value].end(),
                        [&](int reader) {
                          return before[reader] || readsBack(problem.operations[reader], maker);
                        });
  }
}

/// Adds up the bytes that are in memory in any case. Neighbours are left out, since a footprint
/// does not say which launches make and read them.
void Moment::addUp() {
  for (size_t value = 0; value < problem.values.size(); ++value) {
    fixed += isThere[value] ? problem.values[value].bytes : 0;
    pressure += isReadLater[value] && !isThere[value] ? problem.values[value].bytes : 0;
  }
  // Other results than these may take the place of an operand.
  for (int operation : own) {
    const Operation &op = problem.operations[operation];
    fixed += footprint.scratchOf(operation);
    for (int value = op.firstResult; value < op.firstResult + op.numResults; ++value)
      if (usesMemory(op) && !footprint.takesPlaces(problem, operation) && isReadElsewhere[value])
        fixed += problem.values[value].bytes;
  }
  pressure += fixed;
}

/// Returns the cheapest choice at a price per byte; none if the search is over.
std::optional<Moment::Point> Moment::priceAt(double price, double second,
                                             const IsOver &isOver) const {
  ReplayCut cut(problem, footprint, *least);
  std::vector<bool> mayRun(problem.operations.size());
  std::vector<ReplayCut::Value> values(problem.values.size());
  for (size_t i = 0; i < problem.operations.size(); ++i)
    mayRun[i] = problem.operations[i].primal && footprint.launches[i] != kNoLaunch && before[i];
  for (size_t value = 0; value < values.size(); ++value) {
    const Value &entry = problem.values[value];
    if (!mayRun[entry.operation] || isThere[value] || !isStoredBefore(static_cast<int>(value)))
      continue;
    values[value] = {isReadLater[value] ? ReplayCut::Need::Always : ReplayCut::Need::IfRead,
                     price * static_cast<double>(entry.bytes), entry.label == Label::MustSave,
                     mustGo[value], isReadLater[value] && isReadFromMemory[value]};
  }
  cut.solve(mayRun, values, second, ReplayCut::Steps::Once, isOver);
  if (cut.isEnded())
    return std::nullopt;
  Point point;
  point.seconds = cut.findSeconds();
  for (size_t value = 0; value < values.size(); ++value)
    if (cut.isKept(static_cast<int>(value))) {
      point.bytes += static_cast<double>(problem.values[value].bytes);
    }
  return point;
}

/// Whatever is chosen, if the search is over.
int64_t Moment::findLeastBytes(const IsOver &isOver) const {
  std::optional<Point> least = priceAt(1, 0, isOver);
  return fixed + (least ? static_cast<int64_t>(least->bytes) : 0);
}

/// Returns the lower bound in seconds. Moves the price to where the lines of two plans meet, until
/// no plan lies below both.
double Moment::findSeconds(int64_t budget, const IsOver &isOver) const {
  static constexpr int kMostPrices = 30;
  auto room = static_cast<double>(budget - fixed);
  std::optional<Point> dear = priceAt(1, 0, isOver), cheap = priceAt(0, 1, isOver);
  if (!dear || !cheap)
    return 0;
  double best = cheap->seconds;
  for (int step = 0; step < kMostPrices && cheap->bytes > room; ++step) {
    if (cheap->bytes <= dear->bytes || dear->seconds <= cheap->seconds)
      break;
    double price = (dear->seconds - cheap->seconds) / (cheap->bytes - dear->bytes);
    std::optional<Point> point = priceAt(price, 1, isOver);
    if (!point)
      break;
    double value = point->seconds + price * (point->bytes - room);
    best = std::max(best, value);
    if (value >= (dear->seconds + price * (dear->bytes - room)) * (1 - 1e-9))
      break;
    (point->bytes > room ? cheap : dear) = point;
  }
  return best;
}

/// Chooses `number` kernels for which the most bytes must be in memory in any order, among the
/// launches with the most bytes in program order.
static std::vector<Moment> chooseMoments(const Problem &problem, const Footprint &footprint,
                                         int number, const IsOver &isOver) {
  static constexpr size_t kMostOperations = 128, kWork = 4'000'000;
  Graph graph(problem, footprint);
  Meter meter(problem, footprint);
  meter.measure(std::vector<Choice>(problem.values.size(), Choice::Save), 0);
  const std::vector<int64_t> &profile = meter.profile();
  std::vector<std::pair<int64_t, int>> order;
  for (size_t i = 0; i < problem.operations.size(); ++i)
    if (int launch = footprint.launches[i]; launch != kNoLaunch)
      order.push_back({-profile[launch], static_cast<int>(i)});
  std::sort(order.begin(), order.end());
  order.resize(std::min({order.size(), kMostOperations, 1 + kWork / (order.size() + 1)}));
  std::vector<Moment> moments;
  for (auto [bytes, operation] : order) {
    if (isOver && isOver())
      break;
    Moment moment(graph, footprint, operation);
    bool isNew = std::none_of(moments.begin(), moments.end(), [&](const Moment &other) {
      return other.pressure == moment.pressure && other.fixed == moment.fixed;
    });
    if (isNew)
      moments.push_back(std::move(moment));
  }
  std::vector<std::pair<int64_t, size_t>> ranks;
  for (size_t i = 0; i < moments.size(); ++i)
    ranks.push_back({-moments[i].pressure, i});
  std::sort(ranks.begin(), ranks.end());
  ranks.resize(std::min<size_t>(number, ranks.size()));
  std::vector<Moment> most;
  for (auto [pressure, index] : ranks)
    most.push_back(moments[index]);
  return most;
}

Bound reprise::checkpoint::findAnyOrderBound(const Problem &problem, const Footprint &footprint,
                                             int64_t budget, int moments, const IsOver &isOver) {
  Bound bound;
  if (isOver && isOver()) {
    bound.isTruncated = true;
    return bound;
  }
  for (const Moment &moment : chooseMoments(problem, footprint, moments, isOver)) {
    int64_t missing = moment.findLeastBytes(isOver) - budget;
    bound.missing = std::max(bound.missing, missing);
    bound.isFeasible &= missing <= 0;
    if (bound.isFeasible)
      bound.seconds = std::max(bound.seconds, moment.findSeconds(budget, isOver));
  }
  bound.isTruncated = isOver && isOver();
  return bound;
}
