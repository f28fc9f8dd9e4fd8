// reprise: schedules as files
#ifndef REPRISE_PLANNING_PIPELINE_SCHEDULEFILE_H
#define REPRISE_PLANNING_PIPELINE_SCHEDULEFILE_H

#include "reprise/Planning/Pipeline/Schedule.h"

namespace reprise::pipeline {

/// Reads what each rank runs, in order. A piece is STAGE, a letter and MICROBATCH, such as 2F0, as
/// torch.distributed.pipelining writes it: F forward, B backward, or I backward for inputs and W
/// backward for weights.
///
/// - JSON: {"version": 1, "ranks": [["0F0", "0B0"], ["1F0", "1B0"]]}
/// - CSV: a line per rank; empty lines and empty fields, in which a rank waits, mean nothing here.
///
/// Ranks, stages and micro-batches are as many as are named; stages lie as Shape says, in a vee if
/// the file has them so. Returns what is wrong with the text, and where; verify() judges the rest.
std::string readSchedule(std::string_view text, Schedule &schedule);

/// A piece as files have it.
std::string spell(const Piece &piece, bool splitsBackward);

/// The same as JSON.
std::string writeSchedule(const Schedule &schedule);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_SCHEDULEFILE_H
