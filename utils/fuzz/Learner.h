// reprise: learning of the types that an op accepts
#ifndef REPRISE_UTILS_FUZZ_LEARNER_H
#define REPRISE_UTILS_FUZZ_LEARNER_H

#include "Template.h"
#include <map>

namespace reprise::fuzz {

/// Search for well-formed examples of an op by asking the dialect. Each new message of the dialect
/// is progress, since its checks run one after the other: the candidate is kept, and changed
/// further.
class Learner {
public:
  Learner(mlir::MLIRContext *context, uint64_t seed)
      : context(context), judge(context), random(seed) {}

  /// Returns different examples of the op; none if no search found one.
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
  std::vector<Failure> failures;            // one of each kind, in order
  std::map<std::string, size_t> kinds;      // by message
  std::map<std::string, Template> examples; // by structure
};

} // namespace reprise::fuzz

#endif
