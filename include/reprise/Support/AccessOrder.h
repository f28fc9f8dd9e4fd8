// reprise: conflicts between commands that run beside one another and access the same bytes
//
// Streams run their commands in order; transfers run beside them until a command waits for their
// event. Two accesses to the same bytes, one of which writes, must be ordered: the later access
// follows the end of the earlier access on its own stream, or through an event. Every stream has a
// vector clock, every byte has its last writer and the readers since then.
#ifndef REPRISE_SUPPORT_ACCESSORDER_H
#define REPRISE_SUPPORT_ACCESSORDER_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace reprise {

/// Largest number of transfers of one program that may be in flight at once. A clock has an entry
/// for each of them.
inline constexpr size_t kMostTransfers = 4096;

class AccessOrder {
public:
  /// Time per lane up to which work is known to have ended.
  using Clock = std::vector<uint64_t>;
  /// Command on a stream, or a transfer, which has its own lane while it is in flight.
  struct Actor {
    size_t lane;
    uint64_t time;
    Clock known; ///< work that has ended before the actor begins, and the actor itself
  };
  struct Place {
    uint64_t space, begin, end;
  };

  explicit AccessOrder(size_t streams) : streams(streams, Clock(streams)), last(streams) {}

  /// Returns the next command of a stream.
  Actor onStream(size_t stream) {
    uint64_t time = ++last[stream];
    streams[stream][stream] = time;
    return {stream, time, streams[stream]};
  }

  /// Returns a transfer that begins at the current time of the stream.
  Actor beside(size_t stream) {
    const Clock &known = streams[stream];
    size_t lane = streams.size();
    // We reuse the lane of a transfer that has ended before this transfer begins.
    while (lane < last.size() && !covers(known, lane, last[lane]))
      ++lane;
    if (lane == last.size())
      last.push_back(0);
    Actor actor = {lane, ++last[lane], known};
    learn(actor.known, lane, actor.time);
    return actor;
  }

  /// Returns the number of lanes that transfers have used.
  size_t transferLanes() const { return last.size() - streams.size(); }

  /// Returns the work that has ended when an event on the stream happens. For a transfer's event it
  /// is the actor's `known`.
  const Clock &record(size_t stream) const { return streams[stream]; }

  /// Makes later commands of the stream follow the event.
  void wait(size_t stream, const Clock &event) {
    for (size_t lane = 0; lane < event.size(); ++lane)
      learn(streams[stream], lane, event[lane]);
  }

  /// Records an access of command `who`. Returns the number of an earlier access that may run
  /// beside it, if one of both writes.
  std::optional<uint64_t> access(const Actor &actor, Place place, bool isWrite, uint64_t who) {
    if (place.begin >= place.end)
      return std::nullopt;
    Cells &cells = spaces[place.space];
    split(cells, place.begin);
    split(cells, place.end);
    uint64_t at = place.begin;
    for (auto cell = cells.lower_bound(at); at < place.end; ++cell) {
      if (cell == cells.end() || cell->first > at) {
        uint64_t end = cell == cells.end() ? place.end : std::min(cell->first, place.end);
        cell = cells.emplace_hint(cell, at, Cell{end, {}, {}});
      }
      if (std::optional<uint64_t> other = touch(cell->second, actor, isWrite, who))
        return other;
      at = cell->second.end;
    }
    return std::nullopt;
  }

private:
  struct Access {
    size_t lane = 0;
    uint64_t time = 0; ///< 0: no access
    uint64_t who = 0;
  };
  struct Cell {
    uint64_t end;
    Access writer;
    std::vector<Access> readers;
  };
  using Cells = std::map<uint64_t, Cell>;

  static bool covers(const Clock &clock, size_t lane, uint64_t time) {
    return time == 0 || (lane < clock.size() && clock[lane] >= time);
  }
  static void learn(Clock &clock, size_t lane, uint64_t time) {
    if (clock.size() <= lane)
      clock.resize(lane + 1);
    clock[lane] = std::max(clock[lane], time);
  }

  static void split(Cells &cells, uint64_t at) {
    auto next = cells.upper_bound(at);
    if (next == cells.begin())
      return;
    auto cell = std::prev(next);
    if (cell->first == at || cell->second.end <= at)
      return;
    Cell behind = cell->second;
    cell->second.end = at;
    cells.emplace_hint(next, at, std::move(behind));
  }

  static std::optional<uint64_t> touch(Cell &cell, const Actor &actor, bool isWrite, uint64_t who) {
    auto isOrdered = [&](const Access &other) {
      return covers(actor.known, other.lane, other.time);
    };
    if (!isOrdered(cell.writer))
      return cell.writer.who;
    if (isWrite) {
      for (const Access &reader : cell.readers)
        if (!isOrdered(reader))
          return reader.who;
      cell.readers.clear();
      cell.writer = {actor.lane, actor.time, who};
      return std::nullopt;
    }
    // A command that follows this reader also follows the readers that we drop here.
    cell.readers.erase(std::remove_if(cell.readers.begin(), cell.readers.end(), isOrdered),
                       cell.readers.end());
    cell.readers.push_back({actor.lane, actor.time, who});
    return std::nullopt;
  }

  std::vector<Clock> streams;
  std::vector<uint64_t> last; ///< time of the latest work per lane
  std::map<uint64_t, Cells> spaces;
};

} // namespace reprise

#endif
