// reprise: transfers between the programs of one process, directly between their buffers
#include "reprise/Runtime/Backoff.h"
#include "reprise/Runtime/Transport.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>

using namespace reprise::runtime;

Mover::~Mover() = default;
Endpoint::~Endpoint() = default;
Error Endpoint::waitForDevice(const std::function<Expected<bool>()> &) { return Error::success(); }
Transport::~Transport() = default;

namespace {

/// Program, and its started transfers without a partner yet, in order.
struct Member {
  std::string name;
  bool hasJoined = false, hasEnded = false;
  unsigned moving = 0; ///< transfers whose values are being copied
  Transfer *first = nullptr;
  const Transfer *waitsFor = nullptr;
};

/// Shared by all sides. One lock guards everything but the copies of values: who holds a place that
/// is being copied goes on when that is done, whatever happens.
class Exchange {
public:
  explicit Exchange(const std::vector<std::string> &programs) {
    for (const std::string &program : programs)
      members.emplace_back().name = program;
  }

  std::optional<uint32_t> find(const std::string &program) const {
    for (uint32_t i = 0; i < members.size(); ++i)
      if (members[i].name == program)
        return i;
    return std::nullopt;
  }
  Error join(uint32_t self);
  void leave(uint32_t self);
  void fail(uint32_t self, const std::string &why);
  std::optional<std::string> firstFailure() const;
  Error start(uint32_t self, Transfer &transfer);
  Error wait(uint32_t self, Transfer &transfer);

private:
  std::unique_lock<std::mutex> lockSoon();
  Error move(Transfer &from, Transfer &to, std::unique_lock<std::mutex> &guard);
  Transfer *takeMatch(uint32_t self, const Transfer &transfer);
  void close(std::string why);
  void tellChange() {
    changes.fetch_add(1, std::memory_order_release);
    changed.notify_all();
  }
  void waitForChange(std::unique_lock<std::mutex> &guard);
  bool isDeadlock(uint32_t self) const;
  std::string describeCircle(uint32_t self) const;
  std::string describe(uint32_t self, const Transfer &transfer) const;

