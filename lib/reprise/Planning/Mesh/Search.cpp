// reprise: the search for the fastest ways to run a step on a number of devices
#include "reprise/Planning/Mesh/Search.h"

#include "reprise/Support/StableSort.h"

#include <algorithm>

namespace reprise::mesh {

namespace {

/// Point that is not cut yet.
struct Candidate {
  Point point;
  const Step *step;
  double least; ///< lower bound of its seconds
};

class Search {
public:
  Search(const Space &space, const GetStep &getStep, const IsRefused &isRefused)
      : space(space), getStep(getStep), isRefused(isRefused) {}

  Found run() {
    std::vector<Candidate> candidates;
    for (const Point &point : listPoints(space)) {
      ++found.points;
      if (std::optional<Reason> reason = refuse(point))
        miss(*reason, point, std::nullopt);
      else
        add(point, candidates);
    }
    sortStably(candidates,
               [](const Candidate &a, const Candidate &b) { return a.least < b.least; });
    for (const Candidate &candidate : candidates)
      visit(candidate);
    while (found.best.size() > space.wanted) {
      const Priced &last = found.best.back();
      miss(Reason::Slower, last.point, last.price.seconds());
      found.best.pop_back();
    }
    return std::move(found);
  }

private:
  /// Returns the reason that holds without the step.
  std::optional<Reason> refuse(const Point &point) const {
    int64_t lanes = getLanes(space, point), own = lanes / point.replicas;
    if (point.microbatches % lanes != 0 || lanes % point.replicas != 0 || (own & (own - 1)) != 0)
      return Reason::Lanes;
    if (!isBuilt(point) && !space.listsUnbuilt)
      return Reason::Unbuilt;
    return std::nullopt;
  }

  void add(const Point &point, std::vector<Candidate> &candidates) {
    const Step *step = getStep(point.parts, point.microbatches);
    if (!step)
      return miss(Reason::Parts, point, std::nullopt);
    if (step->countUnits() < static_cast<size_t>(point.stages()))
      return miss(Reason::Units, point, std::nullopt);
    candidates.push_back({point, step, findLeastSeconds(*step, point)});
  }

  void visit(const Candidate &candidate) {
    if (found.best.size() >= space.wanted &&
        candidate.least > found.best[space.wanted - 1].price.seconds())
      return miss(Reason::Slower, candidate.point, candidate.least);
    ++found.priced;
    Price price =
        findPrice(*candidate.step, candidate.point, space.device, getLanes(space, candidate.point));
    if (!price.fits())
      return miss(Reason::Memory, candidate.point, price.fullness);
    if (isRefused && !space.listsUnbuilt && isRefused(candidate.point, price))
      return miss(Reason::Sends, candidate.point, std::nullopt);
    auto place = std::upper_bound(
        found.best.begin(), found.best.end(), price.seconds(),
        [](double seconds, const Priced &other) { return seconds < other.price.seconds(); });
    found.best.insert(place, {candidate.point, std::move(price), isBuilt(candidate.point)});
  }

  void miss(Reason reason, const Point &point, std::optional<double> measure) {
    Missed &missed = found.missed[reason];
    ++missed.count;
    if (!measure || (missed.nearest && missed.measure <= *measure))
      return;
    missed.nearest = point;
    missed.measure = *measure;
  }

  const Space &space;
  const GetStep &getStep;
  const IsRefused &isRefused;
  Found found;
};

} // namespace

Found search(const Space &space, const GetStep &getStep, const IsRefused &isRefused) {
  return Search(space, getStep, isRefused).run();
}

} // namespace reprise::mesh
