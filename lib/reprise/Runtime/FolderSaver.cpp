// reprise: saves of run folders, also behind the steps that follow
#include "reprise/Runtime/FolderSaver.h"
#include "FolderWriter.h"
#include "reprise/Support/Wording.h"

#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

using namespace reprise::runtime;

void FolderSaver::Free::operator()(uint8_t *memory) const { std::free(memory); }

/// Save whose arrays a thread writes.
struct FolderSaver::Outstanding {
  Outstanding(const OutputFolder &folder, const RunState &next, Ranks *ranks)
      : writer(folder, next, ranks) {}
  ~Outstanding() {
    isAbandoned = true;
    if (thread.joinable())
      thread.join();
  }
  void write() {
    added = writer.add(arrays, [this] { return isAbandoned.load(); });
    isDone = true;
  }

  FolderWriter writer;
  std::vector<ArrayRef> arrays; ///< arrays in the copy
  Error added = Error::success();
  std::atomic<bool> isDone = false, isAbandoned = false;
  std::thread thread;
};

FolderSaver::FolderSaver(Ranks *ranks) : ranks(ranks) {}
FolderSaver::~FolderSaver() = default;

Error FolderSaver::save(const OutputFolder &folder, const std::vector<ArrayRef> &arrays,
                        const RunState &next) {
  if (Error error = finish())
    return error;
  return writeRunFolder(folder, arrays, next, ranks);
}

/// Sees that the memory of the copy is large enough. Memory that is used again has its pages
/// already.
Error FolderSaver::makeRoom(uint64_t bytes) {
  if (copy && room >= bytes)
    return Error::success();
  copy.reset();
  copy.reset(static_cast<uint8_t *>(std::malloc(std::max<uint64_t>(bytes, 1))));
  room = copy ? bytes : 0;
  return copy ? Error::success()
              : Error::make("no memory for a copy of the results, " + groupDigits(int64_t(bytes)) +
                            " bytes: save without a copy, before the next step");
}

Error FolderSaver::copyArrays(Outstanding &save, const std::vector<ArrayRef> &arrays) {
  if (Error error = checkData(arrays))
    return error;
  uint64_t bytes = 0;
  for (const ArrayRef &array : arrays)
    bytes += array.bytes();
  if (Error error = makeRoom(bytes))
    return error;
  save.arrays = arrays;
  uint8_t *at = copy.get();
  for (ArrayRef &array : save.arrays) {
    if (array.bytes() != 0)
      std::memcpy(at, array.data, array.bytes());
    array.data = at;
    at += array.bytes();
  }
  return Error::success();
}

/// Starts the thread, which leaves all signals to the thread of the caller.
static Error startThread(std::thread &thread, const std::function<void()> &work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Error error = Error::success();
  try {
    thread = std::thread(work);
  } catch (const std::system_error &failure) {
    error = Error::make(std::string("cannot start a thread: ") + failure.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

Error FolderSaver::begin(const OutputFolder &folder, const std::vector<ArrayRef> &arrays,
                         const RunState &next) {
  if (Error error = finish())
    return error;
  auto save = std::make_unique<Outstanding>(folder, next, ranks);
  if (Error error = save->writer.open())
    return error;
  Error error = copyArrays(*save, arrays);
  if (!error)
    error = startThread(save->thread, [own = save.get()] { own->write(); });
  if (error = ranks ? ranks->agree(error) : error; error)
    return error;
  outstanding = std::move(save);
  return Error::success();
}

Error FolderSaver::poll() {
  if (!outstanding)
    return Error::success();
  bool isDone = outstanding->isDone;
  if (ranks) {
    auto all = ranks->exchange(isDone ? "1" : "");
    if (!all)
      return all.error();
    for (const std::string &each : *all)
      isDone &= !each.empty();
  }
  return isDone ? finish() : Error::success();
}

Error FolderSaver::finish() {
  if (!outstanding)
    return Error::success();
  std::unique_ptr<Outstanding> save = std::move(outstanding);
  save->thread.join();
  SignalHold hold;
  return save->writer.finish(save->added);
}
