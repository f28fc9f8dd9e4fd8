// reprise: a sequence of executions under change: its bytes and its cost
#include "Sequence.h"

#include <algorithm>

using namespace reprise::checkpoint;

/// Bytes that keep the end of the program, which has no peak, from being counted.
static constexpr int64_t kEndBytes = int64_t{1} << 60;

static int64_t excessOf(int64_t bytes) { return std::max<int64_t>(0, bytes); }

Sequence::Sequence(const Pieces &given, int64_t budget)
    : pieces(&given), byCell(given.cells.size()), budget(budget),
      above(given.numLaunches + 1, -budget), freeExecs(given.pieces.size()),
      replays(given.numLaunches + 1) {
  int count = pieces->numLaunches + 1;
  steps.resize(count);
  for (int launch = 0; launch < count; ++launch) {
    steps[launch].place = steps[launch].launch = launch;
    order.push_back(launch);
    execs[makeExec(launch)].step = launch;
    steps[launch].execs.push_back(launch);
    addExtra(launch, launch + 1 == count ? -kEndBytes : pieces->pieces[launch].scratch);
  }
  for (int launch = 0; launch < count; ++launch)
    for (const Pieces::Read &read : pieces->pieces[launch].reads) {
      const Pieces::Cell &cell = pieces->cells[read.cell];
      int item = execs[cell.launch].firstItem + cell.result;
      items[item].readers.push_back({launch, static_cast<int>(execs[launch].sources.size())});
      execs[launch].sources.push_back(item);
    }
  for (size_t item = 0; item < items.size(); ++item)
    attach(static_cast<int>(item));
  for (int launch = 0; launch < count; ++launch)
    for (size_t read = 0; read < execs[launch].sources.size(); ++read)
      countLoad(launch, static_cast<int>(read), 1);
}

void Sequence::setBudget(int64_t bytes) {
  addBytes(0, static_cast<int>(above.size()), budget - bytes);
  budget = bytes;
}

double Sequence::cost() const {
  const Footprint &footprint = pieces->footprint;
  return seconds + footprint.launchSeconds * numReplaySteps +
         footprint.byteSeconds * static_cast<double>(traffic);
}

int64_t Sequence::peak() const {
  return budget + *std::max_element(above.begin(), above.end() - 1);
}

const Pieces::Result &Sequence::resultOf(const Item &item) const {
  const Exec &exec = execs[item.exec];
  return pieces->pieces[exec.piece].results[&item - &items[exec.firstItem]];
}

bool Sequence::isRead(int exec) const {
  auto first = items.begin() + execs[exec].firstItem;
  return std::any_of(first, first + static_cast<long>(pieceOf(exec).results.size()),
                     [](const Item &item) { return !item.readers.empty(); });
}

void Sequence::addBytes(int begin, int end, int64_t bytes) {
  int64_t more = 0;
  for (int place = begin; place < end; ++place) {
    more -= excessOf(above[place]);
    above[place] += bytes;
    more += excessOf(above[place]);
  }
  totalExcess += more;
}

void Sequence::addExtra(int step, int64_t bytes) {
  steps[step].extra += bytes;
  addBytes(steps[step].place, steps[step].place + 1, bytes);
}

/// Changes how many results of a size may lie in places, and how many places there are. The bytes
/// that this spares are counted at the place of the step unless they are already.
void Sequence::addPlaces(int step, int sizeClass, int made, int dying, bool isCounted) {
  std::vector<Step::Places> &places = steps[step].places;
  auto found = std::find_if(places.begin(), places.end(),
                            [&](const Step::Places &each) { return each.sizeClass == sizeClass; });
  if (found == places.end())
    found = places.insert(found, {sizeClass, 0, 0});
  int before = std::min(found->made, found->dying);
  found->made += made;
  found->dying += dying;
  int64_t spared = (std::min(found->made, found->dying) - before) * pieces->sizes[sizeClass];
  if (found->made == 0 && found->dying == 0) {
    *found = places.back();
    places.pop_back();
  }
  if (spared != 0 && isCounted)
    addExtra(step, -spared);
  else
    steps[step].extra -= spared;
}

/// Counts what an item takes, or takes that away if `sign` is -1.
void Sequence::count(const Item &item, int sign) {
  const Pieces::Cell &cell = pieces->cells[item.cell];
  const Pieces::Result &result = resultOf(item);
  int64_t bytes = sign * cell.bytes;
  int first = execs[item.exec].step, last = item.last;
  bool staysInRegisters = last < 0 || last == first;
  if (staysInRegisters && !result.makesAll)
    return;
  addBytes(steps[first].place, steps[staysInRegisters ? first : last].place + 1, bytes);
  steps[first].made += bytes;
  if (staysInRegisters)
    return;
  if (result.takesPlaces)
    addPlaces(first, cell.sizeClass, sign, 0);
  if (item.dies)
    addPlaces(last, cell.sizeClass, 0, sign);
  if (!result.isKnown)
    traffic += bytes;
}

/// Finds the last reader of an item, and counts the item.
void Sequence::attach(int number) {
  Item &item = items[number];
  item.last = -1;
  item.dies = false;
  int lastPlace = -1;
  for (Reader reader : item.readers) {
    int step = execs[reader.exec].step, place = steps[step].place;
    bool takesPlace = pieceOf(reader.exec).reads[reader.read].takesPlace;
    if (place > lastPlace) {
      lastPlace = place;
      item.last = step;
      item.dies = takesPlace;
    } else if (place == lastPlace) {
      item.dies |= takesPlace;
    }
  }
  count(item, 1);
}