  mutable std::mutex lock;
  std::condition_variable changed;
  std::atomic<uint64_t> changes{0}; ///< counted under the lock, and read without it
  std::vector<Member> members;
  std::optional<std::string> closed; ///< reason why no exchange is possible any more
  std::optional<uint32_t> failed;    ///< device whose failure closed the exchange
};

Error Exchange::join(uint32_t self) {
  std::lock_guard<std::mutex> guard(lock);
  if (members[self].hasJoined)
    return Error::make("program '" + members[self].name + "' has already joined");
  members[self].hasJoined = true;
  return Error::success();
}

void Exchange::leave(uint32_t self) {
  std::unique_lock<std::mutex> guard(lock);
  changed.wait(guard, [&] { return members[self].moving == 0; });
  members[self].hasEnded = true;
  members[self].first = nullptr;
  tellChange();
}

void Exchange::fail(uint32_t self, const std::string &why) {
  std::unique_lock<std::mutex> guard(lock);
  if (!closed)
    failed = self;
  close("program '" + members[self].name + "' failed: " + why);
  members[self].hasEnded = true;
  changed.wait(guard, [&] { return members[self].moving == 0; });
}

std::optional<std::string> Exchange::firstFailure() const {
  std::lock_guard<std::mutex> guard(lock);
  return failed ? std::optional(members[*failed].name) : std::nullopt;
}

/// Closes the exchange. The first reason stays, since later ones are consequences.
void Exchange::close(std::string why) {
  if (!closed)
    closed = std::move(why);
  for (Member &member : members)
    member.first = nullptr;
  tellChange();
}

std::string Exchange::describe(uint32_t self, const Transfer &transfer) const {
  return "'" + members[self].name + "' waits " +
         (transfer.isSend ? "to send to" : "to receive from") + " '" + members[transfer.peer].name +
         "' with tag " + std::to_string(transfer.tag);
}

/// The oldest transfer of the peer that meets this one leaves its list.
Transfer *Exchange::takeMatch(uint32_t self, const Transfer &transfer) {
  Transfer **link = &members[transfer.peer].first;
  for (; *link; link = &(*link)->next) {
    Transfer *other = *link;
    if (other->peer != self || other->tag != transfer.tag || other->isSend == transfer.isSend)
      continue;
    *link = other->next;
    return other;
  }
  return nullptr;
}

/// Locks with a backoff: the lock is held for less time than a thread needs to sleep and wake up.
std::unique_lock<std::mutex> Exchange::lockSoon() {
  std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
  for (Backoff backoff; !guard.owns_lock() && backoff.pause();)
    (void)guard.try_lock();
  if (!guard.owns_lock())
    guard.lock();
  return guard;
}

/// Moves a value without the lock, so that others exchange values meanwhile.
Error Exchange::move(Transfer &from, Transfer &to, std::unique_lock<std::mutex> &guard) {
  Member &receiver = members[from.peer], &sender = members[to.peer];
  from.isMoving = to.isMoving = true;
  ++receiver.moving;
  ++sender.moving;
  guard.unlock();
  Error error = Error::success();
  if (from.mover)
    error = from.mover->move(from, to);
  else if (from.bytes != 0)
    std::memcpy(to.data, from.data, from.bytes);
  guard = lockSoon();
  --receiver.moving;
  --sender.moving;
  from.isMoving = to.isMoving = false;
  from.isDone = to.isDone = !error;
  if (error)
    close(error.message());
  tellChange();
  return error;
}

Error Exchange::start(uint32_t self, Transfer &transfer) {
  std::unique_lock<std::mutex> guard = lockSoon();
  transfer.isDone = transfer.isMoving = false;
  transfer.next = nullptr;
  if (closed)
    return Error::make(*closed);
  Transfer *other = takeMatch(self, transfer);
  if (!other) {
    Transfer **end = &members[self].first;
    while (*end)
      end = &(*end)->next;
    *end = &transfer;
    return Error::success();
  }
  Transfer &from = transfer.isSend ? transfer : *other, &to = transfer.isSend ? *other : transfer;
  if (from.bytes != to.bytes) {
    close("program '" + members[to.peer].name + "' sends " + std::to_string(from.bytes) +
          " bytes with tag " + std::to_string(to.tag) + ", where '" + members[from.peer].name +
          "' receives " + std::to_string(to.bytes));
    return Error::make(*closed);
  }
  return move(from, to, guard);
}

/// Returns whether waits form a circle. A waiting program can be released only by one peer, so a
/// circle never ends.
bool Exchange::isDeadlock(uint32_t self) const {
  uint32_t at = self;
  for (size_t i = 0; i < members.size(); ++i) {
    const Transfer *waitsFor = members[at].waitsFor;
    if (!waitsFor || waitsFor->isDone || waitsFor->isMoving)
      return false;
    at = waitsFor->peer;
    if (at == self)
      return true;
  }
  return false;
}

/// Describes the circle from its first program on, for every caller.
std::string Exchange::describeCircle(uint32_t self) const {
  uint32_t first = self;
  for (uint32_t at = members[self].waitsFor->peer; at != self; at = members[at].waitsFor->peer)
    first = std::min(first, at);
  std::string circle;
  uint32_t at = first;
  do {
    circle += (circle.empty() ? "" : ", ") + describe(at, *members[at].waitsFor);
    at = members[at].waitsFor->peer;
  } while (at != first);
  return circle;
}

/// Waits for a change, with a backoff: most transfers are met soon, and a sleeping thread wakes up
/// late.
void Exchange::waitForChange(std::unique_lock<std::mutex> &guard) {
  uint64_t before = changes.load(std::memory_order_relaxed);
  guard.unlock();
  Backoff backoff;
  while (changes.load(std::memory_order_acquire) == before && backoff.pause()) {
  }
  guard = lockSoon();
  changed.wait(guard, [&] { return changes.load(std::memory_order_relaxed) != before; });
}

Error Exchange::wait(uint32_t self, Transfer &transfer) {
  std::unique_lock<std::mutex> guard = lockSoon();
  Member &member = members[self];
  member.waitsFor = &transfer;
  while (!transfer.isDone && (!closed || transfer.isMoving)) {
    if (transfer.isMoving) {
      waitForChange(guard);
    } else if (members[transfer.peer].hasEnded) {
      close("program '" + members[transfer.peer].name + "' has ended, and " +
            describe(self, transfer));
    } else if (isDeadlock(self)) {
      close("programs wait for each other: " + describeCircle(self));
    } else {
      waitForChange(guard);
    }
  }
  member.waitsFor = nullptr;
  return transfer.isDone ? Error::success() : Error::make(*closed);
}

class LocalEndpoint : public Endpoint {
public:
  LocalEndpoint(std::shared_ptr<Exchange> exchange, uint32_t self)
      : exchange(std::move(exchange)), self(self) {}
  ~LocalEndpoint() override { exchange->leave(self); }

  Expected<uint32_t> findPeer(const std::string &program) override {
    std::optional<uint32_t> peer = exchange->find(program);
    if (!peer)
      return Error::make("there is no program '" + program + "' to exchange values with");
    return *peer;
  }
  bool takesMovers() const override { return true; }
  Error start(Transfer &transfer) override { return exchange->start(self, transfer); }
  Error wait(Transfer &transfer) override { return exchange->wait(self, transfer); }
  void fail(const std::string &why) override { exchange->fail(self, why); }

private:
  std::shared_ptr<Exchange> exchange;
  uint32_t self;
};

class LocalTransport : public Transport {
public:
  explicit LocalTransport(const std::vector<std::string> &programs)
      : exchange(std::make_shared<Exchange>(programs)) {}

  Expected<std::unique_ptr<Endpoint>> join(const std::string &program) override {
    std::optional<uint32_t> self = exchange->find(program);
    if (!self)
      return Error::make("the transport knows no program '" + program + "'");
    if (Error error = exchange->join(*self))
      return error;
    return std::unique_ptr<Endpoint>(new LocalEndpoint(exchange, *self));
  }

  std::optional<std::string> firstFailure() const override { return exchange->firstFailure(); }

private:
  std::shared_ptr<Exchange> exchange;
};

} // namespace

std::unique_ptr<Transport>
reprise::runtime::makeLocalTransport(const std::vector<std::string> &programs) {
  return std::make_unique<LocalTransport>(programs);
}
