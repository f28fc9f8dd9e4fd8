// reprise: messages between the processes of a run, through any message passing library
#ifndef REPRISE_RUNTIME_WIRE_H
#define REPRISE_RUNTIME_WIRE_H

#include "reprise/Runtime/Transport.h"

namespace reprise::runtime {

/// Interface of a message passing library for a run of several processes. Only one thread may use
/// it at a time.
class Wire {
public:
  struct Message {
    uint32_t from = 0;
    std::string text;
  };

  virtual ~Wire();
  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;

  /// Begins a transfer with the rank `transfer.peer`. Transfers between two ranks with one tag meet
  /// in order.
  virtual Error start(Transfer &transfer) = 0;
  /// Returns whether the transfer is done. Other transfers continue meanwhile.
  virtual Expected<bool> test(Transfer &transfer) = 0;
  /// Cancels a transfer that is not done. Its data may then be freed.
  virtual void drop(Transfer &transfer) = 0;

  /// Lets transfers continue: some libraries move data only while they are called.
  virtual void progress() = 0;

  /// Sends a text of any length; texts from one rank to another arrive in order.
  virtual Error tell(uint32_t rank, const std::string &text) = 0;
  /// Returns the next text that has arrived.
  virtual std::optional<Message> hear() = 0;

  /// Ends the messages; called by all processes. If `code` is not 0, the process ends with that
  /// code after a few seconds at the latest.
  virtual void leave(int code) = 0;
  /// Ends all processes at once.
  [[noreturn]] virtual void abort(int code) = 0;
};

/// Wraps a wire for use by several threads. A background thread lets transfers continue while their
/// program computes.
std::unique_ptr<Wire> makeBackgroundWire(std::unique_ptr<Wire> wire);

/// Rank and size that the program which started this process has given it.
struct Launch {
  uint32_t rank = 0, size = 1;
};

/// Reads the environment that mpirun makes; empty for a process that was not started by mpirun.
std::optional<Launch> findLaunch();

/// Opens the wire of a process that mpirun started: loads the library libRepriseMpi. Fails if the
/// library is missing, or belongs to another MPI than mpirun.
Expected<std::unique_ptr<Wire>> openWire(const Launch &launch);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_WIRE_H
