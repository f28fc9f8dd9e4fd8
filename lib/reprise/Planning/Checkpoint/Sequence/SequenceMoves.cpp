// reprise: replays that come into a sequence and go again
#include "SequenceMoves.h"

#include <algorithm>

using namespace reprise::checkpoint;
using Exec = Sequence::Exec;
using Item = Sequence::Item;
using Reader = Sequence::Reader;

namespace {
/// The place where a replay runs.
struct Home {
  int step = -1; ///< -1 for a new step
  bool isJoined = false, isFirst = false;
};
} // namespace

int reprise::checkpoint::findLatest(const Sequence &sequence, int cell, int place) {
  int latest = -1, latestPlace = -1;
  for (int item : sequence.byCell[cell]) {
    const Exec &exec = sequence.execs[sequence.items[item].exec];
    int own = sequence.steps[exec.step].place;
    if (!exec.isJoined && own < place && own > latestPlace) {
      latest = item;
      latestPlace = own;
    }
  }
  return latest;
}

/// Finds the items that a replay would read. Returns false if one is missing.
static bool findSources(const Sequence &sequence, const Pieces::Piece &piece, Proposal &proposal) {
  proposal.sources.clear();
  for (const Pieces::Read &read : piece.reads) {
    proposal.sources.push_back(findLatest(sequence, read.cell, proposal.place));
    if (proposal.sources.back() < 0)
      return false;
  }
  return true;
}

/// Finds the movable readers of the old execution, from the place on, whose cells the piece makes.
static void findMoved(const Sequence &sequence, const Pieces::Piece &piece, Proposal &proposal) {
  proposal.moved.clear();
  const std::vector<Pieces::Result> &results = sequence.pieceOf(proposal.old).results;
  for (size_t result = 0; result < piece.results.size(); ++result)
    for (size_t other = 0; other < results.size(); ++other) {
      if (results[other].cell != piece.results[result].cell)
        continue;
      int from = sequence.execs[proposal.old].firstItem + static_cast<int>(other);
      for (Reader reader : sequence.items[from].readers)
        if (sequence.pieceOf(reader.exec).reads[reader.read].mayMove &&
            sequence.placeOf(reader.exec) >= proposal.place)
          proposal.moved.push_back({static_cast<int>(result), reader, from});
    }
}

static bool runsIn(const Sequence &sequence, int piece, int step) {
  return std::any_of(sequence.steps[step].execs.begin(), sequence.steps[step].execs.end(),
                     [&](int exec) { return sequence.execs[exec].piece == piece; });
}

bool reprise::checkpoint::mayRunBefore(const Sequence &sequence, int launch, int place) {
  return std::all_of(sequence.pieces->overwriters[launch].begin(),
                     sequence.pieces->overwriters[launch].end(),
                     [&](int other) { return sequence.steps[other].place > place; });
}

/// Finds the step of a replay that `host` reads first: the host itself if it can take the items
/// from registers, the step before it if that replays the same launch, or a new one. None if the
/// piece runs there already.
static std::optional<Home> findHome(const Sequence &sequence, int number, int host,
                                    const std::vector<Moved> &moved,
                                    const std::vector<int> &sources) {
  const Pieces::Piece &piece = sequence.pieces->pieces[number];
  bool isAlone = true, fromRegisters = true;
  for (const Moved &each : moved) {
    bool isHost = sequence.execs[each.reader.exec].step == host;
    isAlone &= isHost;
    fromRegisters &=
        !isHost || sequence.pieceOf(each.reader.exec).reads[each.reader.read].fromRegisters;
  }
  Home home;
  home.isJoined = !sequence.steps[host].isReplay && piece.isElementwise && isAlone && fromRegisters;
  home.isFirst = home.isJoined || (sequence.steps[host].isReplay &&
                                   sequence.steps[host].launch == piece.launch && fromRegisters);
  if (home.isFirst) {
    home.step = host;
    return runsIn(sequence, number, host) ? std::nullopt : std::optional(home);
  }
  int before =
      sequence.steps[host].place > 0 ? sequence.order[sequence.steps[host].place - 1] : host;
  bool appends = sequence.steps[before].isReplay && sequence.steps[before].launch == piece.launch &&
                 !runsIn(sequence, number, before);
  for (size_t read = 0; read < sources.size(); ++read)
    appends &= piece.reads[read].fromRegisters ||
               sequence.execs[sequence.items[sources[read]].exec].step != before;
  home.step = appends ? before : -1;
  return home;
}

