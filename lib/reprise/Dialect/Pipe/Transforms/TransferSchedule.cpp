// reprise: order of sends, receives and waits between the pieces of device programs
#include "TransferSchedule.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Support/Rendezvous.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

static constexpr int64_t kBeforeClass = 0, kAfterClass = 1, kPassClass = 2, kEarlyClass = 3,
                         kPulledClass = 4, kStartClass = 5;

TransferSchedule::TransferSchedule(ArrayRef<SmallVector<PieceOp>> pieces,
                                   std::vector<Message> given)
    : devices(pieces.size()), messages(std::move(given)) {
  for (auto [own, device] : llvm::zip(pieces, devices)) {
    device.turns.push_back({kBeforeClass, 0, 0});
    for (PieceOp piece : own) {
      device.turns.push_back(classify(piece));
      if (piece->hasAttr(kMicrobatchAttr))
        device.passes = device.turns.size();
    }
    device.turns.push_back({kAfterClass, 0, 0});
    device.sent.resize(device.turns.size());
    device.begun.resize(device.turns.size());
    device.read.resize(device.turns.size());
  }
  orderMessages();
  findWindows();
}

TransferSchedule::Class TransferSchedule::classify(PieceOp piece) {
  if (!piece.isPass() && piece.getSegment())
    return {kEarlyClass, 0, static_cast<int64_t>(piece.getStage())};
  if (!piece.isPass())
    return {piece.getKind() == PieceKind::Before ? kBeforeClass : kAfterClass, 0, 0};
  bool isWeight = piece.getKind() == PieceKind::Weight;
  return {kPassClass, 2 * piece.getSweep() + isWeight, static_cast<int64_t>(piece.getStage())};
}

void TransferSchedule::orderMessages() {
  std::map<std::tuple<size_t, size_t, Channel>, size_t> latest;
  std::vector<size_t> begun(messages.size());
  channels.resize(messages.size());
  for (size_t i = messages.size(); i-- > 0;) {
    const Message &message = messages[i];
    channels[i] = {devices[message.from].turns[message.made],
                   devices[message.to].turns[message.read]};
    if (message.isPulled)
      channels[i].second = {kPulledClass, static_cast<int64_t>(i), 0};
    else if (message.made == 0 && message.read == 1 && channels[i].second[0] == kAfterClass)
      channels[i].second = {kStartClass, 0, 0};
    size_t begin = message.read - (message.read > 0 && !message.isPulled);
    auto [found, isNew] = latest.try_emplace({message.from, message.to, channels[i]}, begin);
    begun[i] = found->second = std::min(found->second, begin);
  }
  for (auto [i, message] : llvm::enumerate(messages)) {
    devices[message.from].sent[message.made].push_back(i);
    devices[message.to].begun[begun[i]].push_back(i);
    devices[message.to].read[message.read].push_back(i);
    std::map<Channel, int64_t> &own = tags[{message.from, message.to}];
    own.try_emplace(channels[i], own.size());
  }
}

int64_t TransferSchedule::tagOf(size_t message) const {
  return tags.at({messages[message].from, messages[message].to}).at(channels[message]);
}

namespace {

/// Sends whose events no command has waited for yet, by receiver and channel, turn by turn.
template <typename Channel> class OpenSends {
public:
  using Key = std::pair<size_t, Channel>;

  std::vector<std::vector<size_t>> &of(const Key &key) { return open[key]; }
  void add(std::map<Key, std::vector<size_t>> sent) {
    for (auto &[key, list] : sent)
      open[key].push_back(std::move(list));
  }
  std::vector<size_t> take(function_ref<bool(const Channel &)> isMeant) {
    std::vector<size_t> taken;
    for (auto &[key, turns] : open) {
      if (!isMeant(key.second))
        continue;
      for (ArrayRef<size_t> sends : turns)
        llvm::append_range(taken, sends);
      turns.clear();
    }
    return taken;
  }

private:
  std::map<Key, std::vector<std::vector<size_t>>> open;
};

} // namespace

