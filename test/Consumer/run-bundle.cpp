// reprise: a program outside the tree that runs a bundle with the runtime alone
#include "reprise/Runtime/Session.h"

#include <cstdio>

using namespace reprise::runtime;

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  auto executable = Executable::load(argv[1]);
  if (!executable) {
    std::fprintf(stderr, "%s\n", executable.message().c_str());
    return 1;
  }
  Session session(**executable);
  Error error = session.start(2);
  for (int step = 0; step < 2 && !error; ++step)
    error = session.step();
  if (error) {
    std::fprintf(stderr, "%s\n", error.message().c_str());
    return 1;
  }
  std::printf("loss %g\n", session.loss().value_or(0));
  return 0;
}
