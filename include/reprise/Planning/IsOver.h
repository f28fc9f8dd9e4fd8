// reprise: how a caller ends a long computation early
#ifndef REPRISE_PLANNING_ISOVER_H
#define REPRISE_PLANNING_ISOVER_H

#include <functional>

namespace reprise {

/// Asked now and then by a long computation, which ends early after the answer true. An empty
/// function never ends it. After true the answer stays true.
using IsOver = std::function<bool()>;

} // namespace reprise

#endif // REPRISE_PLANNING_ISOVER_H
