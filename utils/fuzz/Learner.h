// reprise: how the fuzzer learns what an op accepts
#ifndef REPRISE_UTILS_FUZZ_LEARNER_H
#define REPRISE_UTILS_FUZZ_LEARNER_H

#include "Template.h"
#include <map>

namespace reprise::fuzz {

/// Finds well-formed examples of an op by asking the dialect. Each message that the dialect has not
/// given before is a step forward, since its checks come one after the other: a candidate that got
/// one is kept, and changed further.
class Learner {
public:
  Learner(mlir::MLIRContext *context, uint64_t seed)
      : context(context), judge(context), random(seed) {}

  /// Different examples of the op; none if no search led to one.
  std::vector<Template> learn(const OpSpec &spec);

private:
  static constexpr int kTries = 3000; // from the first example on
  static constexpr int kMostTries = 150000;
  static constexpr size_t kExamples = 64;

  Template propose(const OpSpec &spec);
  std::string examine(Template &candidate);
  void remember(const Template &candidate, const std::string &message);
  void keep(const Template &candidate);

  mlir::MLIRContext *context;
  Judge judge;
  Random random;
  struct Failure {
    Template candidate;
    std::string message;
  };
  std::vector<Failure> failures;            // one of each kind, as they came
  std::map<std::string, size_t> kinds;      // of messages
  std::map<std::string, Template> examples; // by structure
};

} // namespace reprise::fuzz

#endif
