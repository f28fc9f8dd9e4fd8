// reprise: the pieces of a schedule in an order that respects their waits
#include "Walk.h"

#include <algorithm>

namespace reprise::pipeline {

Walk::Walk(const Schedule &schedule, const Pipeline &pipeline)
    : schedule(schedule), pipeline(pipeline), sources(schedule.shape.stages()),
      readers(schedule.shape.stages()), places(schedule.ranks.size()),
      ended(3 * schedule.shape.stages()), ends(3 * schedule.shape.stages()),
      arrivals(2 * pipeline.transfers.size()), waiting(schedule.shape.stages()) {
  int number = 0;
  for (const Transfer &transfer : pipeline.transfers) {
    sources[transfer.to].push_back({transfer.from, number});
    readers[transfer.from].push_back({transfer.to, number++});
  }
  for (std::vector<double> &line : ends)
    line.reserve(schedule.shape.microbatches);
  for (size_t rank = places.size(); rank-- > 0;)
    ready.push_back(static_cast<int>(rank));
}

void Walk::await(Waiting &waiting, const Piece &other, double at) const {
  if (!waiting.isReady)
    return;
  if (!hasEnded(other))
    waiting = {false, 0, other};
  else
    waiting.ready = std::max(waiting.ready, at);
}

/// Waits for messages: a forward pass reads from its sources, a backward pass from its readers.
void Walk::awaitMessages(Waiting &waiting, const Piece &piece) const {
  bool isForward = piece.pass == Pass::Forward;
  for (const Link &link : isForward ? sources[piece.stage] : readers[piece.stage]) {
    Piece sender{piece.pass, link.stage, piece.microbatch};
    const std::vector<double> &messages = arrivals[2 * link.transfer + !isForward];
    await(waiting, sender, hasEnded(sender) ? messages[piece.microbatch] : 0);
  }
}

/// Returns whether both stages are on one rank: such messages need no time, and no buffer.
bool Walk::isLocal(int stage, int other) const {
  return schedule.shape.rankOf(stage) == schedule.shape.rankOf(other);
}

void Walk::awaitBuffers(Waiting &waiting, const Piece &piece) const {
  bool isForward = piece.pass == Pass::Forward;
  for (const Link &link : isForward ? readers[piece.stage] : sources[piece.stage]) {
    int64_t buffers = pipeline.buffers + pipeline.transfers[link.transfer].countSkipped();
    if (isLocal(piece.stage, link.stage) || piece.microbatch < buffers)
      continue;
    Piece reader{piece.pass, link.stage, static_cast<int32_t>(piece.microbatch - buffers)};
    await(waiting, reader, endOf(reader));
  }
}

Walk::Waiting Walk::look(const Piece &piece) const {
  Waiting waiting{true, 0, {}};
  if (piece.pass == Pass::Weight) {
    Piece backward{Pass::Backward, piece.stage, piece.microbatch};
    await(waiting, backward, endOf(backward));
    return waiting;
  }
  if (piece.pass == Pass::Backward) {
    Piece forward{Pass::Forward, piece.stage, piece.microbatch};
    await(waiting, forward, endOf(forward));
  }
  awaitMessages(waiting, piece);
  awaitBuffers(waiting, piece);
  return waiting;
}

/// Messages of one direction follow each other.
void Walk::send(const Piece &piece, double at) {
  if (piece.pass == Pass::Weight)
    return;
  bool isForward = piece.pass == Pass::Forward;
  for (const Link &link : isForward ? readers[piece.stage] : sources[piece.stage]) {
    const Transfer &transfer = pipeline.transfers[link.transfer];
    std::vector<double> &messages = arrivals[2 * link.transfer + !isForward];
    if (isLocal(piece.stage, link.stage)) {
      messages.push_back(at);
      continue;
    }
    double begin = messages.empty() ? at : std::max(at, messages.back());
    messages.push_back(begin + (isForward ? transfer.forward : transfer.backward));
  }
}

void Walk::advance(int rank, const Visit &visit) {
  const std::vector<Piece> &pieces = schedule.ranks[rank];
  for (size_t &place = places[rank]; place < pieces.size(); ++place) {
    const Piece &piece = pieces[place];
    Waiting found = look(piece);
    if (!found.isReady) {
      waiting[found.open.stage].push_back(rank);
      return;
    }
    double at = visit(rank, place, found.ready);
    ends[line(piece.pass, piece.stage)].push_back(at);
    ++ended[line(piece.pass, piece.stage)];
    send(piece, at);
    ready.insert(ready.end(), waiting[piece.stage].begin(), waiting[piece.stage].end());
    waiting[piece.stage].clear();
  }
}

bool Walk::run(const Visit &visit) {
  while (!ready.empty()) {
    int rank = ready.back();
    ready.pop_back();
    advance(rank, visit);
  }
  for (size_t rank = 0; rank < places.size(); ++rank)
    if (!isDone(static_cast<int>(rank)))
      return false;
  return true;
}

std::pair<Piece, Piece> Walk::getWait(int rank) const {
  const Piece &piece = schedule.ranks[rank][places[rank]];
  return {piece, look(piece).open};
}

} // namespace reprise::pipeline
