// reprise: a sequence of executions, with its bytes and its cost
#include "Sequence.h"

#include <algorithm>

using namespace reprise::checkpoint;
using Exec = Sequence::Exec;
using Item = Sequence::Item;
using Reader = Sequence::Reader;

/// Bytes that keep the end of the program, which has no peak, from being counted.
static constexpr int64_t kEndBytes = int64_t{1} << 60;

static void countLoad(Sequence &sequence, int exec, int read, int sign) {
  const Item &item = sequence.items[sequence.execs[exec].sources[read]];
  if (!sequence.pieceOf(exec).reads[read].isUsual &&
      sequence.execs[item.exec].step != sequence.execs[exec].step)
    sequence.traffic += sign * sequence.pieces->cells[item.cell].bytes;
}

/// Returns an execution without a place and sources.
static int makeExec(Sequence &sequence, int piece) {
  std::vector<int> &unused = sequence.freeExecs[piece];
  int exec = static_cast<int>(sequence.execs.size());
  const std::vector<Pieces::Result> &results = sequence.pieces->pieces[piece].results;
  if (!unused.empty()) {
    exec = unused.back();
    unused.pop_back();
  } else {
    sequence.execs.emplace_back();
    sequence.execs[exec].piece = piece;
    sequence.execs[exec].firstItem = static_cast<int>(sequence.items.size());
    for (const Pieces::Result &result : results) {
      sequence.items.emplace_back();
      sequence.items.back().exec = exec;
      sequence.items.back().cell = result.cell;
    }
  }
  int item = sequence.execs[exec].firstItem;
  for (const Pieces::Result &result : results)
    sequence.byCell[result.cell].push_back(item++);
  return exec;
}

