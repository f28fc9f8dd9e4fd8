// reprise: transfers between the programs of several processes
#include "reprise/Runtime/Device.h"
#include "reprise/Runtime/Ranks.h"

#include <algorithm>

using namespace reprise::runtime;

namespace reprise::runtime {

/// Program i is at rank i.
class RankEndpoint : public Endpoint {
public:
  RankEndpoint(Ranks &ranks, std::vector<std::string> programs)
      : ranks(ranks), programs(std::move(programs)) {}
  ~RankEndpoint() override { dropAll(); }

  Expected<uint32_t> findPeer(const std::string &program) override {
    auto found = std::find(programs.begin(), programs.end(), program);
    if (found == programs.end())
      return Error::make("there is no program '" + program + "' to exchange values with");
    return uint32_t(found - programs.begin());
  }
  Error start(Transfer &transfer) override;
  Error wait(Transfer &transfer) override;
  /// Drops the transfers; other ranks get the error with its whole text by Ranks::finish.
  void fail(const std::string &) override { dropAll(); }

private:
  void dropAll() {
    for (; first; first = first->next)
      if (!first->isDone)
        ranks.wire->drop(*first);
  }
  Expected<bool> test(Transfer &transfer) {
    if (transfer.isDone)
      return true;
    Expected<bool> done = ranks.wire->test(transfer);
    transfer.isDone = done && *done;
    return done;
  }

  Ranks &ranks;
  std::vector<std::string> programs;
  Transfer *first = nullptr; ///< transfers that have not been waited for
};

Error RankEndpoint::start(Transfer &transfer) {
  transfer.isDone = false;
  if (ranks.failure)
    return ranks.failed();
  if (Error error = ranks.wire->start(transfer))
    return error;
  transfer.next = first;
  first = &transfer;
  return Error::success();
}

Error RankEndpoint::wait(Transfer &transfer) {
  struct What {
    const Transfer &transfer;
    const std::string &peer;
  } what{transfer, programs[transfer.peer]};
  const Ranks::Wait wait{[&what] {
                           return (what.transfer.isSend ? "to send to '" : "to receive from '") +
                                  what.peer + "' with tag " + std::to_string(what.transfer.tag);
                         },
                         transfer.bytes};
  Error error = ranks.waitUntil(wait, [this, &transfer] { return test(transfer); });
  if (error)
    return error;
  Transfer **link = &first;
  while (*link != &transfer)
    link = &(*link)->next;
  *link = transfer.next;
  return Error::success();
}

} // namespace reprise::runtime

namespace {

class RankTransport : public Transport {
public:
  RankTransport(Ranks &ranks, std::vector<std::string> programs, std::string text)
      : ranks(ranks), programs(std::move(programs)), text(std::move(text)) {}
  Expected<std::unique_ptr<Endpoint>> join(const std::string &program) override {
    if (ranks.rank() >= programs.size() || programs[ranks.rank()] != program)
      return Error::make("program '" + program + "' is not of this process");
    return std::unique_ptr<Endpoint>(new RankEndpoint(ranks, programs));
  }
  /// Ranks::finish knows.
  std::optional<std::string> firstFailure() const override { return std::nullopt; }
  std::string description() const override { return text; }

private:
  Ranks &ranks;
  std::vector<std::string> programs;
  std::string text;
};

} // namespace

std::unique_ptr<Transport> Ranks::makeTransport(std::vector<std::string> programs,
                                                std::string description) {
  for (size_t i = 0; i < programs.size() && i < names.size(); ++i)
    names[i] = "'" + programs[i] + "'";
  return std::make_unique<RankTransport>(*this, std::move(programs), std::move(description));
}

Expected<std::unique_ptr<Transport>> Device::connect(Ranks &ranks, const Bundle &bundle) {
  return ranks.makeTransport(bundle.deviceNames());
}
