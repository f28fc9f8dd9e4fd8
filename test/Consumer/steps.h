// reprise: two steps of a bundle, and the loss of each, for both consumer programs
#ifndef REPRISE_CONSUMER_STEPS_H
#define REPRISE_CONSUMER_STEPS_H

#include "reprise/Runtime/Session.h"

#include <cstdio>

/// Returns the exit code of the program.
inline int
runSteps(reprise::runtime::Expected<std::unique_ptr<reprise::runtime::Executable>> made) {
  if (!made) {
    std::fprintf(stderr, "error: %s\n", made.message().c_str());
    return 1;
  }
  reprise::runtime::Session session(**made);
  reprise::runtime::Error error = session.start(2);
  for (int step = 0; step < 2 && !error; ++step) {
    error = session.step();
    if (!error)
      std::printf("loss %a\n", session.loss().value_or(-1));
  }
  if (!error)
    return 0;
  std::fprintf(stderr, "error: %s\n", error.message().c_str());
  return 1;
}

#endif // REPRISE_CONSUMER_STEPS_H