Sequence::Sequence(const Pieces &given, int64_t budget)
    : pieces(&given), byCell(given.cells.size()), replays(given.numLaunches + 1),
      profile{budget, std::vector<int64_t>(given.numLaunches + 1, -budget)},
      freeExecs(given.pieces.size()) {
  int count = pieces->numLaunches + 1;
  steps.resize(count);
  for (int launch = 0; launch < count; ++launch) {
    steps[launch].place = steps[launch].launch = launch;
    order.push_back(launch);
    execs[makeExec(*this, launch)].step = launch;
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
    attach(static_cast<int>(item), placeOf(items[item].exec));
  for (int launch = 0; launch < count; ++launch)
    for (size_t read = 0; read < execs[launch].sources.size(); ++read)
      countLoad(*this, launch, static_cast<int>(read), 1);
}

double Sequence::cost() const {
  const Footprint &footprint = pieces->footprint;
  return seconds + footprint.launchSeconds * numReplaySteps +
         footprint.byteSeconds * static_cast<double>(traffic);
}

int64_t Sequence::peak() const {
  return profile.budget + *std::max_element(profile.above.begin(), profile.above.end() - 1);
}

static const Pieces::Result &resultOf(const Sequence &sequence, const Item &item) {
  const Exec &exec = sequence.execs[item.exec];
  return sequence.pieces->pieces[exec.piece].results[&item - &sequence.items[exec.firstItem]];
}

bool Sequence::isRead(int exec) const {
  auto first = items.begin() + execs[exec].firstItem;
  return std::any_of(first, first + static_cast<long>(pieceOf(exec).results.size()),
                     [](const Item &item) { return !item.readers.empty(); });
}

void Sequence::addExtra(int step, int64_t bytes) {
  steps[step].extra += bytes;
  profile.add(steps[step].place, steps[step].place + 1, bytes);
}

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

/// Counts what an item takes, or takes that away if `sign` is -1, without its bytes in the profile.
/// Returns the place behind the last one that has these bytes.
static int count(Sequence &sequence, const Item &item, int sign) {
  const Pieces::Cell &cell = sequence.pieces->cells[item.cell];
  const Pieces::Result &result = resultOf(sequence, item);
  int first = sequence.execs[item.exec].step, last = item.last;
  bool staysInRegisters = last < 0 || last == first;
  if (staysInRegisters && !result.makesAll)
    return sequence.steps[first].place;
  int64_t bytes = sign * cell.bytes;
  sequence.steps[first].made += bytes;
  if (staysInRegisters)
    return sequence.steps[first].place + 1;
  if (result.takesPlaces)
    sequence.addPlaces(first, cell.sizeClass, sign, 0);
  if (item.dies)
    sequence.addPlaces(last, cell.sizeClass, 0, sign);
  if (!result.isKnown)
    sequence.traffic += bytes;
  return sequence.steps[last].place + 1;
}

int Sequence::detach(int item) { return count(*this, items[item], -1); }

void Sequence::attach(int number, int counted) {
  Item &item = items[number];
  item.last = -1;
  item.dies = false;
  int lastPlace = -1;
  for (Reader reader : item.readers) {
    int step = execs[reader.exec].step, place = steps[step].place;
    if (place > lastPlace) {
      lastPlace = place;
      item.last = step;
      item.dies = takesPlace(reader);
    } else if (place == lastPlace) {
      item.dies |= takesPlace(reader);
    }
  }
  int end = count(*this, item, 1);
  int64_t bytes = pieces->cells[item.cell].bytes;
  if (counted < end)
    profile.add(counted, end, bytes);
  else
    profile.add(end, counted, -bytes);
}

int64_t Sequence::bytesAcross(int place) const {
  const Step &step = steps[order[place]];
  return profile.above[place] + profile.budget - step.extra - step.made;
}

void Sequence::renumber(size_t begin, size_t end) {
  for (size_t place = begin; place < end; ++place)
    steps[order[place]].place = static_cast<int>(place);
}

/// Takes an element out of a list whose order does not matter.
template <typename T, typename Is> static void takeOut(std::vector<T> &list, Is isIt) {
  *std::find_if(list.begin(), list.end(), isIt) = list.back();
  list.pop_back();
}

/// Makes a replay a reader of its sources, and counts what it takes beside its items.
static void link(Sequence &sequence, int exec) {
  const Pieces::Piece &piece = sequence.pieceOf(exec);
  for (int read = 0; read < static_cast<int>(piece.reads.size()); ++read) {
    int source = sequence.execs[exec].sources[read];
    int counted = sequence.detach(source);
    sequence.items[source].readers.push_back({exec, read});
    sequence.attach(source, counted);
    countLoad(sequence, exec, read, 1);
  }
  sequence.seconds += piece.seconds;
  sequence.replays[piece.launch].push_back(exec);
  sequence.addExtra(sequence.execs[exec].step, piece.scratch);
}

static void unlink(Sequence &sequence, int exec) {
  const Pieces::Piece &piece = sequence.pieceOf(exec);
  for (int read = 0; read < static_cast<int>(piece.reads.size()); ++read) {
    int source = sequence.execs[exec].sources[read];
    countLoad(sequence, exec, read, -1);
    int counted = sequence.detach(source);
    takeOut(sequence.items[source].readers,
            [&](const Reader &other) { return other.exec == exec && other.read == read; });
    sequence.attach(source, counted);
  }
  sequence.seconds -= piece.seconds;
  takeOut(sequence.replays[piece.launch], [&](int other) { return other == exec; });
  sequence.addExtra(sequence.execs[exec].step, -piece.scratch);
}

int Sequence::add(int piece, int step, size_t index, bool isJoined, std::vector<int> sources) {
  int exec = makeExec(*this, piece);
  execs[exec].step = step;
  execs[exec].isJoined = isJoined;
  execs[exec].sources = std::move(sources);
  steps[step].execs.insert(steps[step].execs.begin() + static_cast<long>(index), exec);
  for (size_t result = 0; result < pieceOf(exec).results.size(); ++result)
    attach(execs[exec].firstItem + static_cast<int>(result), steps[step].place);
  link(*this, exec);
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
  profile.insert(place, bytesAcross(place) - profile.budget);
  order.insert(order.begin() + place, step);
  renumber(place, order.size());
  ++numReplaySteps;
  return step;
}

static void eraseStep(Sequence &sequence, int step) {
  int place = sequence.steps[step].place;
  sequence.profile.erase(place);
  sequence.order.erase(sequence.order.begin() + place);
  sequence.renumber(place, sequence.order.size());
  sequence.freeSteps.push_back(step);
  --sequence.numReplaySteps;
}

void Sequence::moveReader(Reader reader, int to) {
  int &source = execs[reader.exec].sources[reader.read];
  if (source == to)
    return;
  int counted = detach(source), countedTo = detach(to);
  countLoad(*this, reader.exec, reader.read, -1);
  takeOut(items[source].readers, [&](const Reader &other) {
    return other.exec == reader.exec && other.read == reader.read;
  });
  attach(source, counted);
  source = to;
  items[to].readers.push_back(reader);
  countLoad(*this, reader.exec, reader.read, 1);
  attach(to, countedTo);
}

void Sequence::drop(int exec) {
  int step = execs[exec].step;
  for (size_t result = 0; result < pieceOf(exec).results.size(); ++result) {
    int item = execs[exec].firstItem + static_cast<int>(result);
    profile.add(steps[step].place, detach(item), -pieces->cells[items[item].cell].bytes);
    takeOut(byCell[items[item].cell], [&](int other) { return other == item; });
  }
  unlink(*this, exec);
  std::vector<int> &own = steps[step].execs;
  own.erase(std::find(own.begin(), own.end(), exec));
  if (own.empty())
    eraseStep(*this, step);
  execs[exec].step = -1;
  freeExecs[execs[exec].piece].push_back(exec);
}
