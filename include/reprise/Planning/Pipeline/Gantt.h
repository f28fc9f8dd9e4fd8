// reprise: the pieces of every rank over time, as a page and as a trace
#ifndef REPRISE_PLANNING_PIPELINE_GANTT_H
#define REPRISE_PLANNING_PIPELINE_GANTT_H

#include "reprise/Planning/Pipeline/Problem.h"

namespace reprise::pipeline {

/// Largest number of pieces on a page.
inline constexpr size_t kMostDrawn = 50'000;

/// Returns a page of HTML that needs no other file: a row per rank, a box per piece. The simulation
/// must have kept its times, of at most kMostDrawn pieces.
std::string drawGantt(const std::string &title, const Schedule &schedule,
                      const Simulation &simulation);

/// Returns only the chart of the page, for a page with the colours --text, --plot, --forward and
/// --backward.
std::string drawChart(const Schedule &schedule, const Simulation &simulation);

/// Returns a Chrome trace with a thread per rank, which Perfetto opens.
std::string writeTrace(const Schedule &schedule, const Simulation &simulation);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_GANTT_H
