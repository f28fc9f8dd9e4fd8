// reprise: deadlocks between programs that exchange values
//
// A send and a receive match by the names of their programs and a tag: the k-th send matches the
// k-th receive. A value is copied directly from place to place, so that a transfer is done when
// both sides have begun. Waits therefore do not depend on the speed of the programs, and one walk
// through all programs tells whether they end.
#ifndef REPRISE_SUPPORT_RENDEZVOUS_H
#define REPRISE_SUPPORT_RENDEZVOUS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace reprise {

class Rendezvous {
public:
  /// Transfer of a program, with the caller's name for it.
  struct Transfer {
    size_t program;
    uint64_t name;
  };
  /// Kind of fault. NoPartner: the transfer has no other side. Sizes: the two sides have different
  /// numbers of bytes. Deadlock: programs wait for these transfers, one in each program that does
  /// not end.
  enum class Fault { NoPartner, Sizes, Deadlock };
  struct Finding {
    Fault fault;
    std::vector<Transfer> transfers; ///< for `Sizes`: the send and the receive
  };

  explicit Rendezvous(size_t programs) : steps(programs) {}

  /// Adds a step that begins a transfer, and returns its number.
  size_t begin(size_t program, uint64_t name, bool isSend, size_t peer, uint32_t tag,
               uint64_t bytes) {
    size_t step = steps[program].size();
    steps[program].push_back({step, name, bytes, std::nullopt});
    auto key = isSend ? std::tuple(program, peer, tag) : std::tuple(peer, program, tag);
    Line &line = lines[key];
    (isSend ? line.sends : line.receives).push_back(step);
    ++count;
    return step;
  }
  /// Adds a step that waits for a transfer of the same program.
  void wait(size_t program, size_t transfer) {
    steps[program].push_back({transfer, 0, 0, std::nullopt});
    ++count;
  }
  size_t size() const { return count; }

  std::optional<Finding> check() {
    if (std::optional<Finding> finding = match())
      return finding;
    std::vector<size_t> at(steps.size());
    for (bool hasMoved = true; hasMoved;) {
      hasMoved = false;
      for (size_t program = 0; program < steps.size(); ++program)
        while (at[program] < steps[program].size() && canPass(program, at)) {
          ++at[program];
          hasMoved = true;
        }
    }
    Finding deadlock{Fault::Deadlock, {}};
    for (size_t program = 0; program < steps.size(); ++program)
      if (at[program] < steps[program].size())
        deadlock.transfers.push_back(name({program, steps[program][at[program]].transfer}));
    return deadlock.transfers.empty() ? std::nullopt : std::optional(deadlock);
  }

private:
  struct Place {
    size_t program, step;
  };
  struct Step {
    size_t transfer; ///< own number for a step that begins a transfer
    uint64_t name, bytes;
    std::optional<Place> partner; ///< other side of a transfer that begins here
  };
  struct Line {
    std::vector<size_t> sends, receives;
  };

  Transfer name(Place place) const {
    return {place.program, steps[place.program][place.step].name};
  }

  /// Finds partners. Returns the fault of the first line, ordered by its programs and tag.
  std::optional<Finding> match() {
    for (auto &[key, line] : lines) {
      auto [from, to, tag] = key;
      for (size_t i = 0; i < line.sends.size() || i < line.receives.size(); ++i) {
        if (i >= line.receives.size())
          return Finding{Fault::NoPartner, {name({from, line.sends[i]})}};
        if (i >= line.sends.size())
          return Finding{Fault::NoPartner, {name({to, line.receives[i]})}};
        Place send{from, line.sends[i]}, receive{to, line.receives[i]};
        Step &out = steps[from][send.step], &in = steps[to][receive.step];
        if (out.bytes != in.bytes)
          return Finding{Fault::Sizes, {name(send), name(receive)}};
        out.partner = receive;
        in.partner = send;
      }
    }
    return std::nullopt;
  }

  /// Returns whether the next step can run: a transfer begins at once; a wait passes when the other
  /// side has begun.
  bool canPass(size_t program, const std::vector<size_t> &at) const {
    size_t transfer = steps[program][at[program]].transfer;
    const Place &partner = *steps[program][transfer].partner;
    return transfer == at[program] || at[partner.program] > partner.step;
  }

  std::vector<std::vector<Step>> steps;                       ///< steps by program
  std::map<std::tuple<size_t, size_t, uint32_t>, Line> lines; ///< lines by sender, receiver and tag
  size_t count = 0;
};

} // namespace reprise

#endif // REPRISE_SUPPORT_RENDEZVOUS_H
