// reprise: work in streams, and its order
#include "Streams.h"

#include <algorithm>
#include <chrono>

using namespace reprise::emulator;

namespace {

double secondsNow() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

} // namespace

void reprise::emulator::join(Clock &into, const Clock &other) {
  if (into.size() < other.size())
    into.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    into[i] = std::max(into[i], other[i]);
}

Stream *Scheduler::create(int device, bool blocking) {
  streams.push_back(std::make_unique<Stream>());
  Stream *made = streams.back().get();
  made->number = streams.size() - 1;
  made->device = device;
  made->blocking = blocking;
  return made;
}

void Scheduler::destroy(Stream *stream) {
  finishStream(*stream);
  streams[stream->number].reset();
}

bool Scheduler::owns(const Stream *stream) const {
  return std::any_of(streams.begin(), streams.end(),
                     [&](const auto &own) { return own.get() == stream; });
}

Stream *Scheduler::defaultStream(int device) {
  if (defaults.size() <= size_t(device))
    defaults.resize(device + 1);
  if (!defaults[device])
    defaults[device] = create(device, true);
  return defaults[device];
}

/// Adds work. The default stream and blocking streams are mutually ordered: each follows the
/// earlier work of the other.
PiecePtr Scheduler::add(Stream &stream, Work work) {
  auto piece = std::make_shared<Piece>();
  piece->stream = stream.number;
  piece->sequence = ++sequence;
  piece->work = std::move(work);
  join(stream.clock, hostClock);
  Stream *byDefault = defaultStream(stream.device);
  for (auto &other : streams) {
    bool meets =
        other && other.get() != &stream && other->device == stream.device &&
        (&stream == byDefault ? other->blocking : stream.blocking && other.get() == byDefault);
    if (!meets || !other->last)
      continue;
    piece->needs.push_back(other->last);
    join(stream.clock, other->last->clock);
  }
  if (stream.clock.size() <= stream.number)
    stream.clock.resize(stream.number + 1);
  ++stream.clock[stream.number];
  piece->clock = stream.clock;
  stream.queue.push_back(piece);
  return stream.last = piece;
}

void Scheduler::enqueue(Stream &stream, Work work) {
  if (stream.capture)
    return addToCapture(stream, {GraphCommand::Kind::Work, 0, 0, std::move(work)});
  add(stream, std::move(work));
}

void Scheduler::enqueueGated(Stream &stream, Work work, Gate gate) {
  add(stream, std::move(work))->gate = std::move(gate);
}

void Scheduler::record(Stream &stream, Event &event) {
  event.capture = stream.capture;
  if (stream.capture) {
    event.captureIndex = stream.capture->graph.events;
    return addToCapture(stream, {GraphCommand::Kind::Record, 0, event.captureIndex, {}});
  }
  event.piece = add(stream, {});
}

bool Scheduler::wait(Stream &stream, const Event &event) {
  if (stream.capture || event.capture) {
    if (!event.capture || (stream.capture && stream.capture != event.capture))
      return false;
    if (!stream.capture) {
      stream.capture = event.capture;
      stream.captureIndex = event.capture->streams.size();
      event.capture->streams.push_back(&stream);
      event.capture->clocks.emplace_back();
    }
    addToCapture(stream, {GraphCommand::Kind::Wait, 0, event.captureIndex, {}});
    return true;
  }
  if (!event.piece)
    return true;
  join(stream.clock, event.piece->clock);
  add(stream, {})->needs.push_back(event.piece);
  return true;
}

/// Returns the launches ordered before a piece. Its number in the shadow encodes its stream and its
/// time. If all numbers are used, old ones are reused: all earlier work then counts as ordered.
const uint8_t *Scheduler::orderedBefore(const Piece &piece) {
  if (numbers.size() == numLaunches) {
    memory.forgetLaunches();
    numbers.resize(1);
  }
  ordered.assign(numLaunches, 0);
  ordered[0] = 1;
  for (size_t i = 1; i < numbers.size(); ++i)
    ordered[i] =
        numbers[i].first < piece.clock.size() && piece.clock[numbers[i].first] >= numbers[i].second;
  numbers.push_back({piece.stream, piece.clock[piece.stream]});
  return ordered.data();
}

/// Runs the first piece of a stream, whose needs are met.
void Scheduler::execute(Stream &stream) {
  PiecePtr piece = stream.queue.front();
  stream.queue.pop_front();
  if (piece->work && report.fault == Fault::None) {
    const uint8_t *before = orderedBefore(*piece);
    report = piece->work(numbers.size() - 1, before);
  }
  if (!piece->work)
    piece->seconds = secondsNow();
  piece->done = true;
  piece->work = nullptr;
  piece->gate = nullptr;
  piece->needs.clear();
}

/// Returns whether a piece can run. After a fault no work runs, so nothing is waited for.
bool Scheduler::canBeDone(const Piece &piece) const {
  return std::all_of(piece.needs.begin(), piece.needs.end(),
                     [](const PiecePtr &need) { return need->done; }) &&
         (!piece.gate || report.fault != Fault::None || piece.gate());
}

/// Returns the stream whose first piece is next: the oldest piece; any that can run; or one that
/// `wanted` needs.
Stream *Scheduler::choose(const PiecePtr &wanted) {
  std::vector<Stream *> ready;
  for (auto &stream : streams) {
    if (!stream || stream->queue.empty())
      continue;
    if (canBeDone(*stream->queue.front()))
      ready.push_back(stream.get());
  }
  if (ready.empty())
    return nullptr;
  if (order == Order::Shuffled)
    return ready[random() % ready.size()];
  if (order == Order::Forwards)
    return *std::min_element(ready.begin(), ready.end(), [](Stream *a, Stream *b) {
      return a->queue.front()->sequence < b->queue.front()->sequence;
    });
  // We follow the waits back to a piece that waits for no other.
  PiecePtr piece = wanted;
  while (true) {
    Stream *stream = streams[piece->stream].get();
    const PiecePtr &first = stream->queue.front();
    auto open = std::find_if(first->needs.begin(), first->needs.end(),
                             [](const PiecePtr &need) { return !need->done; });
    // A piece that waits for another process may depend on the rest of this one.
    if (open == first->needs.end())
      return canBeDone(*first) ? stream : ready.front();
    piece = *open;
  }
}

bool Scheduler::finish(const PiecePtr &piece) {
  if (!piece)
    return report.fault == Fault::None;
  while (!piece->done) {
    if (Stream *next = choose(piece))
      execute(*next);
    else
      whenStuck();
  }
  join(hostClock, piece->clock);
  return report.fault == Fault::None;
}

bool Scheduler::advance(const PiecePtr &piece) {
  while (piece && !piece->done) {
    Stream *next = choose(piece);
    if (!next)
      return false;
    execute(*next);
  }
  if (piece)
    join(hostClock, piece->clock);
  return true;
}

void Scheduler::advanceAll() {
  for (size_t i = 0; i < streams.size(); ++i)
    if (streams[i])
      advance(streams[i]->last);
}

bool Scheduler::finishStream(Stream &stream) { return finish(stream.last); }

bool Scheduler::finishDevice(int device) {
  for (size_t i = 0; i < streams.size(); ++i)
    if (streams[i] && streams[i]->device == device)
      finishStream(*streams[i]);
  return report.fault == Fault::None;
}

bool Scheduler::finishAll() {
  for (size_t i = 0; i < streams.size(); ++i)
    if (streams[i])
      finishStream(*streams[i]);
  return report.fault == Fault::None;
}
