// reprise: messages between processes by MPI, in a separate library that is loaded on demand
#include "reprise/Runtime/Wire.h"

#include <csignal>
#include <cstdlib>
#include <list>
#include <map>
#include <mpi.h>
#include <thread>

using namespace reprise::runtime;

namespace {

/// A count of MPI is an int: more bytes are a type of their own.
constexpr uint64_t maxBytes = 1 << 30;

Error check(int code, const char *what) {
  if (code == MPI_SUCCESS)
    return Error::success();
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return Error::make(std::string("MPI cannot ") + what + ": " + std::string(text, size_t(length)));
}

class MpiWire : public Wire {
public:
  Error open();
  uint32_t rank() const override { return uint32_t(own); }
  uint32_t size() const override { return uint32_t(all); }
  Error start(Transfer &transfer) override;
  Expected<bool> test(Transfer &transfer) override;
  void drop(Transfer &transfer) override;
  void progress() override {
    int hasOne = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, texts, &hasOne, MPI_STATUS_IGNORE);
  }
  Error tell(uint32_t rank, const std::string &text) override;
  std::optional<Message> hear() override;
  void leave(int code) override;
  [[noreturn]] void abort(int code) override;

private:
  struct Letter {
    std::string text;
    MPI_Request request;
  };
  struct Amount {
    int count;
    MPI_Datatype type;
  };
  Expected<Amount> amountOf(uint64_t bytes);

  int own = 0, all = 1;
  MPI_Comm values = MPI_COMM_NULL, texts = MPI_COMM_NULL;
  std::list<Letter> letters; ///< texts in flight
  std::map<uint64_t, MPI_Datatype> largeTypes;
};

/// A request is a pointer or an integer.
static_assert(sizeof(MPI_Request) <= sizeof(uintptr_t));
MPI_Request &requestOf(Transfer &transfer) {
  return reinterpret_cast<MPI_Request &>(transfer.request);
}

Error MpiWire::open() {
  // MPI threads block all signals, which belong to the tool.
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  int level = MPI_THREAD_SINGLE;
  int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (Error error = check(code, "start"))
    return error;
  if (level < MPI_THREAD_SERIALIZED)
    return Error::make("MPI serves one thread of a process only");
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  for (MPI_Comm *made : {&values, &texts}) {
    if (Error error = check(MPI_Comm_dup(MPI_COMM_WORLD, made), "connect the processes"))
      return error;
    MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  }
  return Error::success();
}

Expected<MpiWire::Amount> MpiWire::amountOf(uint64_t bytes) {
  if (bytes <= maxBytes)
    return Amount{int(bytes), MPI_BYTE};
  auto [found, isNew] = largeTypes.try_emplace(bytes, MPI_DATATYPE_NULL);
  if (isNew) {
    MPI_Datatype whole;
    MPI_Type_contiguous(int(maxBytes), MPI_BYTE, &whole);
    int counts[] = {int(bytes / maxBytes), int(bytes % maxBytes)};
    MPI_Aint places[] = {0, MPI_Aint(bytes / maxBytes * maxBytes)};
    MPI_Datatype types[] = {whole, MPI_BYTE};
    MPI_Type_create_struct(2, counts, places, types, &found->second);
    MPI_Type_free(&whole);
    if (Error error = check(MPI_Type_commit(&found->second), "describe a large value"))
      return error;
  }
  return Amount{1, found->second};
}

Error MpiWire::start(Transfer &transfer) {
  Expected<Amount> amount = amountOf(transfer.bytes);
  if (!amount)
    return amount.error();
  MPI_Request &request = requestOf(transfer);
  int peer = int(transfer.peer), tag = int(transfer.tag);
  return transfer.isSend ? check(MPI_Isend(transfer.data, amount->count, amount->type, peer, tag,
                                           values, &request),
                                 "send")
                         : check(MPI_Irecv(transfer.data, amount->count, amount->type, peer, tag,
                                           values, &request),
                                 "receive");
}

Expected<bool> MpiWire::test(Transfer &transfer) {
  int isDone = 0;
  int code = MPI_Test(&requestOf(transfer), &isDone, MPI_STATUS_IGNORE);
  if (Error error = check(code, transfer.isSend ? "send" : "receive"))
    return error;
  return isDone != 0;
}

void MpiWire::drop(Transfer &transfer) {
  MPI_Request &request = requestOf(transfer);
  if (request == MPI_REQUEST_NULL)
    return;
  MPI_Cancel(&request);
  MPI_Request_free(&request);
}

Error MpiWire::tell(uint32_t rank, const std::string &text) {
  letters.push_back({text, MPI_REQUEST_NULL});
  Letter &letter = letters.back();
  return check(MPI_Isend(letter.text.data(), int(letter.text.size()), MPI_BYTE, int(rank), 0, texts,
                         &letter.request),
               "send a message");
}

std::optional<Wire::Message> MpiWire::hear() {
  for (auto letter = letters.begin(); letter != letters.end();) {
    int isDone = 0;
    MPI_Test(&letter->request, &isDone, MPI_STATUS_IGNORE);
    letter = isDone ? letters.erase(letter) : std::next(letter);
  }
  int hasOne = 0, length = 0;
  MPI_Message handle;
  MPI_Status status;
  if (MPI_Improbe(MPI_ANY_SOURCE, 0, texts, &hasOne, &handle, &status) != MPI_SUCCESS || !hasOne)
    return std::nullopt;
  MPI_Get_count(&status, MPI_BYTE, &length);
  Message message{uint32_t(status.MPI_SOURCE), std::string(size_t(length), 0)};
  MPI_Mrecv(message.text.data(), length, MPI_BYTE, &handle, &status);
  return message;
}

void MpiWire::leave(int code) {
  // Nobody knows how long MPI waits for transfers that have been dropped.
  if (code != 0)
    std::thread([code] {
      std::this_thread::sleep_for(std::chrono::seconds(5));
      std::_Exit(code);
    }).detach();
  for (Letter &letter : letters)
    MPI_Wait(&letter.request, MPI_STATUS_IGNORE);
  letters.clear();
  MPI_Finalize();
}

void MpiWire::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

} // namespace

/// Null, with the reason, if MPI cannot start.
extern "C" __attribute__((visibility("default"))) Wire *repriseMakeMpiWire(std::string &failure) {
  auto wire = std::make_unique<MpiWire>();
  if (Error error = wire->open()) {
    failure = error.message();
    return nullptr;
  }
  return wire.release();
}
