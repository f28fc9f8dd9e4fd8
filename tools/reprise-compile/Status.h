// reprise: the current phase, on terminals only
#ifndef REPRISE_TOOLS_COMPILE_STATUS_H
#define REPRISE_TOOLS_COMPILE_STATUS_H

#include "mlir/IR/MLIRContext.h"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace reprise {

/// Status line with the phase of a context and its duration, on standard error while that is a
/// terminal; no output otherwise. The line is erased before a diagnostic and by the destructor.
class Status {
public:
  /// Makes the line; `between` is the work while no pass runs.
  Status(mlir::MLIRContext &context, const char *between);
  ~Status();
  Status(const Status &) = delete;
  Status &operator=(const Status &) = delete;

  /// Shows how far the phase has come.
  void tell(const std::string &progress);

  /// Ends the line, so that other text can be printed.
  void end();

private:
  void draw();

  mlir::MLIRContext &context;
  const char *between;
  std::atomic<const char *> phase;
  mlir::DiagnosticEngine::HandlerID handler = 0;
  std::mutex mutex;
  std::condition_variable wake;
  std::string progress; ///< progress of the phase; guarded by `mutex`
  bool isOver = false;
  std::thread thread;
};

} // namespace reprise

#endif // REPRISE_TOOLS_COMPILE_STATUS_H
