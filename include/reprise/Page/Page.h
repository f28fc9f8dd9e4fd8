// reprise: the page that shows a report, a curve or a schedule
#ifndef REPRISE_PAGE_PAGE_H
#define REPRISE_PAGE_PAGE_H

#include "reprise/Planning/Pipeline/Problem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace reprise {

/// Prints lib/reprise/Page/page.html with `data` inside, which its script draws. `data` is the
/// JSON of a report (`--report`), of a curve (`--pareto`), or {"pipeline"} with a schedule.
void printPage(llvm::raw_ostream &stream, const llvm::json::Value &data);

/// Largest number of passes that a page draws.
inline constexpr size_t kMostDrawn = 50'000;

/// Returns the passes of a rank as [{"piece", "begin", "end"}, …]. Pieces are spelled as in files
/// of schedules. The simulation must have kept its times.
llvm::json::Array listPasses(const pipeline::Schedule &schedule,
                             const pipeline::Simulation &simulation, size_t rank);

} // namespace reprise

#endif // REPRISE_PAGE_PAGE_H
