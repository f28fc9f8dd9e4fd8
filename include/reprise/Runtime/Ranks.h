// reprise: the processes of one run: agreement, and a common end after a failure
//
// docs/explanation/Processes.md gives the reasons for this design.
#ifndef REPRISE_RUNTIME_RANKS_H
#define REPRISE_RUNTIME_RANKS_H

#include "reprise/Runtime/Wire.h"

#include <chrono>
#include <functional>

namespace reprise::runtime {

/// Limits of how long processes wait for each other.
struct Patience {
  std::chrono::milliseconds round{500}; ///< time between two questions whether all ranks wait
  uint32_t rounds = 10;                 ///< rounds in which all ranks wait before an error
  /// bytes of the slowest network per round: more bytes get more rounds
  uint64_t bytesPerRound = 4 << 20;
  std::chrono::milliseconds ending{5000}; ///< time for the last messages of the other ranks
};

/// Process of a run among all its processes. Rank 0 collects and answers. All processes make all
/// calls in one order, except for calls of endpoints. Only one thread may use the object at a time.
class Ranks {
public:
  explicit Ranks(std::unique_ptr<Wire> wire, Patience patience = {});
  ~Ranks();
  uint32_t rank() const { return wire->rank(); }
  uint32_t size() const { return wire->size(); }
  bool isFirst() const { return rank() == 0; }

  /// Sends a text to all ranks and returns the texts of all ranks, by rank. Fails if a rank has
  /// failed, or if all ranks wait for each other.
  Expected<std::vector<std::string>> exchange(const std::string &own) {
    return collectAll(own, /*toAll=*/true);
  }
  /// Sends a text to rank 0, which returns the texts of all ranks. Other ranks return an empty
  /// list.
  Expected<std::vector<std::string>> gather(const std::string &own) {
    return collectAll(own, /*toAll=*/false);
  }
  /// Returns the error of the first rank that has an error, on all ranks.
  Error agree(const Error &own);
  /// Pairs of name and value that must be equal in all processes.
  using Facts = std::vector<std::pair<std::string, std::string>>;
  /// Compares the facts of all ranks. All ranks return one error, which names `file` and the first
  /// difference.
  Error checkAlike(const std::string &file, const Facts &facts);
  /// Makes the transport between the programs; program i runs on rank i. `description` is the
  /// transport's.
  std::unique_ptr<Transport> makeTransport(std::vector<std::string> programs,
                                           std::string description = "");

  /// Handles messages of other ranks until `isDone` returns true. Fails if a rank has failed. The
  /// wait has no time limit, like work of this process.
  Error listenUntil(const std::function<Expected<bool>()> &isDone);

  /// Ends the step of all ranks after an error. All ranks call it: `error` is why the step of this
  /// rank has failed, and becomes the first error of any rank. If it returns true, the step has
  /// ended on all ranks, and they may exchange texts until finish(). A rank that computes is waited
  /// for. If it returns false, a rank has gone, and only finish() may be called.
  bool endStep(Error &error);

  /// End of this process: its exit code, and the error if this process prints the error.
  struct Ending {
    int code = 0;
    std::optional<std::string> error;
  };
  /// Ends the run on this rank, with an error and its exit code, or without. A failure of any rank
  /// is a failure of all. After this call only leave() may be called.
  Ending finish(const Error &own, int code);
  /// Lets the other ranks end, after the error has been printed. After an error the wait is limited
  /// by Patience::ending; processes that remain are then aborted.
  void leave(const Ending &ending);

private:
  friend class RankEndpoint;
  /// Current wait of this process, and the bytes that it waits for.
  struct Wait {
    std::function<std::string()> describe;
    uint64_t bytes = 0;
    bool isOwnWork = false; ///< true for work of this process, which is no wait for a rank
  };
  /// Answer of another rank about its wait.
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
  void hearUntil(const std::function<bool()> &isDone);
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
  std::vector<std::string> names; ///< names of the ranks in messages

  std::optional<Failure> failure;                ///< first failure that this rank knows
  bool isOver = false;                           ///< whether rank 0 has announced the end
  bool mayGoOn = false;                          ///< whether the step has ended on all ranks
  uint32_t ended = 0;                            ///< rank 0: ranks whose step has ended
  bool isLeft = false;                           ///< rank 0: whether a rank has gone with an error
  uint32_t goodbyes = 0;                         ///< rank 0: ranks that have left since the end
  std::vector<std::optional<std::string>> given; ///< rank 0: texts of the current exchange
  std::optional<std::string> collected;          ///< other ranks: texts of all ranks

  uint64_t waits = 0;            ///< number of waits that have begun
  std::optional<uint32_t> asked; ///< round that rank 0 asks about
  // Fields of rank 0.
  uint32_t round = 0, quietRounds = 0;
  std::vector<Answer> answers, before;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_RANKS_H