std::vector<TransferSchedule::Step> TransferSchedule::listSteps(size_t number) const {
  const Device &device = devices[number];
  std::vector<Step> steps;
  auto add = [&](Step::Kind kind, ArrayRef<size_t> list) {
    for (size_t each : list)
      steps.push_back({kind, each});
  };
  OpenSends<Channel> open;
  bool isBehind = false;
  for (size_t turn = 0; turn < device.turns.size(); ++turn) {
    if (!isBehind && device.turns[turn][0] == kAfterClass && turn >= device.passes) {
      // Parameters that were sent may be written from here on.
      add(Step::Wait,
          open.take([](const Channel &channel) { return channel.second[0] != kAfterClass; }));
      isBehind = true;
    }
    add(Step::Begin, device.begun[turn]);
    add(Step::Wait, device.read[turn]);
    if (turn == 1) // numbers that were sent may be written from here on
      add(Step::Wait,
          open.take([](const Channel &channel) { return channel.second[0] == kStartClass; }));
    steps.push_back({Step::Run, turn});
    std::map<std::pair<size_t, Channel>, std::vector<size_t>> sent;
    for (size_t i : device.sent[turn]) {
      std::pair<size_t, Channel> key{messages[i].to, channels[i]};
      auto &before = open.of(key);
      if (mustWait(i, before.size()) && !sent.count(key)) {
        add(Step::Wait, before.front());
        before.erase(before.begin());
      }
      steps.push_back({Step::Begin, i});
      sent[key].push_back(i);
    }
    open.add(std::move(sent));
  }
  add(Step::Wait, open.take([](const Channel &) { return true; }));
  return steps;
}

/// Returns the turns that may have values in flight: as many as one stage is ahead of the other.
static size_t findWindow(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  bool isBetweenPasses = from[0] == kPassClass && to[0] == kPassClass;
  return 1 + std::max<size_t>(1, isBetweenPasses ? std::abs(from[2] - to[2]) : 0);
}

void TransferSchedule::findWindows() {
  for (auto [i, message] : llvm::enumerate(messages))
    windows[{message.from, message.to, channels[i]}] =
        findWindow(channels[i].first, channels[i].second);
  // Each round allows more values in flight; if all values may be in flight, no program waits.
  while (std::optional<std::vector<size_t>> waiting = findWaitingSends()) {
    bool hasGrown = false;
    for (size_t i : *waiting) {
      size_t &window = windows[{messages[i].from, messages[i].to, channels[i]}];
      hasGrown |= window < messages.size();
      window *= 2;
    }
    if (!hasGrown)
      return; // the verifier names the circle
  }
}

/// Returns the sends of a deadlock; none if all programs end.
std::optional<std::vector<size_t>> TransferSchedule::findWaitingSends() const {
  Rendezvous meeting(devices.size());
  for (size_t number = 0; number < devices.size(); ++number) {
    DenseMap<size_t, size_t> begun;
    for (const Step &step : listSteps(number)) {
      if (step.kind == Step::Run)
        continue;
      if (step.kind == Step::Wait) {
        meeting.wait(number, begun.lookup(step.number));
        continue;
      }
      const Message &message = messages[step.number];
      bool isSend = message.from == number;
      begun[step.number] =
          meeting.begin(number, step.number, isSend, isSend ? message.to : message.from,
                        static_cast<uint32_t>(tagOf(step.number)), 1);
    }
  }
  std::optional<Rendezvous::Finding> finding = meeting.check();
  if (!finding || finding->fault != Rendezvous::Fault::Deadlock)
    return std::nullopt;
  std::vector<size_t> waiting;
  for (Rendezvous::Transfer transfer : finding->transfers)
    if (messages[transfer.name].from == transfer.program)
      waiting.push_back(transfer.name);
  return waiting;
}

/// Returns whether a message from pass to pass, between ops behind all passes, or to ops behind
/// segments must wait while values of `pending` turns are in flight.
bool TransferSchedule::mustWait(size_t message, size_t pending) const {
  const auto &[from, to] = channels[message];
  bool isBounded = (from[0] == to[0] && from[0] != kBeforeClass) ||
                   (from[0] == kPassClass && to[0] == kEarlyClass);
  return isBounded &&
         pending >= windows.at({messages[message].from, messages[message].to, channels[message]});
}
