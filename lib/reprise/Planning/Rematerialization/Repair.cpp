// reprise: the given order within a budget, by replays; in near-linear time
#include "reprise/Planning/Rematerialization/Repair.h"

#include "Sweep.h"

namespace reprise::remat {

std::optional<Schedule> repair(const Problem &problem, int64_t budget,
                               const std::vector<int> &replays) {
  // How much an operation weighs that fits, beside one that does not.
  static constexpr double weights[] = {1, 0.01, 0};
  Readers readers(problem);
  std::vector<int64_t> bytes = bytesInOrder(problem);
  std::vector<bool> isGiven(problem.operations.size());
  std::optional<Schedule> best;
  double bestCost = 0;
  auto trySweeps = [&] {
    for (int i = 0; i < 6; ++i) {
      double weight = weights[i % 3];
      std::vector<double> time(1);
      for (size_t i = 0; i < problem.operations.size(); ++i)
        time.push_back(time.back() + (bytes[i] > budget ? 1 : weight));
      std::optional<Schedule> schedule =
          Sweep(problem, readers, time, isGiven, budget, i >= 3).run();
      if (!schedule)
        continue;
      prune(problem, budget, *schedule);
      double cost = measure(problem, *schedule).cost;
      if (best && cost >= bestCost)
        continue;
      best = std::move(schedule);
      bestCost = cost;
    }
  };
  trySweeps();
  if (replays.empty())
    return best;
  for (int operation : replays)
    isGiven[operation] = true;
  trySweeps();
  return best;
}

} // namespace reprise::remat
