// reprise: the objects behind the handles of the C API
#ifndef REPRISE_LIB_CAPI_HANDLES_H
#define REPRISE_LIB_CAPI_HANDLES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "reprise-c/Reprise.h"
#include "reprise/Runtime/Error.h"

#include <atomic>
#include <functional>
#include <mutex>

struct reprise_error {
  reprise_error_code code = REPRISE_BAD_INPUT;
  std::string message, file, text;
  unsigned line = 0, column = 0;
  int64_t leastBudget = 0;
};

namespace reprise::capi {

struct Message {
  reprise_severity severity = REPRISE_ERROR;
  std::string text, file;
  unsigned line = 0, column = 0;
};

/// Common state of all objects of a session; it lives as long as the last of them.
class SessionState {
public:
  SessionState();

  /// Errors of one call of the API: forgets earlier messages.
  void begin();
  /// Tells the callback, and keeps the message for fail().
  void say(Message message);
  /// Makes the error of the messages since begin().
  reprise_error *fail(reprise_error_code code = REPRISE_BAD_INPUT);
  /// Adds a message and makes the error.
  reprise_error *fail(std::string message, reprise_error_code code = REPRISE_BAD_INPUT);
  reprise_error *fail(const runtime::Error &error) { return fail(error.message()); }

  /// Calls the progress callback with the phase, at a limited rate; returns true once it has
  /// cancelled.
  bool isCancelled();
  void setPhase(const char *phase);
  bool isTold() const { return progress != nullptr; }

  reprise_diagnostic_callback diagnostics = nullptr;
  void *diagnosticsUser = nullptr;
  reprise_progress_callback progress = nullptr;
  void *progressUser = nullptr;
  /// Context, declared last, so that members which its destructor may call still exist.
  mlir::MLIRContext context;

private:
  std::recursive_mutex mutex;
  std::vector<Message> messages;
  std::atomic<const char *> phase{"import"};
  std::atomic<int64_t> lastTold{0};
  std::atomic<bool> cancelled{false};
};
using SessionPtr = std::shared_ptr<SessionState>;

/// Makes an error without a session.
reprise_error *makeError(std::string message, reprise_error_code code);

/// Required argument of a function of the API.
struct Required {
  /// Makes a requirement; an array without elements may be null.
  Required(const char *name, const void *value, size_t elements = 1)
      : name(name), isMissing(!value && elements > 0) {}

  const char *name;
  bool isMissing;
};

/// Returns the error of the first missing argument; null if all are given.
reprise_error *refuseNull(std::initializer_list<Required> arguments);

} // namespace reprise::capi

struct reprise_session {
  reprise::capi::SessionPtr state;
};

struct reprise_module {
  reprise::capi::SessionPtr session;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string text;
};

struct reprise_bundle {
  reprise::capi::SessionPtr session;
  std::string name;
  std::vector<uint8_t> bytes;
  std::string description;
};

namespace reprise::capi {
/// Returns the handle of a valid module, or null after a message about its fault.
reprise_module *wrapModule(const SessionPtr &session, mlir::OwningOpRef<mlir::ModuleOp> module);
/// Takes the bytes of a bundle; returns an error if they are no bundle.
reprise_error *makeBundle(const SessionPtr &session, std::vector<uint8_t> bytes, std::string name,
                          reprise_bundle **bundle);
} // namespace reprise::capi

#endif // REPRISE_LIB_CAPI_HANDLES_H
