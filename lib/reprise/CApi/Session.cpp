// reprise: sessions of the C API, their messages and errors
#include "Handles.h"

#include "mlir/IR/Diagnostics.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/InitAll.h"
#include "reprise/Policy/Policy.h"
#include "reprise/Policy/Table.h"
#include "reprise/Support/Locations.h"
#include "reprise/Support/Readable.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;
using namespace reprise::capi;

static reprise_severity toSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return REPRISE_NOTE;
  case DiagnosticSeverity::Remark:
    return REPRISE_REMARK;
  case DiagnosticSeverity::Warning:
    return REPRISE_WARNING;
  case DiagnosticSeverity::Error:
    return REPRISE_ERROR;
  }
  llvm_unreachable("unknown severity");
}

static Message toMessage(const Diagnostic &diagnostic) {
  Message message;
  message.severity = toSeverity(diagnostic.getSeverity());
  message.text = diagnostic.str();
  if (StringRef flag = reprise::getFlag(diagnostic.getLocation()); !flag.empty())
    message.text = (flag + ": " + message.text).str();
  std::string scope = reprise::getScope(diagnostic.getLocation());
  if (!scope.empty() && message.severity != REPRISE_REMARK)
    message.text = "in " + scope + ": " + message.text;
  diagnostic.getLocation()->walk([&](Location part) {
    if (auto place = dyn_cast<FileLineColLoc>(part); place && message.file.empty()) {
      message.file = place.getFilename().str();
      message.line = place.getLine();
      message.column = place.getColumn();
    }
    return WalkResult::advance();
  });
  return message;
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  reprise::registerAllDialects(registry);
  return registry;
}

SessionState::SessionState() : context(makeRegistry()) {
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  reprise::PolicyRegistry::of(&context).runPluginsHere();
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    say(toMessage(diagnostic));
    for (Diagnostic &note : diagnostic.getNotes())
      say(toMessage(note));
    return success();
  });
}

void SessionState::begin() {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  messages.clear();
  cancelled = false;
  lastTold = 0;
}

void SessionState::say(Message message) {
  message.text = shortenMessage(message.text);
  message.file = shortenMessage(message.file);
  std::lock_guard<std::recursive_mutex> lock(mutex);
  messages.push_back(message);
  if (!diagnostics)
    return;
  reprise_diagnostic shown = {sizeof shown,         message.severity, message.text.c_str(),
                              message.file.c_str(), message.line,     message.column};
  diagnostics(diagnosticsUser, &shown);
}

static const char *severityName(reprise_severity severity) {
  static constexpr const char *names[] = {"note", "remark", "warning", "error"};
  return names[severity];
}

static void print(llvm::raw_ostream &stream, const Message &message) {
  if (!message.file.empty())
    stream << message.file << ":";
  if (!message.file.empty() && message.line > 0)
    stream << message.line << ":" << message.column << ":";
  if (!message.file.empty())
    stream << " ";
  stream << severityName(message.severity) << ": " << message.text << "\n";
}

reprise_error *SessionState::fail(reprise_error_code code) {
  std::lock_guard<std::recursive_mutex> lock(mutex);
  auto *error = new reprise_error;
  error->code = cancelled ? REPRISE_CANCELLED : code;
  error->message = "the work failed without a message";
  auto first = llvm::find_if(
      messages, [](const Message &message) { return message.severity == REPRISE_ERROR; });
  if (first != messages.end()) {
    error->message = first->text;
    error->file = first->file;
    error->line = first->line;
    error->column = first->column;
  }
  llvm::raw_string_ostream stream(error->text);
  for (const Message &message : messages)
    print(stream, message);
  return error;
}

reprise_error *SessionState::fail(std::string message, reprise_error_code code) {
  say({REPRISE_ERROR, std::move(message), "", 0, 0});
  return fail(code);
}

reprise_error *reprise::capi::makeError(std::string message, reprise_error_code code) {
  auto *error = new reprise_error;
  message = shortenMessage(message);
  error->code = code;
  error->text = "error: " + message + "\n";
  error->message = std::move(message);
  return error;
}

