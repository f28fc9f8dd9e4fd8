// A user of the planner alone: packs three buffers.
#include <cstdio>
#include <reprise/Planning/Offsets/Solve.h>

int main() {
  reprise::offsets::Problem problem;
  problem.buffers = {{0, 1, 100}, {1, 2, 50}, {2, 3, 100}};
  std::printf("height %lld\n", static_cast<long long>(reprise::offsets::solve(problem).height));
}
