// reprise: exchange of values between device programs while they run: sends and receives
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

/// Mover of values that are not in host memory.
class Mover {
public:
  virtual ~Mover();
  /// Moves a value from one side to the other. Both sides have been started and have movers of this
  /// kind. Called on the thread of either program. The value may move later than wait() returns.
  virtual Error move(Transfer &from, Transfer &to) = 0;
};

/// Send or receive. From start() until wait() has returned, or until the endpoint is destroyed, the
/// object and its data must not move, and only the transport accesses the data.
struct Transfer {
  bool isSend = false;
  uint32_t peer = 0; ///< number that findPeer() returns
  uint32_t tag = 0;
  void *data = nullptr;
  uint64_t bytes = 0;
  /// Mover of data that are not in host memory, for an endpoint that supports movers.
  Mover *mover = nullptr;

  // Fields of the transport.
  bool isDone = false, isMoving = false;
  Transfer *next = nullptr;
  uintptr_t request = 0; ///< request of a message passing library
};

/// Side of one program. Only one thread may use it at a time.
class Endpoint {
public:
  /// Ends the program: peers that wait for it get an error.
  virtual ~Endpoint();
  virtual Expected<uint32_t> findPeer(const std::string &program) = 0;
  /// Returns whether the endpoint supports transfers with movers.
  virtual bool takesMovers() const { return false; }
  /// Begins a transfer. Sends from one program to another with one tag meet the receives in their
  /// order. Allocates no memory.
  virtual Error start(Transfer &transfer) = 0;
  /// Returns when the transfer is done. Fails if it will never be done, because the peer has ended
  /// or failed, or waits for this program.
  virtual Error wait(Transfer &transfer) = 0;
  /// Blocks until `isDone`, which queries the device, returns true. Only transports whose transfers
  /// continue after wait() need it; others return success at once. Fails as wait() does.
  virtual bool goesOnBehindWait() const { return false; }
  virtual Error waitForDevice(const std::function<Expected<bool>()> &isDone);
  /// Announces that the program has failed; all other programs end with an error that gives the
  /// reason.
  virtual void fail(const std::string &why) = 0;
};

class Transport {
public:
  virtual ~Transport();
  /// Returns the side of a program; each program joins once.
  virtual Expected<std::unique_ptr<Endpoint>> join(const std::string &program) = 0;
  /// Returns the program whose failure ended the others; empty if all run or wait for each other.
  virtual std::optional<std::string> firstFailure() const = 0;
  /// Describes the transport and the reason for its choice, for people; empty if only one transport
  /// is possible.
  virtual std::string description() const { return ""; }
};

/// Makes the transport between programs, each on a thread of this process. A value is copied
/// directly to its destination when send and receive have both been started, without a buffer
/// between them.
std::unique_ptr<Transport> makeLocalTransport(const std::vector<std::string> &programs);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_TRANSPORT_H
