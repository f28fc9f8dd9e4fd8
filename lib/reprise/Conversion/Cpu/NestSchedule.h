// reprise: schedules of loop nests on a CPU
#ifndef REPRISE_CONVERSION_CPU_NESTSCHEDULE_H
#define REPRISE_CONVERSION_CPU_NESTSCHEDULE_H

#include "../LoopNest/Schedule.h"

namespace reprise::nests {

/// `registers` is the number of vector registers.
Schedule makeSchedule(const Nest &nest, int64_t registers);

} // namespace reprise::nests

#endif // REPRISE_CONVERSION_CPU_NESTSCHEDULE_H
