// reprise: schedules as files
#ifndef REPRISE_PLANNING_PIPELINE_SCHEDULEFILE_H
#define REPRISE_PLANNING_PIPELINE_SCHEDULEFILE_H

#include "reprise/Planning/Pipeline/Schedule.h"

namespace reprise::pipeline {

/// Reads the pieces of each rank, in order. A piece is STAGE, a letter and MICROBATCH, such as 2F0,
/// as torch.distributed.pipelining writes it: F forward, B backward, or I backward for inputs and W
/// backward for weights.
///
/// - JSON: {"version": 1, "ranks": [["0F0", "0B0"], ["1F0", "1B0"]]}
/// - CSV: a line per rank; empty lines and empty fields, in which a rank waits, are ignored.
///
/// The file determines the numbers of ranks, stages and micro-batches. Stages lie as Shape says, in
/// a vee if the file has them in this order. Returns an error with its place, or an empty string;
/// verify() judges the schedule.
std::string readSchedule(std::string_view text, Schedule &schedule);

/// Returns a piece as files spell it.
std::string spell(const Piece &piece, bool splitsBackward);

/// Returns the schedule as JSON.
std::string writeSchedule(const Schedule &schedule);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_SCHEDULEFILE_H
