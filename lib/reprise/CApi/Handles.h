// reprise: what is behind the handles of the C API
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

/// What all objects of a session share; it lives as long as the last of them.
class SessionState {
public:
  SessionState();

  /// Errors of one call of the API: forgets earlier messages.
  void begin();
  /// Tells the callback, and keeps the message for fail().
  void say(Message message);
  /// The error of what was said since begin().
  reprise_error *fail(reprise_error_code code = REPRISE_BAD_INPUT);
  /// The same after saying so.
  reprise_error *fail(std::string message, reprise_error_code code = REPRISE_BAD_INPUT);
  reprise_error *fail(const runtime::Error &error) { return fail(error.message()); }

  /// Tells the progress callback of the phase, not too often; true once it has cancelled.
  bool isCancelled();
  void setPhase(const char *phase);
  bool isTold() const { return progress != nullptr; }

  reprise_diagnostic_callback diagnostics = nullptr;
  void *diagnosticsUser = nullptr;
  reprise_progress_callback progress = nullptr;
  void *progressUser = nullptr;
  /// The last member: what its end may call is still there.
  mlir::MLIRContext context;

private:
  std::recursive_mutex mutex;
  std::vector<Message> messages;
  std::atomic<const char *> phase{"import"};
  std::atomic<int64_t> lastTold{0};
  std::atomic<bool> cancelled{false};
};
using SessionPtr = std::shared_ptr<SessionState>;

/// An error without a session.
reprise_error *makeError(std::string message, reprise_error_code code);

/// An argument of a function of the API that must be there.
struct Required {
  /// An array may be null if it has no elements.
  Required(const char *name, const void *value, size_t elements = 1)
      : name(name), isMissing(!value && elements > 0) {}

  const char *name;
  bool isMissing;
};

/// The error of the first argument that is missing; null if all are there.
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
/// The handle of a module that is right, or null after saying why it is not.
reprise_module *wrapModule(const SessionPtr &session, mlir::OwningOpRef<mlir::ModuleOp> module);
/// Takes the bytes of a bundle; an error if they are none.
reprise_error *makeBundle(const SessionPtr &session, std::vector<uint8_t> bytes, std::string name,
                          reprise_bundle **bundle);
} // namespace reprise::capi

#endif // REPRISE_LIB_CAPI_HANDLES_H
