// reprise: runs steps of a session in tests
#ifndef REPRISE_UNIT_RUNTIME_RUNSTEPS_H
#define REPRISE_UNIT_RUNTIME_RUNSTEPS_H

#include "reprise/Runtime/Session.h"

namespace reprise::runtime {

/// Runs steps from seed 3 and offset 40. Returns the first error.
inline Error runSteps(Session &session, int64_t steps) {
  Error error = session.setState({3, 40, 0});
  if (!error)
    error = session.start(steps);
  for (int64_t i = 0; i < steps && !error; ++i)
    error = session.step();
  return error;
}

} // namespace reprise::runtime

#endif
