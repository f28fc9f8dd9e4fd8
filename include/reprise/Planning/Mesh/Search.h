// reprise: the search for the fastest ways to run a step on a number of devices
#ifndef REPRISE_PLANNING_MESH_SEARCH_H
#define REPRISE_PLANNING_MESH_SEARCH_H

#include "reprise/Planning/Mesh/Price.h"

#include <functional>
#include <map>

namespace reprise::mesh {

/// Points that a search may visit. An empty list, and 0, leave a choice free.
struct Space {
  int64_t devices = 1;
  int64_t batch = 1;                ///< samples; divided by all numbers of micro-batches
  std::vector<int64_t> parts = {1}; ///< possible numbers of parts of the model
  int64_t replicas = 0, ranks = 0, chunks = 0, microbatches = 0;
  int64_t lanes = 0; ///< lanes of sums over the batch; 0: as many as replicas
  const pipeline::Rule *rule = nullptr;
  std::optional<bool> replaysGathers;
  bool listsUnbuilt = false; ///< whether points are listed that the compiler does not build
  Device device;
  size_t wanted = 10; ///< number of points that are listed
};

/// Why a point is not among the best.
enum class Reason {
  Slower,  ///< the point, or its lower bound, is slower than the best points
  Memory,  ///< no cut fits the devices
  Units,   ///< the step has fewer places for cuts than stages
  Lanes,   ///< lanes do not divide the micro-batches, or replicas do not divide the lanes
  Parts,   ///< the step cannot be cut so
  Sends,   ///< the compiler refuses a program with so many sends
  Unbuilt, ///< the compiler does not build such a program
};
/// Returns the text of a reason, as reports print it.
const char *describe(Reason reason);

/// Point with its price.
struct Priced {
  Point point;
  Price price;
  bool isBuilt = true; ///< whether the compiler builds it
};

/// Points that share a reason.
struct Missed {
  int64_t count = 0;
  /// Nearest miss: the least full point, or the fastest lower bound. None if no number says how
  /// near a point is.
  std::optional<Point> nearest;
  double measure = 0; ///< fullness, or seconds, of the nearest miss
};

struct Found {
  /// Best points, the fastest first: as many as wanted, or all that fit.
  std::vector<Priced> best;
  std::map<Reason, Missed> missed;
  int64_t points = 0, priced = 0; ///< number of points, and of points that were cut
};

/// Returns whether the compiler builds programs of a point: parts of a model run in one stage per
/// device, by a schedule that does not split the backward pass, and keep their parameters.
bool isBuilt(const Point &point);

/// Returns lanes of a sum over the batch for a point: those of the space, or one per replica.
int64_t getLanes(const Space &space, const Point &point);

/// Gives the step with so many parts of the model and micro-batches; null if there is none.
using GetStep = std::function<const Step *(int64_t parts, int64_t microbatches)>;

/// Lists all points of a space, in a fixed order.
std::vector<Point> listPoints(const Space &space);

/// Tells whether the compiler refuses a point for its sends.
using IsRefused = std::function<bool(const Point &point, const Price &price)>;

/// Finds the fastest points that fit and are not refused. Points are visited by their lower bounds,
/// and a point whose bound is slower than all wanted points is not cut. Of two points of equal
/// seconds the first of listPoints is better.
Found search(const Space &space, const GetStep &getStep, const IsRefused &isRefused = nullptr);

} // namespace reprise::mesh

#endif // REPRISE_PLANNING_MESH_SEARCH_H
