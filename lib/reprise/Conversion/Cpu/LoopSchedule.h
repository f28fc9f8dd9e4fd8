// reprise: how a CPU runs a loop nest
#ifndef REPRISE_CONVERSION_CPU_LOOPSCHEDULE_H
#define REPRISE_CONVERSION_CPU_LOOPSCHEDULE_H

#include "../LoopNest/Schedule.h"

namespace reprise::loops {

/// `registers` is the number of vector registers.
Schedule makeSchedule(const Graph &graph, int64_t registers);

} // namespace reprise::loops

#endif // REPRISE_CONVERSION_CPU_LOOPSCHEDULE_H
