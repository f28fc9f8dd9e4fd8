// reprise: schedules of loop nests on the threads of a GPU
#ifndef REPRISE_CONVERSION_CUDA_THREADSCHEDULE_H
#define REPRISE_CONVERSION_CUDA_THREADSCHEDULE_H

#include "../LoopNest/BuildNest.h"
#include "../LoopNest/Schedule.h"
#include "reprise/Target/Target.h"

namespace reprise::nests {

/// Rules of nests; 2,048 rows give a GPU enough threads.
constexpr NestRules threadRules{/*sumsApart=*/true, /*fewRows=*/2048, /*longRow=*/3 * laneBlock,
                                /*severalBlocks=*/laneBlock + 1};

/// Makes the schedule for a chip. An item is four columns, one where loads cannot have more, or a
/// row (a block of one) for 32 threads where the nest reduces columns. Nothing is kept but in
/// results.
Schedule makeThreadSchedule(const Nest &nest, const Chip &chip);

/// Returns the schedule of a nest over the elements of a contraction, of which a thread has four
/// neighbours or one.
Schedule makeTileSchedule(const Nest &nest);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_CUDA_THREADSCHEDULE_H
