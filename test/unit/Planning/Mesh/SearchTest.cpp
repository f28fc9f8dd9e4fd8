// reprise: tests of the search for a mesh
#include "reprise/Planning/Mesh/Search.h"

#include <gtest/gtest.h>

using namespace reprise;
using namespace reprise::mesh;

namespace {

/// Makes a chain of units in `microbatches` micro-batches of 64 samples. Seconds and bytes have a
/// constant part and a part per sample.
Step makeStep(int units, int64_t microbatches, int64_t parts = 1) {
  Step step;
  double samples = 64.0 / static_cast<double>(microbatches);
  for (int i = 0; i < units; ++i) {
    pipeline::Stage &unit = step.problem.units.emplace_back();
    double seconds = (1 + i % 3 + samples) / static_cast<double>(parts);
    unit.forward = seconds;
    unit.backward = 1.1 * seconds;
    unit.weight = 0.9 * seconds;
    unit.saved = static_cast<int64_t>(1000 * samples);
    unit.savedForWeight = static_cast<int64_t>(500 * samples);
    unit.working = static_cast<int64_t>(2000 * samples);
    step.problem.replays.push_back({i, unit.saved, seconds});
    step.problem.replayed.push_back(0);
    step.madeForWeight.push_back(unit.savedForWeight);
    step.arrays.push_back(40000 / parts);
    step.parameters.push_back(10000 / parts);
    step.numParameters.push_back(2);
    if (i > 0)
      step.problem.values.push_back(
          {i - 1, {i}, 0.1 * samples, 0.1 * samples, unit.savedForWeight});
  }
  return step;
}

Space makeSpace(int64_t devices) {
  Space space;
  space.devices = devices;
  space.batch = 64;
  space.parts = {1, 2};
  space.device.memory = 400000;
  space.device.links = {4, 1e5, 1e4, 0.01};
  return space;
}

class Steps {
public:
  const Step *get(int64_t parts, int64_t microbatches) {
    auto [found, isNew] = steps.try_emplace({parts, microbatches});
    if (isNew)
      found->second = makeStep(12, microbatches, parts);
    return &found->second;
  }

private:
  std::map<std::pair<int64_t, int64_t>, Step> steps;
};

std::string spell(const Point &point) {
  return std::to_string(point.replicas) + " " + std::to_string(point.parts) + " " +
         std::to_string(point.ranks) + " " + std::to_string(point.chunks) + " " +
         std::to_string(point.microbatches) + " " + point.rule->name +
         (point.replaysGathers ? " replayed" : "");
}

} // namespace

/// The bounds drop no point that is among the best.
TEST(MeshSearch, EqualsAWalkOverAllPoints) {
  for (int64_t devices : {1, 4, 6, 8}) {
    Space space = makeSpace(devices), all = space;
    all.wanted = 100000;
    Steps steps;
    auto get = [&](int64_t parts, int64_t microbatches) { return steps.get(parts, microbatches); };
    Found fast = search(space, get), slow = search(all, get);
    ASSERT_EQ(fast.best.size(), std::min<size_t>(10, slow.best.size()));
    for (size_t i = 0; i < fast.best.size(); ++i)
      EXPECT_EQ(fast.best[i].price.seconds(), slow.best[i].price.seconds())
          << spell(fast.best[i].point) << " instead of " << spell(slow.best[i].point);
    EXPECT_EQ(fast.points, slow.points);
    EXPECT_LE(fast.priced, slow.priced);
  }
}

TEST(MeshSearch, CountsEachPointOnce) {
  Space space = makeSpace(8);
  Steps steps;
  Found found =
      search(space, [&](int64_t parts, int64_t count) { return steps.get(parts, count); });
  int64_t points = static_cast<int64_t>(found.best.size());
  for (const auto &[reason, missed] : found.missed)
    points += missed.count;
  EXPECT_EQ(points, found.points);
  EXPECT_GT(found.missed.at(Reason::Unbuilt).count, 0);
  space.listsUnbuilt = true;
  Found more = search(space, [&](int64_t parts, int64_t count) { return steps.get(parts, count); });
  EXPECT_EQ(more.missed.count(Reason::Unbuilt), 0u);
}

