// reprise: what programs exchange while they run: sends and receives between device programs
#ifndef REPRISE_RUNTIME_TRANSPORT_H
#define REPRISE_RUNTIME_TRANSPORT_H

#include "reprise/Runtime/Error.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace reprise::runtime {

struct Transfer;

/// Who moves a value that is not in the memory of the host.
class Mover {
public:
  virtual ~Mover();
  /// Both sides have been started, and both have movers of this kind. Called on the thread of
  /// either program. The value may move later: wait() of a transfer then says nothing of it.
  virtual Error move(Transfer &from, Transfer &to) = 0;
};

/// A send or a receive. From start() until wait() has returned, or the endpoint is gone, neither it
/// nor its data may move, and the data are the transport's to read or write.
struct Transfer {
  bool isSend = false;
  uint32_t peer = 0; ///< as findPeer() tells
  uint32_t tag = 0;
  void *data = nullptr;
  uint64_t bytes = 0;
  /// Of data that are not in the memory of the host, for an endpoint that takes them.
  Mover *mover = nullptr;

  // For the transport.
  bool isDone = false, isMoving = false;
  Transfer *next = nullptr;
  uintptr_t request = 0; ///< of a message passing library
};

/// One program's side. For one thread at a time.
class Endpoint {
public:
  /// The program ends: peers that wait for it get an error.
  virtual ~Endpoint();
  virtual Expected<uint32_t> findPeer(const std::string &program) = 0;
  /// Whether it takes transfers with movers.
  virtual bool takesMovers() const { return false; }
  /// Begins a transfer. The sends from one program to another with one tag meet the receives in
  /// their order. Allocates nothing.
  virtual Error start(Transfer &transfer) = 0;
  /// Returns when the transfer is done; an error if it never will be, since the peer has ended or
  /// failed, or waits for this one.
  virtual Error wait(Transfer &transfer) = 0;
  /// Of one whose transfers go on behind wait(): returns when `isDone`, which asks the device. An
  /// error as of wait(). Nothing where wait() is all.
  virtual bool goesOnBehindWait() const { return false; }
  virtual Error waitForDevice(const std::function<Expected<bool>()> &isDone);
  /// The program has failed, and all others end with an error that says why.
  virtual void fail(const std::string &why) = 0;
};

class Transport {
public:
  virtual ~Transport();
  /// The side of a program, once.
  virtual Expected<std::unique_ptr<Endpoint>> join(const std::string &program) = 0;
  /// The program whose failure ended the others; nothing if they all run or wait for each other.
  virtual std::optional<std::string> firstFailure() const = 0;
  /// For people: what carries values, and why that; empty where there is no choice.
  virtual std::string description() const { return ""; }
};

/// Between the programs of these names, each on a thread of this process. A value goes from place
/// to place when send and receive have both been started: nothing is stored in between.
std::unique_ptr<Transport> makeLocalTransport(const std::vector<std::string> &programs);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_TRANSPORT_H
