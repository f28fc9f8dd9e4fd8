// reprise: the points of a search for a mesh
#include "reprise/Planning/Mesh/Search.h"

#include <algorithm>

namespace reprise::mesh {

const char *describe(Reason reason) {
  switch (reason) {
  case Reason::Slower:
    return "slower";
  case Reason::Memory:
    return "too little memory";
  case Reason::Units:
    return "too few places for cuts";
  case Reason::Lanes:
    return "no lanes for the replicas";
  case Reason::Parts:
    return "refused cuts of the step";
  case Reason::Sends:
    return "too many transfers in flight";
  case Reason::Unbuilt:
    return "unbuilt by the compiler";
  }
  return "";
}

bool isBuilt(const Point &point) {
  return point.parts == 1 || (!point.rule->splitsBackward && !point.replaysGathers);
}

int64_t getLanes(const Space &space, const Point &point) {
  return space.lanes ? space.lanes : point.replicas;
}

namespace {

/// Writer of the points of one mesh.
class Mesh {
public:
  Mesh(const Space &space, Point start, std::vector<Point> &points)
      : space(space), start(start), points(points) {}

  /// Adds points of each number of micro-batches: the replicas times 1, 2, 4, …, and the batch. All
  /// of them divide the batch.
  void add() {
    if (space.microbatches)
      return addRules(space.microbatches);
    for (int64_t count = start.replicas; count <= space.batch; count *= 2)
      if (space.batch % count == 0)
        addRules(count);
    int64_t own = space.batch / start.replicas;
    if (space.batch % start.replicas == 0 && (own & (own - 1)) != 0)
      addRules(space.batch);
  }

private:
  static constexpr int kMostChunks = 4;

  bool isWished(const pipeline::Rule &rule) const { return !space.rule || space.rule == &rule; }

  void addRules(int64_t microbatches) {
    start.microbatches = microbatches;
    if (microbatches % start.replicas != 0)
      return;
    if (start.ranks == 1)
      return addGathers(*pipeline::findRule(pipeline::kUsualRule), 1);
    for (const pipeline::Rule &rule : pipeline::getRules()) {
      int most = rule.mostChunks > 0 ? rule.mostChunks : kMostChunks;
      for (int chunks = rule.leastChunks; isWished(rule) && chunks <= most; ++chunks)
        if (space.chunks == 0 || space.chunks == chunks)
          addGathers(rule, chunks);
      if (isWished(rule) && space.chunks > most && rule.mostChunks == 0)
        addGathers(rule, static_cast<int>(space.chunks));
    }
  }

  void addGathers(const pipeline::Rule &rule, int chunks) {
    start.rule = &rule;
    start.chunks = chunks;
    for (bool replays : {false, true}) {
      bool isWished = !space.replaysGathers || *space.replaysGathers == replays;
      if (!isWished || (replays && start.replicas == 1))
        continue;
      start.replaysGathers = replays;
      points.push_back(start);
    }
  }

  const Space &space;
  Point start;
  std::vector<Point> &points;
};

} // namespace

std::vector<Point> listPoints(const Space &space) {
  std::vector<Point> points;
  for (int64_t replicas = 1; replicas <= space.devices; ++replicas) {
    if (space.devices % replicas != 0 || (space.replicas && space.replicas != replicas))
      continue;
    for (int64_t parts : space.parts) {
      if (space.devices / replicas % parts != 0)
        continue;
      Point start;
      start.replicas = replicas;
      start.parts = parts;
      start.ranks = static_cast<int>(space.devices / replicas / parts);
      if (!space.ranks || space.ranks == start.ranks)
        Mesh(space, start, points).add();
    }
  }
  return points;
}

} // namespace reprise::mesh
