// reprise: work on several threads with the messages of a single thread
#include "reprise/Support/Parallel.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"

#include <atomic>
#include <map>
#include <mutex>

using namespace mlir;

namespace {
/// Messages by the number of the work that emitted them.
class Messages {
public:
  explicit Messages(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          std::lock_guard<std::mutex> lock(mutex);
          auto number = numbers.find(llvm::get_threadid());
          if (number == numbers.end())
            return failure();
          kept[number->second].push_back(std::move(diagnostic));
          return success();
        }) {}

  /// Assigns later messages of this thread to `number`; std::nullopt ends the assignment. Returns
  /// the previous number, because a waiting thread runs other work.
  std::optional<size_t> enter(std::optional<size_t> number) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = numbers.find(llvm::get_threadid());
    std::optional<size_t> before;
    if (found != numbers.end())
      before = found->second;
    if (number)
      numbers[llvm::get_threadid()] = *number;
    else
      numbers.erase(llvm::get_threadid());
    return before;
  }

  /// Takes the messages of the numbers up to `last`, in order.
  std::vector<Diagnostic> take(size_t last) {
    std::vector<Diagnostic> taken;
    for (auto &[number, messages] : kept)
      if (number <= last)
        for (Diagnostic &message : messages)
          taken.push_back(std::move(message));
    return taken;
  }

private:
  std::mutex mutex;
  std::map<uint64_t, size_t> numbers; ///< numbers by thread
  std::map<size_t, std::vector<Diagnostic>> kept;
  ScopedDiagnosticHandler handler;
};
} // namespace

/// Runs all work. We do not use mlir::parallelFor, because it would also print messages of work
/// behind a failure.
static void startAll(MLIRContext &context, size_t count, function_ref<void(size_t)> run) {
  if (!context.isMultithreadingEnabled()) {
    for (size_t number = 0; number < count; ++number)
      run(number);
    return;
  }
  llvm::ThreadPoolTaskGroup tasks(context.getThreadPool());
  for (size_t number = 0; number < count; ++number)
    tasks.async([run, number] { run(number); });
  tasks.wait();
}

/// The other threads walk the table of dialects while one is put in.
static LogicalResult refuseLoading(MLIRContext &context, size_t loaded) {
  if (context.getLoadedDialects().size() == loaded)
    return success();
  return emitError(UnknownLoc::get(&context),
                   "internal error: a dialect was loaded by one of several threads");
}

LogicalResult reprise::forEachInParallel(MLIRContext &context, size_t count,
                                         function_ref<LogicalResult(size_t)> each) {
  size_t loaded = context.getLoadedDialects().size();
  std::vector<Diagnostic> said;
  std::atomic<size_t> failedAt{count};
  {
    Messages messages(context);
    startAll(context, count, [&](size_t number) {
      // Sequential work behind a failure would not have begun.
      if (number > failedAt)
        return;
      std::optional<size_t> before = messages.enter(number);
      size_t known = failedAt;
      if (failed(each(number)))
        while (number < known && !failedAt.compare_exchange_weak(known, number))
          ;
      messages.enter(before);
    });
    said = messages.take(failedAt);
  }
  for (Diagnostic &message : said)
    context.getDiagEngine().emit(std::move(message));
  if (failedAt != count)
    return failure();
  return refuseLoading(context, loaded);
}

reprise::QuietThread::QuietThread(MLIRContext &context)
    : handler(&context, [thread = llvm::get_threadid()](Diagnostic &) {
        return success(thread == llvm::get_threadid());
      }) {}
