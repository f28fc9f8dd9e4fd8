// reprise: work in streams: vector clocks define the order, and no work runs before it must
#ifndef REPRISE_GPU_EMULATOR_STREAMS_H
#define REPRISE_GPU_EMULATOR_STREAMS_H

#include "Machine.h"

#include <functional>
#include <list>
#include <memory>
#include <random>

namespace reprise::emulator {

/// Clock: number of finished pieces per stream.
using Clock = std::vector<uint64_t>;
void join(Clock &into, const Clock &other);

/// Function of a piece of work, which gets its number in the shadow and the launches ordered before
/// it.
using Work = std::function<FaultReport(unsigned number, const uint8_t *ordered)>;
/// Function of work that another process takes part in: advances it as far as the other process has
/// come, and returns whether it can run now. Called when all earlier work is done.
using Gate = std::function<bool()>;

struct Piece {
  unsigned stream = 0;
  Clock clock; ///< clock of its end
  uint64_t sequence = 0;
  std::vector<std::shared_ptr<Piece>> needs; ///< pieces of other streams
  Work work;                                 ///< empty for marks
  Gate gate;                                 ///< empty if it waits only for pieces
  bool done = false;
  double seconds = 0; ///< time at which a mark was reached
};
using PiecePtr = std::shared_ptr<Piece>;

struct Capture;

struct Stream {
  unsigned number = 0;
  int device = 0;
  bool blocking = true;
  Clock clock;
  std::list<PiecePtr> queue; ///< pieces that are not done
  PiecePtr last;
  Capture *capture = nullptr;
  unsigned captureIndex = 0;
};

struct Event {
  PiecePtr piece; ///< null if it was never recorded
  Capture *capture = nullptr;
  unsigned captureIndex = 0; ///< index of the record in the capture
};

/// Command of a captured graph.
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
  std::vector<Stream *> others; ///< own streams for all but the first
  PiecePtr last;
};

/// Streams of a process. Not thread-safe.
class Scheduler {
public:
  Scheduler(Memory &memory, Order order) : memory(memory), order(order) {}

  Stream *create(int device, bool blocking);
  void destroy(Stream *stream);
  bool owns(const Stream *stream) const;
  Stream *defaultStream(int device);

  /// Adds work behind the stream's work; during a capture, to its graph.
  void enqueue(Stream &stream, Work work);
  /// Adds gated work; not allowed during a capture.
  void enqueueGated(Stream &stream, Work work, Gate gate);
  void record(Stream &stream, Event &event);
  /// Adds a wait. Returns false if the event belongs to another capture, or if the stream is
  /// captured and the event is not.
  bool wait(Stream &stream, const Event &event);

  /// Runs the piece and its needs; the host then knows that it is done. The first fault stays.
  bool finish(const PiecePtr &piece);
  bool finishStream(Stream &stream);
  bool finishDevice(int device);
  bool finishAll();
  /// Runs the needs of the piece that do not need another process; returns whether the piece is
  /// done.
  bool advance(const PiecePtr &piece);
  void advanceAll();
  /// Callback that runs while the streams wait for another process.
  std::function<void()> whenStuck;
  bool capturing(int device) const;

  Capture *beginCapture(Stream &stream);
  /// Ends a capture; returns null if a stream does not return to the stream that began.
  std::unique_ptr<Graph> endCapture(Stream &stream);
  void launch(GraphExec &exec, Stream &stream);

  const FaultReport &fault() const { return report; }

private:
  PiecePtr add(Stream &stream, Work work);
  void addToCapture(Stream &stream, GraphCommand command);
  void execute(Stream &stream);
  bool canBeDone(const Piece &piece) const;
  /// Returns null if all remaining work waits for other processes.
  Stream *choose(const PiecePtr &wanted);
  const uint8_t *orderedBefore(const Piece &piece);

  Memory &memory;
  Order order;
  std::vector<std::unique_ptr<Stream>> streams; ///< null for destroyed streams
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
