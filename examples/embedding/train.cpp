// Trains a bundle in C++, with the runtime alone: neither MLIR nor LLVM is loaded.
//
// Usage: train-cpp BUNDLE.rpb STEPS
#include "reprise/Runtime/Session.h"

#include <cstdio>
#include <cstdlib>

using namespace reprise::runtime;

static int fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

static int train(Executable &program, int64_t steps) {
  Session session(program);
  if (Error error = session.start(steps))
    return fail(error.message());
  for (int64_t step = 0; step < steps; ++step) {
    if (Error error = session.step())
      return fail(error.message());
    std::printf("step %lld: loss %.6f\n", static_cast<long long>(step),
                session.loss().value_or(-1));
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fputs("usage: train-cpp BUNDLE.rpb STEPS\n", stderr);
    return 2;
  }
  auto program = loadExecutable(argv[1]);
  return program ? train(**program, std::strtoll(argv[2], nullptr, 10)) : fail(program.message());
}
