// reprise: a thread that continues the transfers of a wire while their program computes
#include "reprise/Runtime/Wire.h"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

using namespace reprise::runtime;

namespace {

/// Wire with a lock around every call. The thread polls the wire ten thousand times a second while
/// a transfer is in flight, and seldom otherwise. After 0.1 s without a transfer it sleeps, since a
/// wake-up takes longer than a small transfer.
class BackgroundWire : public Wire {
public:
  explicit BackgroundWire(std::unique_ptr<Wire> given) : wire(std::move(given)) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    helper = std::thread([this] { work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~BackgroundWire() override { stop(); }

  uint32_t rank() const override { return wire->rank(); }
  uint32_t size() const override { return wire->size(); }
  Error start(Transfer &transfer) override;
  Expected<bool> test(Transfer &transfer) override;
  void drop(Transfer &transfer) override;
  void progress() override {
    std::lock_guard<std::mutex> guard(lock);
    wire->progress();
  }
  Error tell(uint32_t rank, const std::string &text) override {
    std::lock_guard<std::mutex> guard(lock);
    return wire->tell(rank, text);
  }
  std::optional<Message> hear() override {
    std::lock_guard<std::mutex> guard(lock);
    return wire->hear();
  }
  void leave(int code) override {
    stop();
    wire->leave(code);
  }
  [[noreturn]] void abort(int code) override {
    stop();
    wire->abort(code);
  }

private:
  void work();
  void stop();

  static constexpr std::chrono::microseconds busy{100}, idle{1000};
  static constexpr unsigned looksBeforeSleep = 100;

  std::unique_ptr<Wire> wire;
  std::mutex lock;
  std::condition_variable changed;
  unsigned inFlight = 0;
  bool isAsleep = false, isStopped = false;
  std::thread helper;
};

Error BackgroundWire::start(Transfer &transfer) {
  std::lock_guard<std::mutex> guard(lock);
  if (Error error = wire->start(transfer))
    return error;
  ++inFlight;
  if (isAsleep)
    changed.notify_one();
  return Error::success();
}

Expected<bool> BackgroundWire::test(Transfer &transfer) {
  std::lock_guard<std::mutex> guard(lock);
  Expected<bool> isDone = wire->test(transfer);
  if (isDone && *isDone)
    --inFlight;
  return isDone;
}

void BackgroundWire::drop(Transfer &transfer) {
  std::lock_guard<std::mutex> guard(lock);
  wire->drop(transfer);
  --inFlight;
}

void BackgroundWire::work() {
  unsigned idleLooks = 0;
  std::unique_lock<std::mutex> guard(lock);
  while (!isStopped) {
    if (inFlight != 0) {
      wire->progress();
      idleLooks = 0;
    } else if (++idleLooks > looksBeforeSleep) {
      isAsleep = true;
      changed.wait(guard, [this] { return isStopped || inFlight != 0; });
      isAsleep = false;
      continue;
    }
    std::chrono::microseconds pause = inFlight != 0 ? busy : idle;
    guard.unlock();
    std::this_thread::sleep_for(pause);
    guard.lock();
  }
}

void BackgroundWire::stop() {
  {
    std::lock_guard<std::mutex> guard(lock);
    isStopped = true;
  }
  changed.notify_one();
  if (helper.joinable())
    helper.join();
}

} // namespace

std::unique_ptr<Wire> reprise::runtime::makeBackgroundWire(std::unique_ptr<Wire> wire) {
  return std::make_unique<BackgroundWire>(std::move(wire));
}
