// reprise: a sequence of executions under change: the changes
#include "Sequence.h"

#include <algorithm>

using namespace reprise::checkpoint;

int Sequence::slackAhead(int number) const {
  const Step &step = steps[number];
  int last = size();
  auto stayBefore = [&](int other) {
    if (other != number)
      last = std::min(last, steps[other].place);
  };
  for (int exec : step.execs) {
    for (size_t result = 0; result < pieceOf(exec).results.size(); ++result)
      for (Reader reader : items[execs[exec].firstItem + result].readers)
        stayBefore(execs[reader.exec].step);
    for (int launch :
         pieces->overwriters[isReplay(exec) ? pieceOf(exec).launch : pieces->numLaunches])
      stayBefore(launch);
  }
  if (!step.isReplay) {
    for (int launch : pieces->after[step.launch])
      stayBefore(launch);
    for (int exec : replays[step.launch])
      stayBefore(execs[exec].step);
  }
  return last - 1 - step.place;
}

int Sequence::slackBack(int number) const {
  const Step &step = steps[number];
  int first = -1;
  auto stayBehind = [&](int other) {
    if (other != number)
      first = std::max(first, steps[other].place);
  };
  for (int exec : step.execs) {
    for (int source : execs[exec].sources)
      stayBehind(execs[items[source].exec].step);
    stayBehind(pieceOf(exec).launch); // of which a replay repeats a part
  }
  if (!step.isReplay) {
    for (int launch : pieces->before[step.launch])
      stayBehind(launch);
    for (int launch : pieces->overwritten[step.launch])
      for (int exec : replays[launch])
        stayBehind(execs[exec].step);
  }
  return step.place - 1 - first;
}

/// Returns the latest item of a cell that lies in memory before a place; -1 for none.
int Sequence::findLatest(int cell, int place) const {
  int latest = -1, latestPlace = -1;
  for (int item : byCell[cell]) {
    const Exec &exec = execs[items[item].exec];
    int own = steps[exec.step].place;
    if (!exec.isJoined && own < place && own > latestPlace) {
      latest = item;
      latestPlace = own;
    }
  }
  return latest;
}

/// Returns the items that a replay at a place would read; none if one is missing.
std::vector<int> Sequence::findSources(const Pieces::Piece &piece, int place) const {
  std::vector<int> sources;
  for (const Pieces::Read &read : piece.reads) {
    sources.push_back(findLatest(read.cell, place));
    if (sources.back() < 0)
      return {};
  }
  return sources;
}

/// Lists the movable readers of an execution from a place on whose cells the piece makes.
std::vector<Sequence::Moved> Sequence::findMoved(const Pieces::Piece &piece, int old,
                                                 int place) const {
  std::vector<Moved> moved;
  const std::vector<Pieces::Result> &results = pieceOf(old).results;
  for (size_t result = 0; result < piece.results.size(); ++result)
    for (size_t other = 0; other < results.size(); ++other) {
      if (results[other].cell != piece.results[result].cell)
        continue;
      int from = execs[old].firstItem + static_cast<int>(other);
      for (Reader reader : items[from].readers)
        if (pieceOf(reader.exec).reads[reader.read].mayMove && placeOf(reader.exec) >= place)
          moved.push_back({static_cast<int>(result), reader, from});
    }
  return moved;
}

bool Sequence::runsIn(int piece, int step) const {
  return std::any_of(steps[step].execs.begin(), steps[step].execs.end(),
                     [&](int exec) { return execs[exec].piece == piece; });
}

bool Sequence::mayRunBefore(int launch, int place) const {
  return std::all_of(pieces->overwriters[launch].begin(), pieces->overwriters[launch].end(),
                     [&](int other) { return steps[other].place > place; });
}

