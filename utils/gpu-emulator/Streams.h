// reprise: work in streams: vector clocks say what is ordered, and nothing is done before it must
// be
#ifndef REPRISE_GPU_EMULATOR_STREAMS_H
#define REPRISE_GPU_EMULATOR_STREAMS_H

#include "Machine.h"

#include <functional>
#include <list>
#include <memory>
#include <random>

namespace reprise::emulator {

/// For each stream, by its number: how many pieces of its work are done.
using Clock = std::vector<uint64_t>;
void join(Clock &into, const Clock &other);

/// What a piece of work does, given its number in the shadow and what is ordered before it.
using Work = std::function<FaultReport(unsigned number, const uint8_t *ordered)>;
/// Of work that another process takes part in: goes on with it as far as that one has come, and
/// tells whether it can be done now. Asked when all before it is done.
using Gate = std::function<bool()>;

struct Piece {
  unsigned stream = 0;
  Clock clock; ///< of its end
  uint64_t sequence = 0;
  std::vector<std::shared_ptr<Piece>> needs; ///< of other streams
  Work work;                                 ///< empty for marks
  Gate gate;                                 ///< empty if nothing else is waited for
  bool done = false;
  double seconds = 0; ///< of a mark: when it was reached
};
using PiecePtr = std::shared_ptr<Piece>;

struct Capture;

struct Stream {
  unsigned number = 0;
  int device = 0;
  bool blocking = true;
  Clock clock;
  std::list<PiecePtr> queue; ///< what is not done
  PiecePtr last;
  Capture *capture = nullptr;
  unsigned captureIndex = 0;
};

struct Event {
  PiecePtr piece; ///< null if it was never recorded
  Capture *capture = nullptr;
  unsigned captureIndex = 0; ///< of the record within the capture
};

/// One command of a captured graph.
struct GraphCommand {
  enum class Kind : uint8_t { Work, Record, Wait };
  Kind kind = Kind::Work;
  unsigned stream = 0, event = 0;
  Work work;
};

struct Graph {
  std::vector<GraphCommand> commands;
  unsigned streams = 1, events = 0;
};

/// A capture that goes on. Its clocks tell whether all streams come back to the first one.
struct Capture {
  Graph graph;
  std::vector<Stream *> streams;
  std::vector<Clock> clocks, eventClocks;
};

struct GraphExec {
  Graph graph;
  std::vector<Stream *> others; ///< streams of its own for all but the first
  PiecePtr last;
};

/// All streams of a process. It is not thread-safe.
class Scheduler {
public:
  Scheduler(Memory &memory, Order order) : memory(memory), order(order) {}

  Stream *create(int device, bool blocking);
  void destroy(Stream *stream);
  bool owns(const Stream *stream) const;
  Stream *defaultStream(int device);

  /// Adds work behind what the stream has; with a capture, to its graph.
  void enqueue(Stream &stream, Work work);
  /// Not for a stream that is captured.
  void enqueueGated(Stream &stream, Work work, Gate gate);
  void record(Stream &stream, Event &event);
  /// False if the event is of another capture, or the stream is captured and the event is not.
  bool wait(Stream &stream, const Event &event);

  /// Does what the piece needs, and it. The host knows then that it is done. The first fault stays.
  bool finish(const PiecePtr &piece);
  bool finishStream(Stream &stream);
  bool finishDevice(int device);
  bool finishAll();
  /// Does what can be done for the piece without another process; whether it is done.
  bool advance(const PiecePtr &piece);
  void advanceAll();
  /// Called while another process is waited for.
  std::function<void()> whenStuck;
  bool capturing(int device) const;

  Capture *beginCapture(Stream &stream);
  /// Null if a stream does not come back to the one that began.
  std::unique_ptr<Graph> endCapture(Stream &stream);
  void launch(GraphExec &exec, Stream &stream);

  const FaultReport &fault() const { return report; }

private:
  PiecePtr add(Stream &stream, Work work);
  void addToCapture(Stream &stream, GraphCommand command);
  void execute(Stream &stream);
  bool canBeDone(const Piece &piece) const;
  /// Null if all that is left waits for other processes.
  Stream *choose(const PiecePtr &wanted);
  const uint8_t *orderedBefore(const Piece &piece);

  Memory &memory;
  Order order;
  std::vector<std::unique_ptr<Stream>> streams; ///< null where one was destroyed
  std::vector<Stream *> defaults;               ///< by device
  std::vector<std::unique_ptr<Capture>> captures;
  Clock hostClock;
  uint64_t sequence = 0;
  std::vector<std::pair<unsigned, uint64_t>> numbers = {{0, 0}}; ///< stream and clock of launches
  std::vector<uint8_t> ordered;
  std::mt19937 random{12345};
  FaultReport report;
};

} // namespace reprise::emulator

#endif
