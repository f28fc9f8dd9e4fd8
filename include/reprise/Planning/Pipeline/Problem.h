// reprise: the costs of a pipeline, the judge of schedules, and their simulation
#ifndef REPRISE_PLANNING_PIPELINE_PROBLEM_H
#define REPRISE_PLANNING_PIPELINE_PROBLEM_H

#include "reprise/Planning/Pipeline/Schedule.h"

#include <optional>

namespace reprise::pipeline {

/// Costs of one stage for one micro-batch. If the gradients of weights are no separate piece, they
/// belong to the backward pass.
struct Stage {
  double forward = 0, backward = 0, weight = 0; ///< seconds
  int64_t saved = 0;          ///< bytes from the forward pass to the end of the backward pass
  int64_t savedForWeight = 0; ///< bytes from the forward pass to the gradients of the weights
  int64_t madeForWeight = 0;  ///< bytes from the backward pass to the gradients of the weights
  int64_t working = 0;        ///< bytes of any of its passes while it runs
  int64_t resident = 0;       ///< bytes at all times: parameters, state, accumulated gradients
  int64_t gradients = 0;      ///< bytes of `resident` from the first gradients of weights on
  int64_t closing = 0;        ///< bytes when gradients of weights end, and all saved bytes are free
};

/// Value that one stage computes and a later stage reads; its gradient goes the other way.
struct Transfer {
  int from = 0, to = 0; ///< stages, from < to
  /// Seconds per micro-batch, beside the computation of the ranks.
  double forward = 0, backward = 0;

  int countSkipped() const { return to - from - 1; }
};

/// Stages, transfers and limits of a pipeline.
///
/// - A message of a transfer leaves when its piece ends, one after the other in each direction.
/// - Each direction has `buffers` buffers, and one more for each stage that the transfer skips,
///   because the sender is ahead of its reader by that many more micro-batches. A piece waits with
///   message n until the reader of message n - buffers has ended. Between stages of one rank
///   messages need no time and no buffer.
struct Pipeline {
  std::vector<Stage> stages;
  std::vector<Transfer> transfers;
  std::vector<int64_t> memory; ///< bytes per rank; empty: no limit
  int64_t buffers = 2;
  /// Seconds of each backward pass, by stage and micro-batch, that need no message, such as those
  /// of replays: they may run while the rank waits for the message. Empty: none.
  std::vector<std::vector<double>> early = {};

  double getEarly(const Piece &piece) const {
    bool hasEarly = piece.pass == Pass::Backward && !early.empty();
    return hasEarly ? early[piece.stage][piece.microbatch] : 0;
  }
};

/// Makes stages without costs, each of which reads the result of the stage before it. The number of
/// buffers is unlimited: a schedule without a defect gets the buffers that it needs when it is
/// compiled.
Pipeline makeCostlessChain(const Shape &shape);

struct Defect {
  enum class Kind { Shape, Count, Order, Cycle, Slot, Memory };
  Kind kind;
  std::string message;
};

/// Returns, per stage, the largest number of micro-batches between their forward pass and their
/// last piece: the number of slots for saved values. The schedule must have no defect of count or
/// order.
std::vector<int64_t> countSlots(const Schedule &schedule);

/// Returns the first defect of a schedule, before it runs:
///
/// - Every pass of every stage over every micro-batch stands on its rank once; the passes of one
///   micro-batch are in order, and so are the micro-batches of each pass.
/// - No ranks wait for each other in a circle. The message lists the circle.
/// - With `slots` per stage, micro-batch n lies in slot n mod slots: no slot is reused before the
///   last piece that reads it.
/// - The bytes of every rank stay within its memory at every piece.
std::optional<Defect> verify(const Schedule &schedule, const Pipeline &pipeline,
                             const std::vector<int64_t> *slots = nullptr);

/// Simulated run of a schedule. All seconds count from the first piece.
struct Simulation {
  double makespan = 0;
  std::vector<double> busy;                ///< seconds per rank
  std::vector<int64_t> peaks;              ///< bytes per rank
  std::vector<std::vector<double>> begins; ///< begins of the pieces, in the order of the schedule
  std::vector<std::vector<double>> ends;
  /// Seconds that the rank waits for each piece, without the early seconds of the piece.
  std::vector<std::vector<double>> waits;

  /// Returns idle time over all time, over all ranks. For equal stages (p - 1) / (m + p - 1) with
  /// 1f1b.
  double bubbleOfTotal() const;
  /// Returns the time of the step beyond its busiest rank, as a share of that rank's work: the
  /// convention of Narayanan et al. 2021. For equal stages (p - 1) / m with 1f1b.
  double bubbleOfIdeal() const;
};

/// Simulates a schedule: every piece begins as soon as its rank, its messages and its buffers
/// allow. O(n) in the pieces. The schedule must have no defect except that of memory. `keepsTimes`
/// fills begins, ends and waits.
Simulation simulate(const Schedule &schedule, const Pipeline &pipeline, bool keepsTimes = true);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_PROBLEM_H
