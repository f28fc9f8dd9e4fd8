// reprise: early end of a long computation by its caller
#ifndef REPRISE_PLANNING_ISOVER_H
#define REPRISE_PLANNING_ISOVER_H

#include <functional>

namespace reprise {

/// Function that a long computation calls now and then; after the answer true the computation ends
/// early. An empty function never ends it. After true the answer stays true.
using IsOver = std::function<bool()>;

} // namespace reprise

#endif // REPRISE_PLANNING_ISOVER_H
