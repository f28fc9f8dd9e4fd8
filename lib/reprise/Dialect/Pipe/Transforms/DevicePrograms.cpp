// reprise: builds the programs of a pipeline's devices
#include "DevicePrograms.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/Rendezvous.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

static constexpr int64_t kBeforeClass = 0, kAfterClass = 1, kFirstClass = 2;

DevicePrograms::DevicePrograms(func::FuncOp step, const Places &places,
                               const pipeline::Shape &shape, std::vector<std::vector<Turn>> given)
    : step(step), signature(step), places(places), shape(shape), turns(std::move(given)),
      devices(turns.size()), builder(step.getContext()) {
  for (auto [own, device] : llvm::zip(turns, devices)) {
    for (auto [number, turn] : llvm::enumerate(own))
      for (Operation *op : turn.ops)
        turnOf[op] = number;
    device.sent.resize(own.size());
    device.begun.resize(own.size());
    device.read.resize(own.size());
  }
}

LogicalResult DevicePrograms::build() {
  findReturned();
  if (failed(findMessages()))
    return failure();
  orderMessages();
  findWindows();
  builder.setInsertionPointAfter(step);
  for (size_t device = 0; device < devices.size(); ++device)
    buildProgram(device);
  return success();
}

/// A next value is returned where the old one is, any other result where it is made.
void DevicePrograms::findReturned() {
  auto ends = step.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(ends->getOperands())) {
    int64_t replaced = signature.getReplacedArguments()[number];
    auto owner = dyn_cast<BlockArgument>(value);
    if (replaced >= 0)
      owner = step.getArgument(replaced);
    size_t device = 0;
    if (owner && !places.isEverywhere(owner))
      device = homeOf(owner);
    else if (Operation *op = value.getDefiningOp())
      if (std::optional<Place> place = places.get(op))
        device = deviceOf(*place);
    devices[device].returned.push_back(number);
  }
}

LogicalResult DevicePrograms::findMessages() {
  for (size_t device = 0; device < devices.size(); ++device) {
    for (auto [number, turn] : llvm::enumerate(turns[device]))
      for (Operation *op : turn.ops)
        for (Value operand : op->getOperands())
          if (failed(need(operand, device, number)))
            return failure();
    for (size_t result : devices[device].returned)
      if (failed(need(step.getBody().front().getTerminator()->getOperand(result), device,
                      turns[device].size() - 1)))
        return failure();
  }
  return success();
}

/// Turn `turn` of a device reads a value.
LogicalResult DevicePrograms::need(Value value, size_t device, size_t turn) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!places.isEverywhere(argument) && homeOf(argument) != device)
      addMessage(value, homeOf(argument), 0, device, turn);
    return success();
  }
  Operation *op = value.getDefiningOp();
  std::optional<Place> place = places.get(op);
  if (!place) {
    for (Value operand : op->getOperands())
      if (failed(need(operand, device, turn)))
        return failure();
    return success();
  }
  size_t made = turnOf.lookup(op);
  if (deviceOf(*place) != device)
    addMessage(value, deviceOf(*place), made, device, turn);
  else if (made > turn)
    return op->emitError("the schedule runs an op before what it reads");
  return success();
}

void DevicePrograms::addMessage(Value value, size_t from, size_t made, size_t to, size_t read) {
  auto [found, isNew] = messageOf.try_emplace({value, to}, messages.size());
  if (!isNew) {
    Message &known = messages[found->second];
    known.read = std::min(known.read, read);
    return;
  }
  messages.push_back({value, from, to, made, read, 0, {}, {}, {}});
}

int64_t DevicePrograms::classify(const Place &place) const {
  if (place.kind != Place::Within)
    return place.kind == Place::Before ? kBeforeClass : kAfterClass;
  return kFirstClass + (2 * place.sweep + place.isWeight) * shape.stages() + place.stage;
}