/// Each gather sends every parameter of a device to all other replicas.
TEST(MeshSearch, LeavesOutWhatIsRefused) {
  Space space = makeSpace(4);
  Steps steps;
  auto get = [&](int64_t parts, int64_t count) { return steps.get(parts, count); };
  Found found = search(space, get, [](const Point &point, const Price &price) {
    int64_t gathers = point.replaysGathers ? 2 * point.ownMicrobatches() : 1;
    EXPECT_LE(price.sends, 24 * (point.replicas - 1) * gathers);
    EXPECT_GE(price.sends * point.ranks, 24 * (point.replicas - 1) * gathers);
    return price.sends > 0;
  });
  EXPECT_GT(found.missed.at(Reason::Sends).count, 0);
  for (const Priced &priced : found.best)
    EXPECT_EQ(priced.point.replicas, 1);
}

TEST(MeshSearch, KeepsWhatIsFixed) {
  Space space = makeSpace(8);
  space.replicas = 2;
  space.ranks = 4;
  space.microbatches = 16;
  space.rule = pipeline::findRule("zb-h2");
  space.replaysGathers = false;
  std::vector<Point> points = listPoints(space);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(spell(points[0]), "2 1 4 1 16 zb-h2");
}

/// A point that fits has peaks within the memory, and one that does not has a device that is over.
TEST(MeshSearch, RespectsMemory) {
  Space space = makeSpace(4);
  Steps steps;
  int fitting = 0, missing = 0;
  for (const Point &point : listPoints(space)) {
    const Step *step = steps.get(point.parts, point.microbatches);
    if (step->countUnits() < static_cast<size_t>(point.stages()))
      continue;
    Price price = findPrice(*step, point, space.device, point.replicas);
    ++(price.fits() ? fitting : missing);
    if (price.fits() && point.chunks == 1)
      EXPECT_LE(price.peak(), space.device.memory) << spell(point);
    if (price.fits())
      EXPECT_GE(price.makespan * (1 + 1e-9), findLeastSeconds(*step, point)) << spell(point);
  }
  EXPECT_GT(fitting, 0);
  EXPECT_GT(missing, 0);
}

/// Numbers of many micro-batches follow from those of two and four.
TEST(MeshSteps, AreExtrapolated) {
  Step few = makeStep(5, 2), more = makeStep(5, 4), made;
  for (int64_t count : {1, 8, 16, 64}) {
    Step wanted = makeStep(5, count);
    ASSERT_EQ(extrapolate(few, 2, more, 4, count, made), "");
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(made.problem.units[i].forward, wanted.problem.units[i].forward, 1e-9);
      EXPECT_NEAR(made.problem.units[i].weight, wanted.problem.units[i].weight, 1e-9);
      EXPECT_EQ(made.problem.units[i].saved, wanted.problem.units[i].saved);
      EXPECT_EQ(made.problem.replays[i].bytes, wanted.problem.replays[i].bytes);
      EXPECT_EQ(made.madeForWeight[i], wanted.madeForWeight[i]);
    }
    EXPECT_NEAR(made.problem.values[0].forward, wanted.problem.values[0].forward, 1e-9);
  }
  EXPECT_NE(extrapolate(few, 2, makeStep(6, 4), 4, 8, made), "");
}

/// Joined units keep all seconds and bytes, and no value goes back.
TEST(MeshSteps, AreJoined) {
  Step step = makeStep(100, 4), joined = joinUnits(step, 16);
  EXPECT_LE(joined.countUnits(), 17u);
  EXPECT_GE(joined.countUnits(), 12u);
  double before = 0, after = 0;
  int64_t bytes = 0;
  for (const pipeline::Stage &unit : step.problem.units)
    before += unit.forward;
  for (const pipeline::Stage &unit : joined.problem.units)
    after += unit.forward;
  for (int64_t own : joined.arrays)
    bytes += own;
  EXPECT_NEAR(before, after, 1e-9);
  EXPECT_EQ(bytes, 100 * 40000);
  for (const stages::Value &value : joined.problem.values)
    EXPECT_GT(value.readers.front(), value.unit);
  EXPECT_EQ(joinUnits(step, 100).countUnits(), 100u);
}