/// Finds the step of a replay that `host` reads first: the host itself if it can take the items
/// from registers, the step before it if that replays the same launch, or a new one. None if the
/// piece runs there already.
std::optional<Sequence::Home> Sequence::findHome(int number, int host,
                                                 const std::vector<Moved> &moved,
                                                 const std::vector<int> &sources) const {
  const Pieces::Piece &piece = pieces->pieces[number];
  bool isAlone = true, fromRegisters = true;
  for (const Moved &each : moved) {
    bool isHost = execs[each.reader.exec].step == host;
    isAlone &= isHost;
    fromRegisters &= !isHost || pieceOf(each.reader.exec).reads[each.reader.read].fromRegisters;
  }
  Home home;
  home.isJoined = !steps[host].isReplay && piece.isElementwise && isAlone && fromRegisters;
  home.isFirst = home.isJoined ||
                 (steps[host].isReplay && steps[host].launch == piece.launch && fromRegisters);
  if (home.isFirst) {
    home.step = host;
    return runsIn(number, host) ? std::nullopt : std::optional(home);
  }
  int before = steps[host].place > 0 ? order[steps[host].place - 1] : host;
  bool appends =
      steps[before].isReplay && steps[before].launch == piece.launch && !runsIn(number, before);
  for (size_t read = 0; read < sources.size(); ++read)
    appends &= piece.reads[read].fromRegisters || execs[items[sources[read]].exec].step != before;
  home.step = appends ? before : -1;
  return home;
}

int Sequence::replay(int number, Reader reader, std::vector<Moved> &moved) {
  moved.clear();
  int old = items[number].exec, host = execs[reader.exec].step, place = steps[host].place;
  int wanted = pieces->cells[items[number].cell].replay;
  if (wanted < 0 || !pieceOf(reader.exec).reads[reader.read].mayMove || place <= placeOf(old))
    return -1;
  const Pieces::Piece &piece = pieces->pieces[wanted];
  std::vector<int> sources = findSources(piece, place);
  if (sources.size() != piece.reads.size() || !mayRunBefore(piece.launch, place))
    return -1;
  moved = findMoved(piece, old, place);
  std::optional<Home> home = findHome(wanted, host, moved, sources);
  if (!home)
    return -1;
  int step = home->step < 0 ? makeStep(place, piece.launch) : home->step;
  int exec = addExec(wanted, step, home->isFirst ? 0 : steps[step].execs.size(), home->isJoined,
                     std::move(sources));
  for (const Moved &each : moved)
    moveReader(each.reader, execs[exec].firstItem + each.result);
  return exec;
}

void Sequence::takeBack(int exec, const std::vector<Moved> &moved) {
  for (size_t i = moved.size(); i-- > 0;)
    moveReader(moved[i].reader, moved[i].from);
  drop(exec, nullptr);
}

int Sequence::insert(int piece, int place, const std::vector<int> &sources, bool appends) {
  int step = appends ? order[place - 1] : makeStep(place, pieces->pieces[piece].launch);
  return addExec(piece, step, steps[step].execs.size(), /*isJoined=*/false, sources);
}

bool Sequence::canRemove(int exec) const {
  if (!isReplay(exec))
    return false;
  for (size_t result = 0; result < pieceOf(exec).results.size(); ++result) {
    const Item &item = items[execs[exec].firstItem + result];
    int heir = item.readers.empty() ? 0 : findLatest(item.cell, placeOf(exec));
    if (heir < 0 || (!item.readers.empty() && pieces->cells[item.cell].mustReplay &&
                     !isReplay(items[heir].exec)))
      return false;
  }
  return true;
}

Sequence::Removed Sequence::remove(int exec) {
  Removed removed;
  for (size_t result = 0; result < pieceOf(exec).results.size(); ++result) {
    int from = execs[exec].firstItem + static_cast<int>(result);
    std::vector<Reader> readers = items[from].readers;
    int heir = readers.empty() ? -1 : findLatest(items[from].cell, placeOf(exec));
    for (Reader reader : readers) {
      moveReader(reader, heir);
      removed.moved.push_back({static_cast<int>(result), reader, heir});
    }
  }
  drop(exec, &removed);
  return removed;
}

int Sequence::restore(const Removed &removed) {
  int step = removed.hadStep ? makeStep(removed.place, pieces->pieces[removed.piece].launch)
                             : removed.step;
  int exec = addExec(removed.piece, step, removed.index, removed.isJoined, removed.sources);
  for (const Moved &each : removed.moved)
    moveReader(each.reader, execs[exec].firstItem + each.result);
  return exec;
}

void Sequence::join(int exec, int host) {
  int piece = execs[exec].piece;
  std::vector<int> sources = execs[exec].sources;
  int joined = addExec(piece, host, 0, /*isJoined=*/true, std::move(sources));
  for (size_t result = 0; result < pieceOf(exec).results.size(); ++result) {
    std::vector<Reader> readers = items[execs[exec].firstItem + result].readers;
    for (Reader reader : readers)
      moveReader(reader, execs[joined].firstItem + static_cast<int>(result));
  }
  drop(exec, nullptr);
}
