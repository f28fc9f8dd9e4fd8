// reprise: the phase at hand, on terminals only
#include "Status.h"

#include "mlir/IR/Action.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace mlir;

namespace reprise {

/// Null for passes that stand in several phases.
static const char *phaseOf(StringRef pass) {
  return llvm::StringSwitch<const char *>(pass)
      .Case("reprise-import", "import")
      .Case("reprise-thread-random", "random")
      .Case("reprise-assign-labels", "label")
      .Cases({"reprise-split-loops", "reprise-differentiate", "reprise-unroll-loops",
              "reprise-expand-normalizations", "reprise-make-programs"},
             "autodiff")
      .Cases({"reprise-checkpoint", "reprise-verify-checkpoint"}, "checkpoint")
      .Cases({"reprise-expose-replays", "exec-form-launches"}, "kernels")
      .Cases({"exec-order-launches", "exec-place-buffers", "exec-verify-buffers"}, "memory")
      .Default(nullptr);
}

Status::Status(MLIRContext &context, const char *between)
    : context(context), between(between), phase("parse") {
  if (!isatty(STDERR_FILENO))
    return;
  context.registerActionHandler([this](function_ref<void()> run, const tracing::Action &action) {
    auto *execution = dyn_cast<PassExecutionAction>(&action);
    const char *name = execution ? phaseOf(execution->getPass().getArgument()) : nullptr;
    if (name)
      phase = name;
    run();
    if (name)
      phase = this->between;
  });
  handler = context.getDiagEngine().registerHandler([this](Diagnostic &) {
    end();
    return failure(); // the next handler prints it
  });
  thread = std::thread([this] { draw(); });
}

void Status::draw() {
  auto start = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex);
  bool isDrawn = false;
  while (!wake.wait_for(lock, std::chrono::milliseconds(100), [&] { return isOver; })) {
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    llvm::errs() << llvm::formatv("\r{0} {1:f1} s\x1b[K", phase.load(), passed.count());
    isDrawn = true;
  }
  if (isDrawn)
    llvm::errs() << "\r\x1b[K";
}

void Status::end() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  wake.notify_all();
  if (thread.joinable())
    thread.join();
}

Status::~Status() {
  if (handler)
    context.getDiagEngine().eraseHandler(handler);
  context.registerActionHandler(nullptr);
  end();
}

} // namespace reprise