/// Each array is read and written, and its gradient is read. Replicas share that, stages divide it.
TEST(MeshPrice, DividesUpdates) {
  Step step = makeStep(8, 4);
  int64_t bytes = 0;
  for (size_t unit = 0; unit < 8; ++unit)
    bytes += 2 * step.arrays[unit] + step.parameters[unit];
  Device device;
  device.byteSeconds = 1e-9;
  for (auto [replicas, ranks] :
       {std::pair(1, 1), std::pair(4, 1), std::pair(1, 4), std::pair(2, 2)}) {
    Point point;
    point.replicas = replicas;
    point.ranks = ranks;
    point.microbatches = 4;
    point.rule = pipeline::findRule("1f1b");
    Price price = findPrice(step, point, device, replicas);
    EXPECT_NEAR(price.update,
                1e-9 * static_cast<double>(bytes) / 4 * (replicas * ranks == 1 ? 4 : 1), 1e-12);
    EXPECT_DOUBLE_EQ(price.seconds(), price.makespan + price.exchange + price.update);
  }
}

/// The table of ZeRO (Rajbhandari et al. 2020, figure 1): 7.5 billion parameters on 64 devices. Per
/// parameter 2 bytes are weights, 2 gradients, and 12 states of the optimizer.
TEST(MeshPrice, MeetsTheTableOfZero) {
  constexpr double kParameters = 7.5e9;
  Step step;
  for (int i = 0; i < 100; ++i) {
    step.problem.units.push_back({1, 1, 1});
    step.problem.replayed.push_back(0);
    step.madeForWeight.push_back(0);
    step.arrays.push_back(static_cast<int64_t>(14 * kParameters / 100));
    step.parameters.push_back(static_cast<int64_t>(2 * kParameters / 100));
    step.numParameters.push_back(1);
  }
  auto countBytes = [&](int64_t replicas, int64_t microbatches, bool replaysGathers) {
    Point point;
    point.replicas = replicas;
    point.microbatches = microbatches;
    point.rule = pipeline::findRule("1f1b");
    point.replaysGathers = replaysGathers;
    return static_cast<double>(findPrice(step, point, Device(), replicas).peak());
  };
  EXPECT_NEAR(countBytes(1, 1, false) / 120e9, 1, .01);
  // Joined parameters hold a copy of the own part, which the paper does not count.
  double copied = 2 * kParameters / 64;
  EXPECT_NEAR((countBytes(64, 128, false) - copied) / 31.4e9, 1,
              .01);                                                   // gradients are whole: ZeRO-1
  EXPECT_NEAR((countBytes(64, 64, false) - copied) / 16.6e9, 1, .01); // ZeRO-2
  // ZeRO-3 holds one gathered unit beside its parts.
  double unit = 2 * kParameters / 100;
  EXPECT_NEAR((countBytes(64, 64, true) - unit) / 1.9e9, 1, .02);
}

/// Replicas in a node are fast. Between nodes the largest message still goes to a neighbour.
TEST(MeshPrice, KnowsTheLevelsOfLinks) {
  pipeline::Links links{4, 100, 10, 0};
  Point point;
  point.replicas = 4;
  EXPECT_DOUBLE_EQ(getSumSeconds(point, links, 1600), 800 / 100. + 400 / 100.);
  point.replicas = 8;
  EXPECT_DOUBLE_EQ(getSumSeconds(point, links, 1600), 8 + 4 + 200 / 10.);
  point.ranks = 4;
  EXPECT_DOUBLE_EQ(getSumSeconds(point, links, 1600), (800 + 400 + 200) / 10.);
  EXPECT_DOUBLE_EQ(getGatherSeconds(point, links, 1600), 7 * 200 / 10.);
  point.ranks = 1;
  EXPECT_DOUBLE_EQ(getGatherSeconds(point, links, 1600), 3 * 200 / 100. + 4 * 200 / 10.);
  EXPECT_DOUBLE_EQ(links.getFactor(3, 4), 10);
  EXPECT_DOUBLE_EQ(links.getFactor(0, 3), 1);
}
