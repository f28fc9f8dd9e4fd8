// reprise: schedules of loop nests on the threads of a GPU
#ifndef REPRISE_CONVERSION_CUDA_THREADSCHEDULE_H
#define REPRISE_CONVERSION_CUDA_THREADSCHEDULE_H

#include "../LoopNest/Schedule.h"

namespace reprise::nests {

/// Rules of nests; 2,048 rows give a GPU enough threads.
constexpr NestRules threadRules{/*sumsApart=*/true, /*fewRows=*/2048, /*longRow=*/3 * laneBlock,
                                /*severalBlocks=*/laneBlock + 1};

/// Makes a schedule. An item is four columns (one if loads cannot be wider), or, if the nest
/// reduces columns, a row: a block of one row for 32 threads. Only results keep values.
Schedule makeThreadSchedule(const Graph &graph);

/// Makes a schedule for a nest over the elements of a contraction, of which a thread has four
/// neighbours or one.
Schedule makeTileSchedule(const Graph &graph);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_CUDA_THREADSCHEDULE_H
