// reprise: what every rank runs when, as a page and as a trace
#ifndef REPRISE_PLANNING_PIPELINE_GANTT_H
#define REPRISE_PLANNING_PIPELINE_GANTT_H

#include "reprise/Planning/Pipeline/Problem.h"

namespace reprise::pipeline {

/// More pieces than a page can show.
inline constexpr size_t kMostDrawn = 50'000;

/// A page of HTML that needs no other file: a row per rank, a box per piece. The simulation must
/// have kept its times, of at most kMostDrawn pieces.
std::string drawGantt(const std::string &title, const Schedule &schedule,
                      const Simulation &simulation);

/// The chart of the page alone, for a page that has the colours --text, --plot, --forward and
/// --backward.
std::string drawChart(const Schedule &schedule, const Simulation &simulation);

/// The same as a Chrome trace, which Perfetto opens: a thread per rank.
std::string writeTrace(const Schedule &schedule, const Simulation &simulation);

} // namespace reprise::pipeline

#endif // REPRISE_PLANNING_PIPELINE_GANTT_H
