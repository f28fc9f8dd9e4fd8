// reprise: the current phase, on terminals only
#include "Status.h"

#include "mlir/IR/Action.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "reprise/Pipelines/Phases.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace mlir;

namespace reprise {

Status::Status(MLIRContext &context, const char *between)
    : context(context), between(between), phase("parse") {
  if (!isatty(STDERR_FILENO))
    return;
  context.registerActionHandler([this](function_ref<void()> run, const tracing::Action &action) {
    auto *execution = dyn_cast<PassExecutionAction>(&action);
    std::optional<Phase> own =
        execution ? phaseOfPass(execution->getPass().getArgument()) : std::nullopt;
    if (own)
      phase = phaseName(*own).data(); // a literal
    run();
    if (own)
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
    llvm::errs() << llvm::formatv("\r{0}{1} {2:f1} s\x1b[K", phase.load(), progress,
                                  passed.count());
    isDrawn = true;
  }
  if (isDrawn)
    llvm::errs() << "\r\x1b[K";
}

void Status::tell(const std::string &given) {
  std::lock_guard<std::mutex> lock(mutex);
  progress = ", " + given + ",";
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