/// Messages of a channel are received in the order in which they are sent.
void DevicePrograms::orderMessages() {
  DenseMap<Value, size_t> position;
  size_t next = 0;
  for (BlockArgument argument : step.getArguments())
    position[argument] = next++;
  for (Operation &op : step.getBody().front())
    for (Value result : op.getResults())
      position[result] = next++;
  llvm::sort(messages, [&](const Message &a, const Message &b) {
    return std::tuple(a.from, a.made, position[a.value], a.to) <
           std::tuple(b.from, b.made, position[b.value], b.to);
  });
  std::map<std::tuple<size_t, size_t, Channel>, size_t> latest;
  for (size_t i = messages.size(); i-- > 0;) {
    Message &message = messages[i];
    message.channel = {classify(turns[message.from][message.made].place),
                       classify(turns[message.to][message.read].place)};
    message.begun = message.read ? message.read - 1 : 0;
    auto [found, isNew] =
        latest.try_emplace({message.from, message.to, message.channel}, message.begun);
    message.begun = found->second = std::min(found->second, message.begun);
  }
  for (auto [i, message] : llvm::enumerate(messages)) {
    devices[message.from].sent[message.made].push_back(i);
    devices[message.to].begun[message.begun].push_back(i);
    devices[message.to].read[message.read].push_back(i);
    std::map<Channel, int64_t> &own = tags[{message.from, message.to}];
    own.try_emplace(message.channel, own.size());
  }
}

