// reprise: common parts of the Python binding
#ifndef REPRISE_PYTHON_CORE_H
#define REPRISE_PYTHON_CORE_H

#include "reprise-c/Reprise.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace reprise_python {
namespace nb = nanobind;

/// Policy that is a Python callable, as the C API calls it.
class Policy;

template <auto destroy> struct Destroy {
  template <typename T> void operator()(T *object) const { destroy(object); }
};
template <typename T, auto destroy> using Handle = std::unique_ptr<T, Destroy<destroy>>;

using Options = std::vector<std::pair<std::string, std::string>>;
using OptionsHandle = Handle<reprise_options, reprise_options_destroy>;

/// Throws the Python exception of an error, if there is one.
void check(reprise_error *error);
OptionsHandle makeOptions(const Options &options);

/// Session with its warnings, and the policies that it may call.
class Session {
public:
  Session();
  ~Session();
  reprise_session *get() const { return handle.get(); }
  void addPolicy(const std::string &name, nb::object callable);

  /// Tells warnings that were heard to Python.
  void warn();
  /// Releases the policies, which the only compilation has called, and returns an exception that
  /// one of them has raised.
  nb::object releasePolicies();

private:
  static void hear(void *user, const reprise_diagnostic *diagnostic);

  Handle<reprise_session, reprise_session_destroy> handle;
  std::mutex mutex;
  std::vector<std::string> warnings;
  std::vector<std::unique_ptr<Policy>> policies;
};

struct Bundle {
  std::shared_ptr<Session> session;
  Handle<reprise_bundle, reprise_bundle_destroy> handle;
};

void bindCalls(nb::module_ &module);
void bindRuns(nb::module_ &module);

} // namespace reprise_python

#endif // REPRISE_PYTHON_CORE_H
