// reprise: tests of vector clocks against reachability in the graph of commands
#include "reprise/Support/AccessOrder.h"

#include <gtest/gtest.h>
#include <random>

using namespace reprise;

namespace {

constexpr size_t numStreams = 3;

/// A random program, judged by who reaches whom. Node i is command i; a transfer is its command.
class Trial {
public:
  explicit Trial(unsigned seed) : random(seed), order(numStreams) {}

  /// Adds a command; false when both judges have found the conflict.
  bool step() {
    size_t stream = draw(numStreams);
    switch (draw(4)) {
    case 0:
      recordOn(stream);
      return true;
    case 1:
      if (!events.empty())
        waitOn(stream, events[draw(events.size())]);
      return true;
    case 2:
      return access(stream, true);
    default:
      return access(stream, false);
    }
  }

private:
  struct Event {
    AccessOrder::Clock clock;
    std::vector<bool> ended; ///< nodes that have ended before this access
  };
  struct Touch {
    size_t node;
    uint64_t begin, end;
    bool isWrite;
  };

  size_t draw(size_t below) { return random() % below; }

  void recordOn(size_t stream) { events.push_back({order.record(stream), known[stream]}); }

  void waitOn(size_t stream, const Event &event) {
    order.wait(stream, event.clock);
    join(known[stream], event.ended);
  }

  static void join(std::vector<bool> &into, const std::vector<bool> &from) {
    into.resize(std::max(into.size(), from.size()));
    for (size_t i = 0; i < from.size(); ++i)
      into[i] = into[i] || from[i];
  }

  bool access(size_t stream, bool isTransfer) {
    size_t node = numNodes++;
    AccessOrder::Actor actor = isTransfer ? order.beside(stream) : order.onStream(stream);
    uint64_t begin = draw(24);
    Touch touch = {node, begin, begin + 1 + draw(6), draw(3) == 0};
    std::vector<bool> before = known[stream];
    before.resize(numNodes);
    bool isRace = false;
    for (const Touch &other : touches)
      isRace |= (other.isWrite || touch.isWrite) && !before[other.node] &&
                other.begin < touch.end && touch.begin < other.end;
    touches.push_back(touch);
    std::optional<uint64_t> found =
        order.access(actor, {7, touch.begin, touch.end}, touch.isWrite, node);
    EXPECT_EQ(bool(found), isRace) << "node " << node;
    if (found) {
      const Touch &other = touches[*found];
      EXPECT_TRUE(!before[*found] && (other.isWrite || touch.isWrite));
      EXPECT_TRUE(other.begin < touch.end && touch.begin < other.end);
    }
    before[node] = true;
    if (isTransfer)
      events.push_back({actor.known, before});
    else
      known[stream] = before;
    return !isRace && !::testing::Test::HasFailure();
  }

  std::mt19937 random;
  AccessOrder order;
  std::vector<Event> events;
  std::vector<bool> known[numStreams];
  std::vector<Touch> touches;
  size_t numNodes = 0;
};

TEST(AccessOrder, FindsWhatNoPathOrders) {
  int conflicts = 0, deep = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    Trial trial(seed);
    int steps = 0;
    while (steps < 60 && trial.step())
      ++steps;
    conflicts += steps < 60;
    deep += steps > 15;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  // Both kinds occur often.
  EXPECT_GT(conflicts, 1000);
  EXPECT_GT(deep, 1000);
}

TEST(AccessOrder, OtherSpacesAndEmptyPlacesAreNoConflict) {
  AccessOrder order(1);
  AccessOrder::Actor sent = order.beside(0);
  EXPECT_EQ(order.access(sent, {1, 0, 64}, true, 0), std::nullopt);
  AccessOrder::Actor next = order.onStream(0);
  EXPECT_EQ(order.access(next, {2, 0, 64}, true, 1), std::nullopt);
  EXPECT_EQ(order.access(next, {1, 64, 128}, true, 1), std::nullopt);
  EXPECT_EQ(order.access(next, {1, 8, 8}, true, 1), std::nullopt);
  EXPECT_EQ(order.access(next, {1, 63, 64}, false, 1), std::optional<uint64_t>(0));
}

TEST(AccessOrder, LanesOfFinishedTransfersAreUsedAgain) {
  AccessOrder order(1);
  for (int i = 0; i < 100; ++i)
    order.wait(0, order.beside(0).known);
  EXPECT_EQ(order.transferLanes(), 1u);
  order.beside(0);
  order.beside(0);
  EXPECT_EQ(order.transferLanes(), 2u);
}

} // namespace
