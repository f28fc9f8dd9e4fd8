// reprise: what a pipeline costs, its judge, and its simulation
#ifndef REPRISE_PLANNING_PIPELINE_PROBLEM_H
#define REPRISE_PLANNING_PIPELINE_PROBLEM_H

#include "reprise/Planning/Pipeline/Schedule.h"

#include <optional>

namespace reprise::pipeline {

/// What one stage takes for one micro-batch. Without a piece of its own, the gradients of weights
/// belong to the backward pass.
struct Stage {
  double forward = 0, backward = 0, weight = 0; ///< seconds
  int64_t saved = 0;          ///< bytes from the forward pass to the end of the backward pass
  int64_t savedForWeight = 0; ///< bytes from the forward pass to the gradients of the weights
  int64_t madeForWeight = 0;  ///< bytes from the backward pass to the gradients of the weights
  int64_t working = 0;        ///< bytes that any of its passes takes while it runs
  int64_t resident = 0;       ///< bytes at all times: parameters, state, accumulated gradients
  int64_t closing = 0;        ///< bytes when gradients of weights end, and all saved is free
};

/// A value that one stage makes and a later one reads; its gradient goes the other way.
struct Transfer {
  int from = 0, to = 0;             ///< stages, from < to
  double forward = 0, backward = 0; ///< seconds per micro-batch, beside whatever the ranks compute
};

/// - A message of a transfer leaves when its piece ends, one after the other in each direction.
/// - Each direction has `buffers` buffers: a piece waits with message n until the reader of message
///   n - buffers has ended. Between stages of one rank messages take no time, and no buffer.
struct Pipeline {
  std::vector<Stage> stages;
  std::vector<Transfer> transfers;
  std::vector<int64_t> memory; ///< bytes per rank; empty: no limit
  int64_t buffers = 2;
};

/// Stages without costs, each of which reads what the one before it makes. There is room for all
/// messages: an order that is fine then has as many buffers as it needs when it is compiled.
Pipeline makeCostlessChain(const Shape &shape);

struct Defect {
  enum class Kind { Shape, Count, Order, Cycle, Slot, Memory };
  Kind kind;
  std::string message;
};

/// How many micro-batches of each stage are between their forward pass and their last piece at
/// once: as many slots hold what it saves. The schedule must have no defect of count or order.
std::vector<int64_t> countSlots(const Schedule &schedule);

/// The first thing that is wrong with a schedule, before anything runs:
///
/// - Every pass of every stage over every micro-batch stands on its rank once; the passes of one
///   micro-batch are in order, and so are the micro-batches of each pass.
/// - No ranks wait for each other in a circle. The message lists the circle.
/// - With `slots` per stage, micro-batch n lies in slot n mod slots: no slot is taken again before
///   the last piece that reads it.
/// - The bytes of every rank stay within its memory at every piece.
std::optional<Defect> verify(const Schedule &schedule, const Pipeline &pipeline,
                             const std::vector<int64_t> *slots = nullptr);

/// What a schedule takes. All seconds begin with the first piece.
struct Simulation {
  double makespan = 0;
  std::vector<double> busy;                ///< seconds per rank
  std::vector<int64_t> peaks;              ///< bytes per rank
  std::vector<std::vector<double>> begins; ///< of each piece, as the schedule lists them
  std::vector<std::vector<double>> ends;

  /// Idle time over all time, over all ranks. For equal stages (p - 1) / (m + p - 1) with 1f1b.
  double bubbleOfTotal() const;
  /// What the step takes beyond its busiest rank, as a share of that rank's work: the convention of
  /// Narayanan et al. 2021. For equal stages (p - 1) / m with 1f1b.
  double bubbleOfIdeal() const;
};

/// Every piece begins as soon as its rank, its messages and its buffers let it. O(n) of the pieces.
/// The schedule must have no defect but that of memory. `keepsTimes`: fills begins and ends.
Simulation simulate(const Schedule &schedule, const Pipeline &pipeline, bool keepsTimes = true);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_PROBLEM_H