reprise_error *reprise::capi::refuseNull(std::initializer_list<Required> arguments) {
  for (const Required &argument : arguments)
    if (argument.isMissing)
      return makeError("argument '" + std::string(argument.name) + "' is null", REPRISE_BAD_USAGE);
  return nullptr;
}

void SessionState::setPhase(const char *newPhase) {
  if (phase.exchange(newPhase) != newPhase)
    lastTold = 0;
  (void)isCancelled();
}

/// Returns whether the callback has cancelled. Planners call it after each of their moves,
/// thousands of times per second.
bool SessionState::isCancelled() {
  static constexpr int64_t kPause = 10; // milliseconds
  if (!progress || cancelled)
    return cancelled;
  int64_t now = std::chrono::duration_cast<std::chrono::milliseconds>(
                    std::chrono::steady_clock::now().time_since_epoch())
                    .count();
  int64_t last = lastTold;
  if (now - last < kPause || !lastTold.compare_exchange_strong(last, now))
    return cancelled;
  std::lock_guard<std::recursive_mutex> lock(mutex);
  if (!cancelled && progress(progressUser, phase) != 0)
    cancelled = true;
  return cancelled;
}

int reprise_version(void) { return REPRISE_API_VERSION; }
const char *reprise_compiler_version(void) { return REPRISE_VERSION; }

const char *reprise_error_message(const reprise_error *error) {
  return error ? error->message.c_str() : "";
}
reprise_error_code reprise_error_get_code(const reprise_error *error) {
  return error ? error->code : reprise_error_code{};
}
const char *reprise_error_file(const reprise_error *error) {
  return error ? error->file.c_str() : "";
}
unsigned reprise_error_line(const reprise_error *error) { return error ? error->line : 0; }
unsigned reprise_error_column(const reprise_error *error) { return error ? error->column : 0; }
int64_t reprise_error_least_budget(const reprise_error *error) {
  return error ? error->leastBudget : 0;
}
const char *reprise_error_text(const reprise_error *error) {
  return error ? error->text.c_str() : "";
}
void reprise_error_destroy(reprise_error *error) { delete error; }

reprise_error *reprise_session_create(reprise_session **session) {
  if (reprise_error *error = refuseNull({{"session", session}}))
    return error;
  *session = new reprise_session{std::make_shared<SessionState>()};
  return nullptr;
}
void reprise_session_destroy(reprise_session *session) { delete session; }

void reprise_session_set_diagnostics(reprise_session *session, reprise_diagnostic_callback callback,
                                     void *user) {
  if (!session)
    return;
  session->state->diagnostics = callback;
  session->state->diagnosticsUser = user;
}

void reprise_session_set_progress(reprise_session *session, reprise_progress_callback callback,
                                  void *user) {
  if (!session)
    return;
  session->state->progress = callback;
  session->state->progressUser = user;
}

reprise_error *reprise_session_add_policy(reprise_session *session, const char *name,
                                          const rp_policy *policy, void *self) {
  if (reprise_error *error = refuseNull({{"session", session}, {"name", name}, {"policy", policy}}))
    return error;
  SessionState &state = *session->state;
  state.begin();
  if (std::string wrong = reprise::findWrongPolicy(name, *policy); !wrong.empty())
    return state.fail(wrong, REPRISE_BAD_USAGE);
  reprise::PolicyPtr made = reprise::makePolicy(name, *policy, self);
  reprise::PolicyRegistry::Entry entry{
      name, "a policy of the host", "",
      [made](ArrayRef<StringRef>, const reprise::PolicyContext &) -> FailureOr<reprise::PolicyPtr> {
        return made;
      }};
  if (reprise::PolicyRegistry::of(&state.context).add(std::move(entry)))
    return nullptr;
  return state.fail("a policy '" + std::string(name) + "' exists already", REPRISE_BAD_USAGE);
}
