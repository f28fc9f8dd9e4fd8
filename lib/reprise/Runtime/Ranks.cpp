// reprise: the processes of one run: agreement, and a common end after a failure
#include "reprise/Runtime/Ranks.h"
#include "reprise/Runtime/Backoff.h"

#include <algorithm>
#include <cstring>
#include <thread>

using namespace reprise::runtime;

namespace {

// Kinds of messages, by their first letter.
constexpr char give = 'g';     ///< to rank 0: a text of an exchange
constexpr char collect = 'c';  ///< from rank 0: the texts of all
constexpr char failing = 'f';  ///< to rank 0: this process has failed
constexpr char end = 'e';      ///< from rank 0: all processes end, with the reason
constexpr char halt = 'h';     ///< to rank 0 and from it: the step has failed, with the reason
constexpr char goOn = 'o';     ///< from rank 0: the failed step has ended on all ranks
constexpr char goodbye = 'b';  ///< to rank 0, after the end
constexpr char question = 'q'; ///< from rank 0: asks whether the rank waits
constexpr char reply = 'r';    ///< to rank 0: answers the question

void put(std::string &text, uint64_t number) {
  text.append(reinterpret_cast<const char *>(&number), sizeof number);
}

/// Reader of data that put() has written: only processes of one build exchange messages.
class Cursor {
public:
  explicit Cursor(const std::string &text, size_t at = 1) : text(text), at(at) {}
  uint64_t number() {
    uint64_t value = 0;
    if (at + sizeof value <= text.size())
      std::memcpy(&value, text.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::string rest() const { return at < text.size() ? text.substr(at) : ""; }
  std::string part() {
    uint64_t length = number();
    std::string own = text.substr(std::min(at, text.size()), length);
    at += length;
    return own;
  }

private:
  const std::string &text;
  size_t at;
};

} // namespace

Ranks::Ranks(std::unique_ptr<Wire> opened, Patience patience)
    : wire(std::move(opened)), patience(patience), given(wire->size()), answers(wire->size()),
      before(wire->size()) {
  for (uint32_t i = 0; i < size(); ++i)
    names.push_back("process " + std::to_string(i));
}

Ranks::~Ranks() = default;

Error Ranks::failed() const { return Error::make(failure->text); }

Error Ranks::tell(uint32_t rank, char kind, const std::string &text) {
  return wire->tell(rank, kind + text);
}

void Ranks::tellOthers(char kind, const std::string &text) {
  for (uint32_t i = 0; i < size(); ++i)
    if (i != rank())
      // A rank that cannot be reached is ended by its launcher.
      (void)bool(tell(i, kind, text));
}

void Ranks::listen() {
  while (std::optional<Wire::Message> message = wire->hear())
    if (!message->text.empty() && message->from < size())
      take(*message);
}

void Ranks::take(const Wire::Message &message) {
  Cursor cursor(message.text);
  switch (message.text[0]) {
  case give:
    given[message.from] = cursor.rest();
    break;
  case collect:
    collected = cursor.rest();
    break;
  case failing:
  case halt:
  case end: {
    int code = int(cursor.number());
    if (!failure)
      failure = {code, cursor.rest()};
    isOver |= message.text[0] == end;
    isLeft |= message.text[0] == failing;
    ended += message.text[0] == halt;
    break;
  }
  case goOn:
    mayGoOn = true;
    break;
  case goodbye:
    ++goodbyes;
    break;
  case question:
    asked = uint32_t(cursor.number());
    break;
  case reply: {
    Answer &own = answers[message.from];
    own.waits = cursor.number();
    own.bytes = cursor.number();
    own.round = uint32_t(cursor.number());
    own.what = cursor.rest();
    break;
  }
  }
}

Error Ranks::waitUntil(const Wait &wait, const std::function<Expected<bool>()> &isDone) {
  Backoff backoff;
  std::optional<Clock::time_point> next;
  quietRounds = 0;
  ++waits;
  for (uint64_t looks = 0;; ++looks) {
    Expected<bool> done = isDone();
    if (!done)
      return done.error();
    if (*done)
      return Error::success();
    // A message is as fast as a transfer, so only few polls are for messages.
    if (looks % 16 == 0)
      listen();
    if (failure) {
      // The message that this rank waits for may have come before the failure.
      done = isDone();
      return !done ? done.error() : *done ? Error::success() : failed();
    }
    if (asked && wait.isOwnWork)
      asked.reset();
    if (asked)
      answer(wait);
    if (backoff.pause())
      continue;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    Clock::time_point now = Clock::now();
    if (!next)
      next = now + patience.round;
    if (!isFirst() || wait.isOwnWork || now < *next)
      continue;
    next = now + patience.round;
    if (isStalled(wait))
      return Error::make(describeStall(wait));
  }
}

Error Ranks::listenUntil(const std::function<Expected<bool>()> &isDone) {
  return waitUntil({[] { return std::string(); }, 0, /*isOwnWork=*/true}, isDone);
}

/// Rank 0 asks.
void Ranks::answer(const Wait &wait) {
  std::string text;
  put(text, waits);
  put(text, wait.bytes);
  put(text, *asked);
  asked.reset();
  (void)bool(tell(0, reply, text + wait.describe()));
}

/// Returns whether all ranks have been in their current waits for the limit of rounds. A rank that
/// computes does not answer.
bool Ranks::isStalled(const Wait &wait) {
  answers[rank()] = {waits, wait.bytes, round, wait.describe()};
  uint64_t bytes = 0;
  bool isQuiet = true;
  for (uint32_t i = 0; i < size(); ++i) {
    if (answers[i].round != round)
      return false;
    isQuiet &= answers[i].waits == before[i].waits;
    bytes = std::max(bytes, answers[i].bytes);
  }
  quietRounds = isQuiet ? quietRounds + 1 : 0;
  if (quietRounds > patience.rounds + bytes / patience.bytesPerRound)
    return true;
  before = answers;
  std::string text;
  put(text, ++round);
  tellOthers(question, text);
  return false;
}

std::string Ranks::describeStall(const Wait &wait) const {
  std::string text = "a message is lost, or programs wait for each other: ";
  for (uint32_t i = 0; i < size(); ++i)
    text += (i ? ", " : "") + names[i] + " waits " + (i ? answers[i].what : wait.describe());
  return text;
}

static const char *waitsForOthers() { return "for the others"; }

Expected<std::vector<std::string>> Ranks::collectAll(const std::string &own, bool toAll) {
  if (failure)
    return failed();
  if (isFirst())
    return collectAtFirst(own, toAll);
  collected.reset();
  if (Error error = tell(0, give, own))
    return error;
  if (Error error =
          waitUntil({waitsForOthers, 0}, [this]() -> Expected<bool> { return bool(collected); }))
    return error;
  if (!toAll)
    return std::vector<std::string>();
  Cursor cursor(*collected, 0);
  std::vector<std::string> all(size());
  for (std::string &each : all)
    each = cursor.part();
  return all;
}

Expected<std::vector<std::string>> Ranks::collectAtFirst(const std::string &own, bool toAll) {
  given[0] = own;
  auto isComplete = [this]() -> Expected<bool> {
    return std::all_of(given.begin(), given.end(), [](const auto &text) { return bool(text); });
  };
  if (Error error = waitUntil({waitsForOthers, 0}, isComplete))
    return error;
  std::vector<std::string> all;
  std::string packed;
  for (std::optional<std::string> &text : given) {
    put(packed, text->size());
    packed += toAll ? *text : "";
    all.push_back(std::move(*text));
    text.reset();
  }
  tellOthers(collect, toAll ? packed : "");
  return all;
}

Error Ranks::agree(const Error &own) {
  auto all = exchange(own ? "!" + own.message() : "");
  if (!all)
    return all.error();
  for (const std::string &text : *all)
    if (!text.empty())
      return Error::make(text.substr(1));
  return Error::success();
}

Error Ranks::checkAlike(const std::string &file, const Facts &facts) {
  std::string packed;
  for (const auto &[what, value] : facts)
    for (const std::string &text : {what, value}) {
      put(packed, text.size());
      packed += text;
    }
  auto all = exchange(packed);
  if (!all)
    return all.error();
  for (uint32_t i = 1; i < size(); ++i) {
    Cursor first(all->front(), 0), other((*all)[i], 0);
    while (all->front() != (*all)[i]) {
      std::string what = first.part(), value = first.part();
      std::string otherWhat = other.part(), otherValue = other.part();
      if (what != otherWhat)
        return Error::make(file + ": processes have different settings: " + what + " in " +
                           names[0] + ", " + otherWhat + " in " + names[i]);
      if (value != otherValue)
        return Error::make(file + ": " + what + " is " + value + " in " + names[0] + ", and " +
                           otherValue + " in " + names[i]);
    }
  }
  return Error::success();
}

/// Handles messages until `isDone`, or until the time of Patience::ending is over.
bool Ranks::waitForEnd(const std::function<bool()> &isDone) {
  Clock::time_point last = Clock::now() + patience.ending;
  while (Clock::now() < last) {
    listen();
    if (isDone())
      return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

/// Handles messages until `isDone`, without a limit of time.
void Ranks::hearUntil(const std::function<bool()> &isDone) {
  for (listen(); !isDone(); listen())
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

bool Ranks::endStep(Error &error) {
  listen();
  if (!failure)
    failure = {1, error.message()};
  std::string text;
  put(text, uint64_t(failure->code));
  text += failure->text;
  if (isFirst()) {
    tellOthers(halt, text);
    hearUntil([this] { return isLeft || ended + 1 == size(); });
    if (!isLeft)
      tellOthers(goOn, "");
    mayGoOn = !isLeft;
    given.assign(size(), std::nullopt);
  } else {
    (void)bool(tell(0, halt, text));
    hearUntil([this] { return isOver || mayGoOn; });
  }
  error = failed();
  if (mayGoOn) {
    failure.reset();
    asked.reset();
  }
  return mayGoOn;
}

Ranks::Ending Ranks::finish(const Error &own, int code) {
  Error error = own;
  if (!error)
    if (auto all = exchange(""); !all)
      error = all.error();
  if (!error)
    return {0, std::nullopt};
  if (code == 0)
    code = 1;
  listen();
  if (isFirst()) {
    if (!failure)
      failure = {code, error.message()};
    return {failure->code, failure->text};
  }
  if (isOver)
    return {failure->code, std::nullopt};
  std::string text;
  put(text, uint64_t(code));
  (void)bool(tell(0, failing, text + error.message()));
  if (waitForEnd([this] { return isOver; }))
    return {failure->code, std::nullopt};
  return {code, error.message()};
}

void Ranks::leave(const Ending &ending) {
  if (ending.code == 0)
    return wire->leave(0);
  bool areThere = isOver;
  if (isFirst()) {
    std::string text;
    put(text, uint64_t(ending.code));
    tellOthers(end, text + ending.error.value_or(""));
    areThere = waitForEnd([this] { return goodbyes + 1 == size(); });
  } else if (isOver) {
    (void)bool(tell(0, goodbye));
  }
  if (!areThere)
    wire->abort(ending.code);
  wire->leave(ending.code);
}