void Sequence::countLoad(int exec, int read, int sign) {
  const Item &item = items[execs[exec].sources[read]];
  if (!pieceOf(exec).reads[read].isUsual && execs[item.exec].step != execs[exec].step)
    traffic += sign * pieces->cells[item.cell].bytes;
}

/// Returns the bytes of items that lie in memory before the step at a place and in it.
int64_t Sequence::bytesAcross(int place) const {
  const Step &step = steps[order[place]];
  return above[place] + budget - step.extra - step.made;
}

void Sequence::renumber(size_t begin, size_t end) {
  for (size_t place = begin; place < end; ++place)
    steps[order[place]].place = static_cast<int>(place);
}

int Sequence::makeExec(int piece) {
  std::vector<int> &unused = freeExecs[piece];
  int exec = static_cast<int>(execs.size());
  const std::vector<Pieces::Result> &results = pieces->pieces[piece].results;
  if (!unused.empty()) {
    exec = unused.back();
    unused.pop_back();
  } else {
    execs.emplace_back();
    execs[exec].piece = piece;
    execs[exec].firstItem = static_cast<int>(items.size());
    for (const Pieces::Result &result : results) {
      items.emplace_back();
      items.back().exec = exec;
      items.back().cell = result.cell;
    }
  }
  for (size_t result = 0; result < results.size(); ++result)
    byCell[results[result].cell].push_back(execs[exec].firstItem + static_cast<int>(result));
  return exec;
}

/// Adds an execution that nothing reads yet.
int Sequence::addExec(int piece, int step, size_t index, bool isJoined, std::vector<int> sources) {
  int exec = makeExec(piece);
  execs[exec].step = step;
  execs[exec].isJoined = isJoined;
  execs[exec].sources = std::move(sources);
  steps[step].execs.insert(steps[step].execs.begin() + static_cast<long>(index), exec);
  for (size_t result = 0; result < pieceOf(exec).results.size(); ++result)
    attach(execs[exec].firstItem + static_cast<int>(result));
  link(exec);
  return exec;
}

int Sequence::makeStep(int place, int launch) {
  int step = static_cast<int>(steps.size());
  if (freeSteps.empty()) {
    steps.emplace_back();
  } else {
    step = freeSteps.back();
    freeSteps.pop_back();
    steps[step] = Step();
  }
  steps[step].launch = launch;
  steps[step].isReplay = true;
  int64_t own = bytesAcross(place) - budget;
  order.insert(order.begin() + place, step);
  above.insert(above.begin() + place, own);
  totalExcess += excessOf(own);
  renumber(place, order.size());
  ++numReplaySteps;
  return step;
}

void Sequence::eraseStep(int step) {
  int place = steps[step].place;
  totalExcess -= excessOf(above[place]);
  order.erase(order.begin() + place);
  above.erase(above.begin() + place);
  renumber(place, order.size());
  freeSteps.push_back(step);
  --numReplaySteps;
}

/// Makes a replay a reader of its sources, and counts what it takes beside its items.
void Sequence::link(int exec) {
  const Pieces::Piece &piece = pieceOf(exec);
  for (size_t read = 0; read < piece.reads.size(); ++read) {
    int source = execs[exec].sources[read];
    detach(source);
    items[source].readers.push_back({exec, static_cast<int>(read)});
    attach(source);
    countLoad(exec, static_cast<int>(read), 1);
  }
  seconds += piece.seconds;
  replays[piece.launch].push_back(exec);
  addExtra(execs[exec].step, piece.scratch);
}

/// Takes an element out of a list whose order does not matter.
template <typename T, typename Is> static void takeOut(std::vector<T> &list, Is isIt) {
  *std::find_if(list.begin(), list.end(), isIt) = list.back();
  list.pop_back();
}

void Sequence::unlink(int exec) {
  const Pieces::Piece &piece = pieceOf(exec);
  for (size_t read = 0; read < piece.reads.size(); ++read) {
    int source = execs[exec].sources[read];
    countLoad(exec, static_cast<int>(read), -1);
    detach(source);
    takeOut(items[source].readers, [&](const Reader &other) {
      return other.exec == exec && other.read == static_cast<int>(read);
    });
    attach(source);
  }
  seconds -= piece.seconds;
  takeOut(replays[piece.launch], [&](int other) { return other == exec; });
  addExtra(execs[exec].step, -piece.scratch);
}

void Sequence::moveReader(Reader reader, int to) {
  int &source = execs[reader.exec].sources[reader.read];
  if (source == to)
    return;
  detach(source);
  detach(to);
  countLoad(reader.exec, reader.read, -1);
  takeOut(items[source].readers, [&](const Reader &other) {
    return other.exec == reader.exec && other.read == reader.read;
  });
  attach(source);
  source = to;
  items[to].readers.push_back(reader);
  countLoad(reader.exec, reader.read, 1);
  attach(to);
}

/// Takes away a replay that nothing reads.
void Sequence::drop(int exec, Removed *removed) {
  int step = execs[exec].step;
  std::vector<int> &own = steps[step].execs;
  auto at = std::find(own.begin(), own.end(), exec);
  if (removed) {
    removed->piece = execs[exec].piece;
    removed->place = steps[step].place;
    removed->step = step;
    removed->isJoined = execs[exec].isJoined;
    removed->index = at - own.begin();
    removed->sources = execs[exec].sources;
    removed->hadStep = own.size() == 1;
  }
  for (size_t result = 0; result < pieceOf(exec).results.size(); ++result) {
    int item = execs[exec].firstItem + static_cast<int>(result);
    detach(item);
    takeOut(byCell[items[item].cell], [&](int other) { return other == item; });
  }
  unlink(exec);
  own.erase(at);
  if (own.empty())
    eraseStep(step);
  execs[exec].step = -1;
  freeExecs[execs[exec].piece].push_back(exec);
}