namespace {

/// Sends whose events nothing has waited for yet, by receiver and channel, turn by turn.
class OpenSends {
public:
  using Channel = std::pair<int64_t, int64_t>;
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

std::vector<DevicePrograms::Step> DevicePrograms::listSteps(size_t number) const {
  const Device &device = devices[number];
  std::vector<Step> steps;
  auto add = [&](Step::Kind kind, ArrayRef<size_t> list) {
    for (size_t each : list)
      steps.push_back({kind, each});
  };
  OpenSends open;
  bool isBehind = false;
  for (size_t turn = 0; turn < turns[number].size(); ++turn) {
    if (!isBehind && turns[number][turn].place.kind == Place::After) {
      // Parameters that were sent may be written from here on.
      add(Step::Wait,
          open.take([](const Channel &channel) { return channel.second != kAfterClass; }));
      isBehind = true;
    }
    add(Step::Begin, device.begun[turn]);
    add(Step::Wait, device.read[turn]);
    steps.push_back({Step::Run, turn});
    std::map<OpenSends::Key, std::vector<size_t>> sent;
    for (size_t i : device.sent[turn]) {
      OpenSends::Key key{messages[i].to, messages[i].channel};
      auto &before = open.of(key);
      if (mustWait(messages[i], before.size()) && !sent.count(key)) {
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

void DevicePrograms::findWindows() {
  for (const Message &message : messages)
    windows[{message.from, message.to, message.channel}] = 2;
  // Each round lets more values be on their way; with as many as there are nobody waits for one.
  while (std::optional<std::vector<size_t>> waiting = findWaitingSends()) {
    if (waiting->empty())
      return; // the verifier names the circle
    for (size_t i : *waiting)
      windows[{messages[i].from, messages[i].to, messages[i].channel}] *= 2;
  }
}

/// The sends that programs wait for for ever; none if all programs come to their ends.
std::optional<std::vector<size_t>> DevicePrograms::findWaitingSends() {
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
                        static_cast<uint32_t>(tagOf(message)), 1);
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

/// Whether a message from pass to pass waits, with values of so many turns on their way.
bool DevicePrograms::mustWait(const Message &message, size_t pending) const {
  const auto &[from, to] = message.channel;
  return from >= kFirstClass && to >= kFirstClass &&
         pending >= windows.at({message.from, message.to, message.channel});
}

void DevicePrograms::buildProgram(size_t number) {
  createFunction(number);
  for (const Step &each : listSteps(number)) {
    if (each.kind == Step::Run) {
      runTurn(number, each.number);
      continue;
    }
    Message &message = messages[each.number];
    bool isSend = message.from == number;
    if (each.kind == Step::Wait)
      exec::WaitOp::create(builder, message.value.getLoc(),
                           isSend ? message.sent : message.arrived);
    else if (isSend)
      beginSend(number, message);
    else
      beginReceive(number, message);
  }
  finish(number);
}

std::string DevicePrograms::nameOf(size_t device) const {
  func::FuncOp named = step;
  return (named.getName() + "_" + Twine(device)).str();
}

void DevicePrograms::createFunction(size_t number) {
  Device &device = devices[number];
  SmallVector<Type> results;
  for (size_t result : device.returned)
    results.push_back(step.getResultTypes()[result]);
  OpBuilder::InsertPoint point = builder.saveInsertionPoint();
  device.program = func::FuncOp::create(builder, step.getLoc(), nameOf(number),
                                        builder.getFunctionType(step.getArgumentTypes(), results));
  device.program->setDiscardableAttrs(step->getDiscardableAttrDictionary());
  device.program->setAttr(kEntryAttr, builder.getStringAttr(step.getName()));
  setDevice(device.program, static_cast<int64_t>(number));
  Block *block = device.program.addEntryBlock();
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    block->getArgument(i).setLoc(argument.getLoc());
    device.program.setArgAttrs(i, step.getArgAttrDict(i));
    device.program.setArgAttr(i, EntrySignature::kPosition, builder.getI64IntegerAttr(i));
    if (places.isEverywhere(argument) || homeOf(argument) == number)
      device.known.map(argument, block->getArgument(i));
  }
  for (auto [i, result] : llvm::enumerate(device.returned)) {
    device.program.setResultAttrs(i, step.getResultAttrDict(result));
    device.program.setResultAttr(i, EntrySignature::kPosition,
                                 builder.getI64IntegerAttr(static_cast<int64_t>(result)));
  }
  builder.restoreInsertionPoint(point);
  builder.setInsertionPointToEnd(block);
}

static void removeMarks(Operation *op) {
  for (StringRef name : {kStageAttr, kMicrobatchAttr, kBatchSumAttr})
    op->removeDiscardableAttr(name);
}

void DevicePrograms::beginReceive(size_t number, Message &message) {
  auto receive = exec::ReceiveOp::create(builder, message.value.getLoc(), message.value.getType(),
                                         exec::EventType::get(builder.getContext()),
                                         nameOf(message.from), tagOf(message), /*stream=*/0,
                                         /*arguments=*/nullptr, /*offsets=*/nullptr);
  devices[number].known.map(message.value, receive.getValue());
  message.arrived = receive.getEvent();
}

void DevicePrograms::beginSend(size_t number, Message &message) {
  auto send = exec::SendOp::create(
      builder, message.value.getLoc(), exec::EventType::get(builder.getContext()),
      get(message.value, devices[number]), nameOf(message.to), tagOf(message), /*stream=*/0);
  message.sent = send.getEvent();
}

void DevicePrograms::runTurn(size_t number, size_t turn) {
  Device &device = devices[number];
  for (Operation *op : turns[number][turn].ops) {
    for (Value operand : op->getOperands())
      get(operand, device);
    removeMarks(builder.clone(*op, device.known));
  }
}

/// What an op makes by itself wherever it is read is cloned once per program.
Value DevicePrograms::get(Value value, Device &device) {
  if (Value known = device.known.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    get(operand, device);
  Operation *clone = builder.clone(*op, device.known);
  removeMarks(clone);
  return device.known.lookup(value);
}

int64_t DevicePrograms::tagOf(const Message &message) {
  return tags[{message.from, message.to}].at(message.channel);
}

/// Returns the results, and leaves the arguments that the program reads or owns.
void DevicePrograms::finish(size_t number) {
  Device &device = devices[number];
  Operation *ends = step.getBody().front().getTerminator();
  SmallVector<Value> results;
  for (size_t result : device.returned)
    results.push_back(get(ends->getOperand(result), device));
  func::ReturnOp::create(builder, ends->getLoc(), results);
  llvm::BitVector unused(step.getNumArguments());
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    bool isOwn = !places.isEverywhere(argument) ? homeOf(argument) == number
                                                : signature.getRole(i) == "seed" || number == 0;
    if (!isOwn && device.program.getArgument(i).use_empty())
      unused.set(i);
  }
  (void)device.program.eraseArguments(unused);
  builder.setInsertionPointAfter(device.program);
}
