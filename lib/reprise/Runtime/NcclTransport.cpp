// reprise: transfers between processes that have a GPU each, by NVIDIA's library
#include "NcclTransport.h"
#include "CudaTransfer.h"
#include "Nccl.h"
#include "TransferOrder.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace reprise::runtime::nccl {

namespace {

/// Communicator of all ranks, whose calls return at once. While their work is pending, this process
/// handles messages of other ranks.
class Link {
public:
  Link(const Library &library, Ranks &ranks) : library(library), ranks(ranks) {}
  Link(const Link &) = delete;
  ~Link() { isIdle() && hasCarried ? close() : abort(); }

  Error open();
  Error carry(const cuda::CudaTransfer &transfer, cuda::Stream stream, cuda::Address place);
  /// Fails if a rank is known to be lost.
  Error look() const;
  Ranks &others() const { return ranks; }
  void abort();

private:
  bool isIdle() const;
  void close();
  Error finish(Result result, const char *what);

  const Library &library;
  Ranks &ranks;
  Comm comm = nullptr;
  bool hasCarried = false;
};

Error Link::open() {
  UniqueId own = {};
  if (ranks.isFirst())
    if (Error error = library.check(library.getUniqueId(&own), nullptr, "start"))
      return error;
  auto all = ranks.exchange(ranks.isFirst() ? std::string(own.internal, sizeof own.internal) : "");
  if (!all)
    return all.error();
  std::memcpy(own.internal, all->front().data(), std::min(sizeof own, all->front().size()));
  Config config;
  Result result = library.openComm(&comm, int(ranks.size()), own, int(ranks.rank()), &config);
  return finish(result, "connect the GPUs");
}

/// Waits for the end of a call that is in progress; no other call is allowed before its end.
Error Link::finish(Result result, const char *what) {
  if (result == inProgress) {
    Error error = ranks.listenUntil([&]() -> Expected<bool> {
      if (Error failure = library.check(library.getAsyncError(comm, &result), comm, what))
        return failure;
      return result != inProgress;
    });
    if (error)
      return error;
  }
  return library.check(result, comm, what);
}

Error Link::look() const {
  if (!comm)
    return Error::make("the transfers of this process have ended");
  Result result = success;
  Error error = library.check(library.getAsyncError(comm, &result), comm, "reach the others");
  return error || result == inProgress ? error : library.check(result, comm, "exchange values");
}

Error Link::carry(const cuda::CudaTransfer &transfer, cuda::Stream stream, cuda::Address place) {
  if (!comm)
    return Error::make("the transfers of this process have ended");
  if (transfer.bytes == 0)
    return Error::success();
  hasCarried = true;
  void *data = reinterpret_cast<void *>(place);
  int peer = int(transfer.peer);
  return transfer.isSend
             ? finish(library.send(data, transfer.bytes, bytes, peer, comm, stream), "send a value")
             : finish(library.receive(data, transfer.bytes, bytes, peer, comm, stream),
                      "receive a value");
}

void Link::abort() {
  if (comm)
    library.abortComm(comm);
  comm = nullptr;
}

bool Link::isIdle() const {
  Result result = success;
  return comm && library.getAsyncError(comm, &result) == success && result == success;
}

/// Closes the communicator. Sent values may still be in flight, so there is a time limit.
void Link::close() {
  Result result = library.finalizeComm(comm);
  for (int i = 0; result == inProgress && i < 5000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (library.getAsyncError(comm, &result) != success)
      break;
  }
  if (result != success || library.destroyComm(comm) != success)
    return abort();
  comm = nullptr;
}

/// Endpoint whose transfers run on the streams of the devices; the host waits only until they have
/// been given to the streams.
class DeviceEndpoint : public Endpoint {
public:
  DeviceEndpoint(Link &link, std::vector<std::string> names, std::vector<uint32_t> order)
      : link(link), names(std::move(names)), order(std::move(order)), begun(this->order.size()) {}

