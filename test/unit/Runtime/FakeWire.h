// reprise: a wire between threads of a test, which can lose messages
#ifndef REPRISE_TEST_UNIT_RUNTIME_FAKEWIRE_H
#define REPRISE_TEST_UNIT_RUNTIME_FAKEWIRE_H

#include "reprise/Runtime/Ranks.h"

#include <deque>
#include <map>
#include <mutex>

namespace reprise::runtime::test {

/// Network that holds the messages of some ranks.
struct FakeNet {
  explicit FakeNet(uint32_t size) : size(size) {}

  const uint32_t size;
  int sendsUntilLoss = -1; ///< number of sends before the one that is lost
  std::mutex lock;
  std::deque<std::pair<uint32_t, Wire::Message>> texts; ///< messages with the rank of the receiver
  struct Side {
    uint32_t rank;
    Transfer *transfer;
  };
  std::deque<Side> open; ///< transfers without a counterpart
};

class FakeWire : public Wire {
public:
  FakeWire(FakeNet &net, uint32_t own) : net(net), own(own) {}
  uint32_t rank() const override { return own; }
  uint32_t size() const override { return net.size; }
  Error start(Transfer &transfer) override;
  Expected<bool> test(Transfer &transfer) override;
  void drop(Transfer &transfer) override;
  void progress() override {}
  Error tell(uint32_t rank, const std::string &text) override;
  std::optional<Message> hear() override;
  void leave(int) override {}
  [[noreturn]] void abort(int code) override;

private:
  FakeNet &net;
  const uint32_t own;
};

/// Calls run(ranks) for each of `size` ranks at once, on a thread for each.
void runRanks(FakeNet &net, const std::function<void(Ranks &)> &run);

} // namespace reprise::runtime::test

#endif // REPRISE_TEST_UNIT_RUNTIME_FAKEWIRE_H