bool reprise::checkpoint::propose(const Sequence &sequence, int item, Reader reader,
                                  Proposal &proposal) {
  proposal.old = sequence.items[item].exec;
  proposal.place = sequence.placeOf(reader.exec);
  proposal.piece = sequence.pieces->cells[sequence.items[item].cell].replay;
  if (proposal.piece < 0 || !sequence.pieceOf(reader.exec).reads[reader.read].mayMove ||
      proposal.place <= sequence.placeOf(proposal.old))
    return false;
  const Pieces::Piece &piece = sequence.pieces->pieces[proposal.piece];
  if (!findSources(sequence, piece, proposal) ||
      !mayRunBefore(sequence, piece.launch, proposal.place))
    return false;
  findMoved(sequence, piece, proposal);
  return true;
}

int reprise::checkpoint::make(Sequence &sequence, const Proposal &proposal) {
  int host = sequence.order[proposal.place];
  std::optional<Home> home =
      findHome(sequence, proposal.piece, host, proposal.moved, proposal.sources);
  if (!home)
    return -1;
  int step = home->step;
  if (step < 0)
    step = sequence.makeStep(proposal.place, sequence.pieces->pieces[proposal.piece].launch);
  int exec =
      sequence.add(proposal.piece, step, home->isFirst ? 0 : sequence.steps[step].execs.size(),
                   home->isJoined, proposal.sources);
  for (const Moved &each : proposal.moved)
    sequence.moveReader(each.reader, sequence.execs[exec].firstItem + each.result);
  return exec;
}

void reprise::checkpoint::takeBack(Sequence &sequence, int exec, const std::vector<Moved> &moved) {
  for (size_t i = moved.size(); i-- > 0;)
    sequence.moveReader(moved[i].reader, moved[i].from);
  sequence.drop(exec);
}

int reprise::checkpoint::insert(Sequence &sequence, int piece, int place,
                                const std::vector<int> &sources, bool appends) {
  int step = appends ? sequence.order[place - 1]
                     : sequence.makeStep(place, sequence.pieces->pieces[piece].launch);
  return sequence.add(piece, step, sequence.steps[step].execs.size(), /*isJoined=*/false, sources);
}

bool reprise::checkpoint::canRemove(const Sequence &sequence, int exec) {
  if (!sequence.isReplay(exec))
    return false;
  for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result) {
    const Item &item = sequence.items[sequence.execs[exec].firstItem + result];
    int heir = item.readers.empty() ? 0 : findLatest(sequence, item.cell, sequence.placeOf(exec));
    if (heir < 0 || (!item.readers.empty() && sequence.pieces->cells[item.cell].mustReplay &&
                     !sequence.isReplay(sequence.items[heir].exec)))
      return false;
  }
  return true;
}

Removed reprise::checkpoint::remove(Sequence &sequence, int exec) {
  Removed removed;
  for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result) {
    int from = sequence.execs[exec].firstItem + static_cast<int>(result);
    std::vector<Reader> readers = sequence.items[from].readers;
    int heir = readers.empty()
                   ? -1
                   : findLatest(sequence, sequence.items[from].cell, sequence.placeOf(exec));
    for (Reader reader : readers) {
      sequence.moveReader(reader, heir);
      removed.moved.push_back({static_cast<int>(result), reader, heir});
    }
  }
  const Exec &own = sequence.execs[exec];
  const std::vector<int> &execs = sequence.steps[own.step].execs;
  removed.piece = own.piece;
  removed.place = sequence.placeOf(exec);
  removed.step = own.step;
  removed.isJoined = own.isJoined;
  removed.hadStep = execs.size() == 1;
  removed.index = std::find(execs.begin(), execs.end(), exec) - execs.begin();
  removed.sources = own.sources;
  sequence.drop(exec);
  return removed;
}

int reprise::checkpoint::restore(Sequence &sequence, const Removed &removed) {
  int step = removed.hadStep
                 ? sequence.makeStep(removed.place, sequence.pieces->pieces[removed.piece].launch)
                 : removed.step;
  int exec = sequence.add(removed.piece, step, removed.index, removed.isJoined, removed.sources);
  for (const Moved &each : removed.moved)
    sequence.moveReader(each.reader, sequence.execs[exec].firstItem + each.result);
  return exec;
}

void reprise::checkpoint::join(Sequence &sequence, int exec, int host) {
  int piece = sequence.execs[exec].piece;
  std::vector<int> sources = sequence.execs[exec].sources;
  int joined = sequence.add(piece, host, 0, /*isJoined=*/true, std::move(sources));
  for (size_t result = 0; result < sequence.pieceOf(exec).results.size(); ++result) {
    std::vector<Reader> readers = sequence.items[sequence.execs[exec].firstItem + result].readers;
    for (Reader reader : readers)
      sequence.moveReader(reader, sequence.execs[joined].firstItem + static_cast<int>(result));
  }
  sequence.drop(exec);
}
