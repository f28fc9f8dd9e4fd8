// reprise: the pieces of every rank over time, as a trace
#ifndef REPRISE_PLANNING_PIPELINE_TRACE_H
#define REPRISE_PLANNING_PIPELINE_TRACE_H

#include "reprise/Planning/Pipeline/Problem.h"

namespace reprise::pipeline {

/// Returns a Chrome trace with a thread per rank, which Perfetto opens.
std::string writeTrace(const Schedule &schedule, const Simulation &simulation);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_TRACE_H
