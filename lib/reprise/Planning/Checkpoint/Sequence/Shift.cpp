// reprise: a sequence of executions under change: steps at other places
#include "Sequence.h"

#include <algorithm>

using namespace reprise::checkpoint;

static int64_t excessOf(int64_t bytes) { return std::max<int64_t>(0, bytes); }

void Sequence::Shift::change(int place, int64_t bytes) {
  changes.push_back({place, bytes});
  for (size_t i = changes.size() - 1; i > 0 && changes[i - 1].place > changes[i].place; --i)
    std::swap(changes[i - 1], changes[i]);
}

/// Notes that more or fewer items die in a step. Results in their places take no bytes.
void Sequence::growDying(int step, int sizeClass, int dying) {
  auto known = std::find_if(shifted.dying.begin(), shifted.dying.end(), [&](const auto &each) {
    return each.step == step && each.sizeClass == sizeClass;
  });
  if (known == shifted.dying.end())
    known = shifted.dying.insert(known, {step, sizeClass, 0});
  Step::Places places{sizeClass, 0, 0};
  for (const Step::Places &each : steps[step].places)
    if (each.sizeClass == sizeClass)
      places = each;
  auto findShared = [&] { return std::min(places.made, places.dying + known->dying); };
  int before = findShared();
  known->dying += dying;
  int64_t more = -(findShared() - before) * pieces->sizes[sizeClass];
  if (more == 0)
    return;
  if (step == shifted.step)
    shifted.own += more;
  else {
    shifted.change(steps[step].place, more);
    shifted.change(steps[step].place + 1, -more);
  }
}

/// Items of the step are made later, and its sources live up to the new place.
void Sequence::weighAhead(int to) {
  const Step &step = steps[shifted.step];
  shifted.own += bytesAcross(to + 1);
  for (int exec : step.execs) {
    for (size_t result = 0; result < pieceOf(exec).results.size(); ++result) {
      const Item &item = items[execs[exec].firstItem + result];
      if (item.last < 0 || item.last == shifted.step)
        continue;
      shifted.change(shifted.from + 1, -pieces->cells[item.cell].bytes);
      shifted.own -= pieces->cells[item.cell].bytes;
    }
    for (size_t read = 0; read < execs[exec].sources.size(); ++read) {
      int number = execs[exec].sources[read];
      const Item &item = items[number];
      int end = steps[item.last].place;
      bool isNoted = std::any_of(shifted.lasts.begin(), shifted.lasts.end(),
                                 [&](const auto &last) { return last.item == number; });
      if (execs[item.exec].step == shifted.step || end > to || isNoted)
        continue;
      const Pieces::Cell &cell = pieces->cells[item.cell];
      shifted.change(std::max(end, shifted.from) + 1, cell.bytes);
      shifted.own += cell.bytes;
      bool dies = item.last == shifted.step && item.dies;
      for (Reader reader : item.readers)
        dies |= execs[reader.exec].step == shifted.step &&
                pieceOf(reader.exec).reads[reader.read].takesPlace;
      shifted.lasts.push_back({number, shifted.step, dies});
      if (item.last == shifted.step)
        continue;
      if (item.dies)
        growDying(item.last, cell.sizeClass, -1);
      if (dies)
        growDying(shifted.step, cell.sizeClass, 1);
    }
  }
}

/// Items of the step are made earlier, and its sources live as long as others read them.
void Sequence::weighBack(int to) {
  const Step &step = steps[shifted.step];
  shifted.own += bytesAcross(to);
  for (int exec : step.execs) {
    for (size_t result = 0; result < pieceOf(exec).results.size(); ++result)
      if (const Item &item = items[execs[exec].firstItem + result];
          item.last >= 0 && item.last != shifted.step)
        shifted.change(to, pieces->cells[item.cell].bytes);
    for (int number : execs[exec].sources) {
      const Item &item = items[number];
      bool isNoted = std::any_of(shifted.lasts.begin(), shifted.lasts.end(),
                                 [&](const auto &last) { return last.item == number; });
      if (item.last != shifted.step || execs[item.exec].step == shifted.step || isNoted)
        continue;
      int end = to - 1, last = shifted.step;
      bool dies = item.dies;
      for (Reader reader : item.readers) {
        int other = execs[reader.exec].step, place = steps[other].place;
        bool takesPlace = pieceOf(reader.exec).reads[reader.read].takesPlace;
        if (other == shifted.step || place < end || place < to)
          continue;
        dies = (place == end && last == other && dies) || takesPlace;
        end = place;
        last = other;
      }
      const Pieces::Cell &cell = pieces->cells[item.cell];
      shifted.change(end + 1, -cell.bytes);
      shifted.lasts.push_back({number, last, dies});
      if (last == shifted.step)
        continue;
      if (item.dies)
        growDying(shifted.step, cell.sizeClass, -1);
      if (dies)
        growDying(last, cell.sizeClass, 1);
    }
  }
}

/// Calls `visit` for each run of places in a range that changes alike.
template <typename Changes, typename Visit>
static void forEachRun(const Changes &changes, int begin, int end, Visit visit) {
  int64_t bytes = 0;
  for (const auto &change : changes) {
    int to = std::clamp(change.place, begin, end);
    if (to > begin && bytes != 0)
      visit(begin, to, bytes);
    begin = to;
    bytes += change.bytes;
  }
  if (begin < end && bytes != 0)
    visit(begin, end, bytes);
}

int64_t Sequence::findGrowth(int begin, int end) const {
  int64_t growth = 0;
  forEachRun(shifted.changes, begin, end, [&](int from, int to, int64_t bytes) {
    for (const int64_t *at = &above[from], *last = &above[0] + to; at != last; ++at)
      growth += excessOf(*at + bytes) - excessOf(*at);
  });
  return growth;
}

int64_t Sequence::weighShift(int number, int to) {
  int from = steps[number].place;
  shifted.step = number;
  shifted.from = from;
  shifted.to = to;
  shifted.changes.clear();
  shifted.dying.clear();
  shifted.lasts.clear();
  shifted.own = steps[number].made + steps[number].extra - budget;
  if (from < to)
    weighAhead(to);
  else
    weighBack(to);
  int begin = from < to ? from + 1 : to, end = from < to ? to + 1 : from;
  return findGrowth(begin, end) + excessOf(shifted.own) - excessOf(above[from]);
}

void Sequence::shift() {
  int from = shifted.from, to = shifted.to;
  int begin = from < to ? from + 1 : to, end = from < to ? to + 1 : from;
  totalExcess += findGrowth(begin, end) + excessOf(shifted.own) - excessOf(above[from]);
  forEachRun(shifted.changes, begin, end, [&](int first, int last, int64_t bytes) {
    for (int place = first; place < last; ++place)
      above[place] += bytes;
  });
  for (const Shift::Last &last : shifted.lasts) {
    items[last.item].last = last.step;
    items[last.item].dies = last.dies;
  }
  for (const Shift::Dying &each : shifted.dying)
    addPlaces(each.step, each.sizeClass, 0, each.dying, /*isCounted=*/false);
  auto rotate = [&](auto &list) {
    auto first = list.begin();
    if (from < to)
      std::rotate(first + from, first + from + 1, first + to + 1);
    else
      std::rotate(first + to, first + from, first + from + 1);
  };
  rotate(order);
  rotate(above);
  above[to] = shifted.own;
  renumber(std::min(from, to), std::max(from, to) + 1);
}
