// reprise: turns of probes, and their shared knowledge
#include "Probe.h"

#include <algorithm>

using namespace reprise::offsets;

/// Number of deepest probes whose offsets guide later probes.
static constexpr size_t kGuides = 4;

/// Period of the probes that run without a guide: every fourth one.
static constexpr int kWithoutGuide = 4;

const Depth *Probes::pickGuide() {
  if (number < kKinds || deepest.empty() || random.below(kWithoutGuide) == 0)
    return nullptr;
  return &deepest[random.below(static_cast<int>(deepest.size()))];
}

/// Replaces the probe with the least depth.
void Probes::keep(Depth depth) {
  bool isKnown = std::any_of(deepest.begin(), deepest.end(),
                             [&](const Depth &other) { return other.offsets == depth.offsets; });
  if (isKnown || depth.offsets.empty())
    return;
  if (deepest.size() < kGuides)
    return deepest.push_back(std::move(depth));
  auto least = std::min_element(deepest.begin(), deepest.end(),
                                [](const Depth &a, const Depth &b) { return a.placed < b.placed; });
  if (least->placed <= depth.placed)
    *least = std::move(depth);
}

bool Probes::find(int64_t nodes, int64_t &visits, std::vector<int64_t> &offsets) {
  int64_t kind = number % kKinds;
  ProbeTurn turn{number, nodes, static_cast<int>(kind % 3)};
  turn.isFirst = number < kKinds;
  turn.learns = kind % 2 == 1;
  turn.forcedOnly = kind / 3 % 2 == 0;
  turn.fits = kind < kKinds / 2;
  const Depth *guide = pickGuide();
  ++number;
  Probe probe(sections, limit, turn, weights, visits);
  probe.follow(guide);
  bool found = probe.run();
  visits = probe.visitsLeft();
  if (found)
    offsets = probe.result();
  else
    keep(probe.deepest());
  return found;
}
