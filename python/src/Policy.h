// reprise: policies that are Python callables
#ifndef REPRISE_PYTHON_POLICY_H
#define REPRISE_PYTHON_POLICY_H

#include "Core.h"

namespace reprise_python {

/// Caller of a Python callable, which gets lists of ops and values and returns a list of (label,
/// reason).
class Policy {
public:
  Policy(std::string name, nb::object callable);
  const rp_policy &table() const { return policy; }
  /// Drops the callable. A callable refers to its module, which may refer to the session, and no
  /// collector would free the cycle.
  void release() { callable = nb::none(); }
  /// Exception that the callable has raised; null if none.
  nb::object exception;

private:
  static rp_status decide(void *self, const rp_host *host, const rp_graph *graph, uint8_t *labels,
                          size_t count);
  static rp_status explain(void *self, uint32_t op, rp_string *reason);
  void ask(const rp_host *host, const rp_graph *graph, uint8_t *labels, size_t count);

  std::string name;
  nb::object callable;
  rp_policy policy = {};
  std::vector<std::string> reasons;
};

} // namespace reprise_python

#endif // REPRISE_PYTHON_POLICY_H
