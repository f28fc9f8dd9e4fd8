// reprise: messages between the processes of a run, whatever library carries them
#ifndef REPRISE_RUNTIME_WIRE_H
#define REPRISE_RUNTIME_WIRE_H

#include "reprise/Runtime/Transport.h"

namespace reprise::runtime {

/// What a run of several processes needs of a message passing library. For one thread at a time.
class Wire {
public:
  struct Message {
    uint32_t from = 0;
    std::string text;
  };

  virtual ~Wire();
  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;

  /// Begins a transfer with the rank `transfer.peer`. Those of two ranks with one tag meet in
  /// order.
  virtual Error start(Transfer &transfer) = 0;
  /// Whether it is done. Others go on meanwhile.
  virtual Expected<bool> test(Transfer &transfer) = 0;
  /// Forgets one that is not done: its data may go away.
  virtual void drop(Transfer &transfer) = 0;

  /// Lets transfers go on: a library may move nothing but when it is called.
  virtual void progress() = 0;

  /// Sends a text of any length; those from one rank to another arrive in order.
  virtual Error tell(uint32_t rank, const std::string &text) = 0;
  /// The next text that has arrived.
  virtual std::optional<Message> hear() = 0;

  /// Called by all processes: no message comes any more. After an error, which is a code other than
  /// 0, it ends the process with that code if it lasts longer than some seconds.
  virtual void leave(int code) = 0;
  /// Ends all processes at once.
  [[noreturn]] virtual void abort(int code) = 0;
};

/// The same for several threads, with one of its own that makes transfers go on while their program
/// computes.
std::unique_ptr<Wire> makeBackgroundWire(std::unique_ptr<Wire> wire);

/// What the program that started this process says of it.
struct Launch {
  uint32_t rank = 0, size = 1;
};

/// By the environment that mpirun makes; nothing for a process that was started by itself.
std::optional<Launch> findLaunch();

/// The wire of a process that mpirun started, from the library libRepriseMpi, which is loaded now.
/// An error if there is none, or if it is of another MPI than mpirun.
Expected<std::unique_ptr<Wire>> openWire(const Launch &launch);

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_WIRE_H
