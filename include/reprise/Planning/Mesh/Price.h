// reprise: what a mesh of devices and a schedule make of a step
#ifndef REPRISE_PLANNING_MESH_PRICE_H
#define REPRISE_PLANNING_MESH_PRICE_H

#include "reprise/Planning/Mesh/Step.h"
#include "reprise/Planning/Pipeline/Links.h"

namespace reprise::mesh {

/// Way to run a step on replicas * parts * ranks devices.
struct Point {
  int64_t replicas = 1, parts = 1;
  int ranks = 1, chunks = 1; ///< devices of a pipeline, and stages of each device
  int64_t microbatches = 1;  ///< micro-batches of all replicas
  const pipeline::Rule *rule = nullptr;
  bool replaysGathers = false; ///< whether each pass gathers parameters again

  int stages() const { return ranks * chunks; }
  int64_t ownMicrobatches() const { return microbatches / replicas; }
};

/// Limits and links of each device.
struct Device {
  int64_t memory = INT64_MAX; ///< bytes
  int64_t arena = INT64_MAX;  ///< bytes of arena and workspace
  double share = 0;           ///< if above 0: limit as a share of the arena of a stage
  pipeline::Links links;
  double byteSeconds = 0; ///< seconds per byte that a launch reads or writes; 0: updates take none
};

/// Price of a point.
struct Price {
  double makespan = 0;        ///< seconds of all passes
  double exchange = 0;        ///< seconds of gathers and sums of replicas that hide behind no pass
  double update = 0;          ///< seconds of the updates of the device with the most bytes
  double bubble = 0;          ///< idle time over all time
  std::vector<int64_t> peaks; ///< bytes by rank of a replica
  std::vector<int> begins;    ///< first units of the stages
  /// Most sends of parameters that a device begins before its first pass: one per parameter, other
  /// replica and gather.
  int64_t sends = 0;
  /// Bytes of the fullest device over its memory or arena, for the cut that fills it least; above 1
  /// no cut fits.
  double fullness = 0;

  bool fits() const { return fullness <= 1; }
  double seconds() const { return makespan + exchange + update; }
  int64_t peak() const;
};

/// Returns a lower bound of the seconds of a point.
double findLeastSeconds(const Step &step, const Point &point);

/// Returns the problem of the cut into the stages of a point: with the arrays, gathers and sums of
/// its replicas. `lanes` is the number of lanes of a sum over the batch.
stages::Problem makeProblem(const Step &step, const Point &point, const Device &device,
                            int64_t lanes, const pipeline::Schedule &schedule);

/// Returns the seconds in which replicas add `bytes` bytes of a stage: one message to the replica
/// at distance 1, 2, 4, …, each with half of what is left, or with parts of a model with all of it.
double getSumSeconds(const Point &point, const pipeline::Links &links, double bytes);

/// Returns the seconds in which a replica receives `bytes` bytes of a stage, an equal part from
/// each owner.
double getGatherSeconds(const Point &point, const pipeline::Links &links, double bytes);

/// Prices a point with the exact cut into stages. A point without a cut that fits has the least
/// fullness and no seconds. The step must have as many units as the point has stages.
Price findPrice(const Step &step, const Point &point, const Device &device, int64_t lanes);

} // namespace reprise::mesh

#endif // REPRISE_PLANNING_MESH_PRICE_H