  Expected<uint32_t> findPeer(const std::string &program) override {
    auto found = std::find(names.begin(), names.end(), program);
    if (found == names.end())
      return Error::make("there is no program '" + program + "' to exchange values with");
    return uint32_t(found - names.begin());
  }
  bool takesMovers() const override { return true; }
  Error start(Transfer &transfer) override;
  Error wait(Transfer &transfer) override;
  bool goesOnBehindWait() const override { return true; }
  Error waitForDevice(const std::function<Expected<bool>()> &isDone) override;
  void fail(const std::string &) override { link.abort(); }

private:
  Link &link;
  std::vector<std::string> names;
  std::vector<uint32_t> order;   ///< order of the transfers of a step, by orderTransfers()
  std::vector<Transfer *> begun; ///< begun and not yet given; by their numbers in a step
  size_t numBegun = 0, numGiven = 0;
};

Error DeviceEndpoint::start(Transfer &transfer) {
  transfer.isDone = false;
  if (numBegun == order.size())
    return Error::make("a step has more transfers than its bundle");
  begun[numBegun++] = &transfer;
  while (numGiven < order.size() && begun[order[numGiven]]) {
    Transfer *&next = begun[order[numGiven]];
    auto &own = static_cast<cuda::CudaTransfer &>(*next);
    if (Error error = own.carry([&](cuda::Stream stream, cuda::Address place) {
          return link.carry(own, stream, place);
        }))
      return error;
    own.isDone = true;
    next = nullptr;
    ++numGiven;
  }
  if (numGiven == order.size())
    numBegun = numGiven = 0;
  return Error::success();
}

Error DeviceEndpoint::wait(Transfer &transfer) {
  return transfer.isDone
             ? Error::success()
             : Error::make("a wait for a transfer comes before the waits for earlier transfers");
}

Error DeviceEndpoint::waitForDevice(const std::function<Expected<bool>()> &isDone) {
  return link.others().listenUntil([&]() -> Expected<bool> {
    Expected<bool> done = isDone();
    if (!done || *done)
      return done;
    if (Error error = link.look())
      return error;
    return false;
  });
}

class DeviceTransport : public Transport {
public:
  DeviceTransport(const Library &library, Ranks &ranks, const Bundle &bundle)
      : link(library, ranks), names(bundle.deviceNames()),
        order(orderTransfers(bundle)[ranks.rank()]), version(library.version) {}
  Error open() { return link.open(); }
  Expected<std::unique_ptr<Endpoint>> join(const std::string &) override {
    return std::unique_ptr<Endpoint>(new DeviceEndpoint(link, names, order));
  }
  std::optional<std::string> firstFailure() const override { return std::nullopt; }
  std::string description() const override {
    return "values go from GPU to GPU, by NCCL " + versionText(version);
  }

private:
  Link link;
  std::vector<std::string> names;
  std::vector<uint32_t> order;
  int version;
};

std::string pack(const Offer &offer) {
  return std::to_string(offer.version) + " " + offer.gpu + " " + offer.lack;
}

Offer unpack(const std::string &text) {
  size_t first = text.find(' '), second = text.find(' ', first + 1);
  return {std::atoi(text.c_str()), text.substr(first + 1, second - first - 1),
          text.substr(second + 1)};
}

} // namespace

std::string findLack(const std::vector<std::string> &names, const std::vector<Offer> &offers) {
  for (size_t i = 0; i < offers.size(); ++i) {
    std::string own = "'" + names[i] + "' ";
    if (!offers[i].lack.empty())
      return own + "has no NCCL: " + offers[i].lack;
    if (offers[i].version != offers[0].version)
      return own + "has NCCL " + versionText(offers[i].version) + ", and '" + names[0] + "' has " +
             versionText(offers[0].version);
    for (size_t j = 0; j < i; ++j)
      if (offers[i].gpu == offers[j].gpu)
        return own + "has the same GPU as '" + names[j] + "'";
  }
  return "";
}

Expected<std::unique_ptr<Transport>> connect(Ranks &ranks, const Bundle &bundle,
                                             const std::string &gpu) {
  Expected<const Library *> library = Library::get();
  auto all = ranks.exchange(
      pack(library ? Offer{(*library)->version, gpu, ""} : Offer{0, gpu, library.message()}));
  if (!all)
    return all.error();
  std::vector<Offer> offers;
  std::transform(all->begin(), all->end(), std::back_inserter(offers), unpack);
  if (std::string lack = findLack(bundle.deviceNames(), offers); !lack.empty())
    return ranks.makeTransport(bundle.deviceNames(),
                               "values go through the memory of the host: " + lack);
  auto made = std::make_unique<DeviceTransport>(**library, ranks, bundle);
  if (Error error = made->open())
    return error;
  return std::unique_ptr<Transport>(std::move(made));
}

} // namespace reprise::runtime::nccl
