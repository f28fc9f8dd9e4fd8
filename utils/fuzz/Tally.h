// reprise: sums over many programs
#ifndef REPRISE_UTILS_FUZZ_TALLY_H
#define REPRISE_UTILS_FUZZ_TALLY_H

#include "Check.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace reprise::fuzz {

class Tally {
public:
  /// Prints a failure.
  void fail(const std::string &what);
  /// Counts the verdict on one program, or on `programs` good ones.
  void count(const std::string &name, const Verdict &verdict, int64_t programs = 1);
  void add(const Tally &other);
  /// Fails for every op that no program held, or that no plan replayed, except for ops that cannot
  /// be replayed; fails also if no budget was met by replays.
  void checkCoverage();
  /// Returns the ops that a plan could have replayed, and none has.
  std::set<std::string> notReplayed() const;
  /// Fails for every op without a region that no program held.
  void checkKernelCoverage();
  void printSummary() const;
  int64_t failed() const { return failures; }

  std::string encode() const;
  static Tally decode(const std::string &text);

private:
  int64_t good = 0, failures = 0;
  std::map<std::string, int64_t> generated, replayed; ///< number of programs by op
  std::map<std::string, int64_t> budgets;             ///< number of programs by outcome
};

/// The sum of `work(0)`, …, `work(jobs - 1)`, each in a process of its own. One that dies is a
/// failure.
Tally inJobs(unsigned jobs, llvm::function_ref<Tally(unsigned)> work);

} // namespace reprise::fuzz

#endif
