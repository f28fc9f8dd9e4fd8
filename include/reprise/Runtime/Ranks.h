// reprise: the processes of one run: what they agree on, and how all of them end when one fails
//
// docs/explanation/Processes.md tells why it is made like this.
#ifndef REPRISE_RUNTIME_RANKS_H
#define REPRISE_RUNTIME_RANKS_H

#include "reprise/Runtime/Wire.h"

#include <chrono>
#include <functional>

namespace reprise::runtime {

/// How long processes wait for each other.
struct Patience {
  std::chrono::milliseconds round{500};   ///< between two questions whether all of them wait
  uint32_t rounds = 10;                   ///< that all of them wait before that is an error
  uint64_t bytesPerRound = 4 << 20;       ///< of the slowest network: more bytes are more rounds
  std::chrono::milliseconds ending{5000}; ///< for the others' last words
};

/// This process among those of a run. Rank 0 collects and answers. All calls but those of endpoints
/// are made by all processes in one order. For one thread at a time.
class Ranks {
public:
  explicit Ranks(std::unique_ptr<Wire> wire, Patience patience = {});
  ~Ranks();
  uint32_t rank() const { return wire->rank(); }
  uint32_t size() const { return wire->size(); }
  bool isFirst() const { return rank() == 0; }

  /// Gives a text to all and returns those of all, by rank. An error if a rank has failed, or if
  /// all wait for each other.
  Expected<std::vector<std::string>> exchange(const std::string &own) {
    return collectAll(own, /*toAll=*/true);
  }
  /// The same, but rank 0 alone gets them; the others get nothing.
  Expected<std::vector<std::string>> gather(const std::string &own) {
    return collectAll(own, /*toAll=*/false);
  }
  /// The error of the first rank that has one, for all of them.
  Error agree(const Error &own);
  /// What must be equal in all processes: names and values of the same things.
  using Facts = std::vector<std::pair<std::string, std::string>>;
  /// An error, the same in all of them, that names the first difference, and `file` before it.
  Error checkAlike(const std::string &file, const Facts &facts);
  /// Between the programs of these names; number i is of rank i. The description is the
  /// transport's.
  std::unique_ptr<Transport> makeTransport(std::vector<std::string> programs,
                                           std::string description = "");

  /// Listens to the others until `isDone`; an error if a rank has failed. What is waited for may
  /// take as long as it does, like work of this process.
  Error listenUntil(const std::function<Expected<bool>()> &isDone);

  /// How this process ends: its exit code, and the error if it is the one that prints it.
  struct Ending {
    int code = 0;
    std::optional<std::string> error;
  };
  /// Of a run that is over here: with an error and its code, or well. A failure of any rank is one
  /// of all. Nothing else may be called then but leave().
  Ending finish(const Error &own, int code);
  /// When the error has been printed: lets the others end, too. With an error it lasts no longer
  /// than they are given for it; whoever is left then is ended.
  void leave(const Ending &ending);

private:
  friend class RankEndpoint;
  /// What somebody waits for, and how many bytes of it are to come.
  struct Wait {
    std::function<std::string()> describe;
    uint64_t bytes = 0;
    bool isOwnWork = false; ///< and so no wait for another one
  };
  /// What another rank said of its wait.
  struct Answer {
    uint64_t waits = 0, bytes = 0;
    uint32_t round = 0;
    std::string what;
  };
  struct Failure {
    int code = 1;
    std::string text;
  };
  using Clock = std::chrono::steady_clock;

  Expected<std::vector<std::string>> collectAll(const std::string &own, bool toAll);
  Expected<std::vector<std::string>> collectAtFirst(const std::string &own, bool toAll);
  Error waitUntil(const Wait &wait, const std::function<Expected<bool>()> &isDone);
  bool waitForEnd(const std::function<bool()> &isDone);
  Error tell(uint32_t rank, char kind, const std::string &text = "");
  void tellOthers(char kind, const std::string &text);
  void listen();
  void take(const Wire::Message &message);
  void answer(const Wait &wait);
  bool isStalled(const Wait &wait);
  std::string describeStall(const Wait &wait) const;
  Error failed() const;

  std::unique_ptr<Wire> wire;
  const Patience patience;
  std::vector<std::string> names; ///< of the ranks, in messages

  std::optional<Failure> failure;                ///< the first one that is known here
  bool isOver = false;                           ///< rank 0 has said so
  uint32_t goodbyes = 0;                         ///< to rank 0, after that
  std::vector<std::optional<std::string>> given; ///< at rank 0: of the exchange at hand
  std::optional<std::string> collected;          ///< at the others: all of them

  uint64_t waits = 0;            ///< that have begun
  std::optional<uint32_t> asked; ///< the round that rank 0 asks about
  // At rank 0.
  uint32_t round = 0, quietRounds = 0;
  std::vector<Answer> answers, before;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_RANKS_H
