// reprise: construction of the programs of a pipeline's devices
#include "DevicePrograms.h"

#include "TransferKinds.h"

#include "mlir/Transforms/RegionUtils.h"
#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Dialect/Reprise/IR/PlanAttributes.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::pipe;

DevicePrograms::DevicePrograms(ProgramOp step, const pipeline::Shape &shape,
                               std::vector<std::vector<PieceOp>> given,
                               std::optional<Label> gathers)
    : step(step), signature(step), shape(shape), pieces(std::move(given)), gathers(gathers),
      devices(pieces.size()), builder(step.getContext()) {
  for (ArrayRef<PieceOp> own : pieces)
    for (auto [number, piece] : llvm::enumerate(own))
      positions[piece] = number;
}

LogicalResult DevicePrograms::build() {
  findReturned();
  if (failed(findMessages()))
    return failure();
  numberMessages();
  builder.setInsertionPointAfter(step);
  for (size_t device = 0; device < devices.size(); ++device)
    buildProgram(device);
  return success();
}

std::optional<size_t> DevicePrograms::homeOf(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  auto stage = step.getArgAttrOfType<IntegerAttr>(number, kHomeAttr);
  auto replica = step.getArgAttrOfType<IntegerAttr>(number, kReplicaAttr);
  return stage ? std::optional(deviceOf(replica ? replica.getInt() : 0, stage.getInt()))
               : std::nullopt;
}

/// Finds the devices that return results: a next value is returned on the device of its argument,
/// any other result where it is computed.
void DevicePrograms::findReturned() {
  auto ends = step.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(ends->getOperands())) {
    int64_t replaced = signature.getReplacedArguments()[number];
    auto owner = dyn_cast<BlockArgument>(value);
    if (replaced >= 0)
      owner = step.getArgument(replaced);
    std::optional<size_t> device = owner ? homeOf(owner) : std::nullopt;
    if (auto piece = value.getDefiningOp<PieceOp>(); piece && !device)
      device = deviceOf(piece);
    devices[device.value_or(0)].returned.push_back(number);
  }
}

LogicalResult DevicePrograms::findMessages() {
  Operation *ends = step.getBody().front().getTerminator();
  for (size_t device = 0; device < devices.size(); ++device) {
    for (auto [number, piece] : llvm::enumerate(pieces[device])) {
      llvm::SetVector<Value> read;
      getUsedValuesDefinedAbove(piece->getRegions(), read);
      for (Value value : read)
        if (failed(need(value, device, number)))
          return failure();
    }
    for (size_t result : devices[device].returned)
      if (failed(need(ends->getOperand(result), device, pieces[device].size())))
        return failure();
  }
  return success();
}

/// Returns the backward pass for which an op of no device joins parts; -1 for any other op.
int64_t DevicePrograms::findJoinPass(Operation *op) const {
  auto order = op->getAttrOfType<IntegerAttr>(kOrderAttr);
  return order && isa<ConcatenateOp>(op) && gathers != Label::prefer_save ? order.getInt() : -1;
}

/// Piece `reader` of a device reads a value, or joins it with others for a pass.
LogicalResult DevicePrograms::need(Value value, size_t device, size_t reader, int64_t pass) {
  std::optional<size_t> maker;
  std::optional<int64_t> puller =
      reader < pieces[device].size() ? getPuller(pieces[device][reader]) : std::nullopt;
  if (puller && isOfReplica(value)) {
    needPull({value, *puller}, device, reader);
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    maker = homeOf(argument);
  } else if (auto piece = value.getDefiningOp<PieceOp>()) {
    maker = deviceOf(piece);
    if (maker == device && positions.lookup(piece) >= reader)
      return piece.emitOpError("is read before the schedule runs it");
  } else if (devices[device].needed.insert(value).second) {
    // A value of no device is cloned, so later readers need no message.
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      if (failed(need(operand, device, reader, findJoinPass(op))))
        return failure();
  }
  if (!maker || maker == device)
    return success();
  auto [found, isNew] = readers[value].try_emplace({device, pass}, reader);
  // Updates between the ops of passes run early if they know their numbers, such as rates.
  bool isOfPasses = !pieces[device].empty() && pieces[device].front().isPass();
  auto type = cast<RankedTensorType>(value.getType());
  reader = isa<BlockArgument>(value) && type.getRank() == 0 && !isOfPasses ? 0 : reader;
  found->second = std::min(found->second, reader);
  return success();
}

/// Piece `reader` of a device reads an argument of a replica, or a value of no device that ops
/// compute from such arguments.
void DevicePrograms::needPull(Pull pull, size_t device, size_t reader) {
  auto argument = dyn_cast<BlockArgument>(pull.first);
  if (argument ? homeOf(argument) == device : !isOfReplica(pull.first))
    return;
  if (!devices[device].pulls.try_emplace(pull, 0).second)
    return;
  if (argument)
    return pullers[argument].push_back({device, pull.second});
  for (Value operand : pull.first.getDefiningOp()->getOperands())
    if (isOfReplica(operand))
      needPull({operand, pull.second}, device, reader);
    else
      (void)need(operand, device, reader);
}

/// Returns true for an argument that lives on one replica, and for a value of no device that is
/// computed from such arguments.
bool DevicePrograms::isOfReplica(Value value) {
  if (auto known = ofReplica.find(value); known != ofReplica.end())
    return known->second;
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = value.getDefiningOp();
  bool isOf = argument ? step.getArgAttr(argument.getArgNumber(), kReplicaAttr) != nullptr
                       : !isa<PieceOp>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
                           return isOfReplica(operand);
                         });
  return ofReplica[value] = isOf;
}

std::optional<int64_t> DevicePrograms::getPuller(PieceOp piece) const {
  auto microbatch = piece->getAttrOfType<IntegerAttr>(kMicrobatchAttr); // of an op of a part
  if (!piece.isPass() && !microbatch)
    return std::nullopt;
  if (gathers != Label::prefer_recompute)
    return -1;
  return microbatch ? microbatch.getInt() : static_cast<int64_t>(*piece.getMicrobatch());
}

/// Sends a value again to a later pass of a device, which does not keep it: behind the pieces of
/// the sender that stand before the reader. Returns false for the first receipt.
bool DevicePrograms::sendAgain(Value value, size_t to, size_t reader) {
  auto maker = value.getDefiningOp<PieceOp>();
  size_t first = reader;
  for (auto [receiver, other] : readers[value])
    if (receiver.first == to)
      first = std::min(first, other);
  bool isInText = maker && !maker.isPass() && reader < pieces[to].size() &&
                  !pieces[to][reader].isPass(); // pieces in the order of the step
  if (first == reader || !isInText)
    return false;
  ArrayRef<PieceOp> own = pieces[deviceOf(maker)];
  PieceOp read = pieces[to][reader];
  auto behind = llvm::partition_point(
      own, [&](PieceOp piece) { return piece->isBeforeInBlock(read.getOperation()); });
  devices[to].received[reader].push_back(messages.size());
  devices[deviceOf(maker)].sentAgain[behind - own.begin()].push_back(messages.size());
  messages.push_back({value, to, read});
  return true;
}

void DevicePrograms::numberMessages() {
  auto has = [&](ArrayRef<size_t> received, Value value) {
    return llvm::any_of(received, [&](size_t message) { return messages[message].value == value; });
  };
  auto add = [&](Value value) {
    auto send = [&](size_t to, size_t reader) {
      messagesOf[value].push_back(messages.size());
      messages.push_back({value, to});
      if (reader < pieces[to].size())
        messages.back().reader = pieces[to][reader];
      return messages.size() - 1;
    };
    if (auto found = readers.find(value); found != readers.end())
      for (auto [receiver, reader] : found->second)
        if (std::vector<size_t> &received = devices[receiver.first].received[reader];
            !sendAgain(value, receiver.first, reader) && !has(received, value))
          received.push_back(send(receiver.first, reader));
    for (auto [to, microbatch] : pullers.lookup(value))
      devices[to].pulls[{value, microbatch}] = send(to, INT64_MAX);
  };
  for (size_t device = 0; device < devices.size(); ++device) {
    for (BlockArgument argument : step.getArguments())
      if (homeOf(argument) == device)
        add(argument);
    for (PieceOp piece : pieces[device])
      for (Value result : piece.getResults())
        add(result);
  }
}

void DevicePrograms::buildProgram(size_t number) {
  Device &device = devices[number];
  createFunction(number);
  for (BlockArgument argument : step.getArguments())
    if (homeOf(argument) == number)
      send(argument, device);
  for (auto [reader, piece] : llvm::enumerate(pieces[number])) {
    for (size_t message : device.sentAgain[reader])
      send(message, device);
    receive(reader, device);
    run(piece, device);
    for (Value result : piece.getResults())
      send(result, device);
  }
  for (size_t message : device.sentAgain[pieces[number].size()])
    send(message, device);
  receive(pieces[number].size(), device);
  finish(number);
}

std::string DevicePrograms::nameOf(size_t device) const {
  ProgramOp named = step;
  return (named.getName() + "_" + Twine(device)).str();
}

/// Returns the attributes of all arguments; set one at a time, they cost quadratic time.
ArrayRef<DictionaryAttr> DevicePrograms::describeArguments() {
  for (size_t i = arguments.size(); i < step.getNumArguments(); ++i) {
    NamedAttrList list(step.getArgAttrDict(i));
    list.erase(kHomeAttr);
    list.erase(kReplicaAttr);
    list.set(EntrySignature::kPosition, builder.getI64IntegerAttr(static_cast<int64_t>(i)));
    arguments.push_back(list.getDictionary(step.getContext()));
  }
  return arguments;
}

void DevicePrograms::createFunction(size_t number) {
  Device &device = devices[number];
  SmallVector<Type> results;
  for (size_t result : device.returned)
    results.push_back(step.getResultTypes()[result]);
  OpBuilder::InsertPoint point = builder.saveInsertionPoint();
  device.program = ProgramOp::create(builder, step.getLoc(), nameOf(number),
                                     builder.getFunctionType(step.getArgumentTypes(), results),
                                     static_cast<int64_t>(number));
  device.program->setDiscardableAttrs(step->getDiscardableAttrDictionary());
  device.program->setAttr(kEntryAttr, builder.getStringAttr(step.getName()));
  Block *block = device.program.addEntryBlock();
  device.program.setAllArgAttrs(describeArguments());
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    block->getArgument(i).setLoc(argument.getLoc());
    if (homeOf(argument).value_or(number) == number)
      device.known.map(argument, block->getArgument(i));
  }
  SmallVector<DictionaryAttr> described;
  for (size_t result : device.returned) {
    NamedAttrList list(step.getResultAttrDict(result));
    list.set(EntrySignature::kPosition, builder.getI64IntegerAttr(static_cast<int64_t>(result)));
    described.push_back(list.getDictionary(step.getContext()));
  }
  device.program.setAllResultAttrs(described);
  builder.restoreInsertionPoint(point);
  builder.setInsertionPointToEnd(block);
}

static Location getMadeLoc(Value value) {
  auto piece = value.getDefiningOp<PieceOp>();
  return piece ? piece.getLocOf(cast<OpResult>(value)) : value.getLoc();
}

void DevicePrograms::send(Value value, Device &device) {
  for (size_t number : messagesOf.lookup(value))
    send(number, device);
}

void DevicePrograms::send(size_t message, Device &device) {
  auto [value, to, reader] = messages[message];
  auto made =
      SendOp::create(builder, getMadeLoc(value), device.known.lookup(value), message, nameOf(to));
  size_t ranks = shape.ranks, from = &device - devices.data();
  if (devices.size() > ranks) // stages alone send plain values
    made->setAttr(
        kTransferAttr,
        findTransfer(step, value, reader, from / ranks != to / ranks).write(step.getContext()));
}

void DevicePrograms::receive(size_t reader, Device &device) {
  auto found = device.received.find(reader);
  if (found == device.received.end())
    return;
  for (size_t number : found->second) {
    Value value = messages[number].value;
    auto piece = value.getDefiningOp<PieceOp>();
    size_t from = piece ? deviceOf(piece) : *homeOf(cast<BlockArgument>(value));
    auto received =
        ReceiveOp::create(builder, getMadeLoc(value), value.getType(), number, nameOf(from));
    device.known.map(value, received.getValue());
  }
}

/// Returns the first op of a piece that reads a value, itself or in a body.
static Operation *findReader(PieceOp piece, Value value) {
  Operation *first = nullptr;
  for (Operation *user : value.getUsers())
    if (Operation *at = piece.getBody().front().findAncestorOpInBlock(*user);
        at && (!first || at->isBeforeInBlock(first)))
      first = at;
  return first;
}

void DevicePrograms::run(PieceOp piece, Device &device) {
  llvm::SetVector<Value> read;
  getUsedValuesDefinedAbove(piece->getRegions(), read);
  std::optional<int64_t> puller = getPuller(piece);
  SmallVector<Value> pulled;
  for (Value value : read)
    if (puller && device.pulls.contains({value, *puller})) {
      device.known.map(value, pull({value, *puller}, device, findReader(piece, value)));
      pulled.push_back(value);
    } else {
      get(value, device);
    }
  builder.clone(*piece, device.known);
  for (Value value : pulled)
    device.known.erase(value);
}

/// Returns a value that a device pulls. Marks are those of the first reader.
Value DevicePrograms::pull(Pull pull, Device &device, Operation *reader) {
  auto found = device.pulls.find(pull);
  if (found == device.pulls.end())
    return get(pull.first, device);
  if (Value known = device.pulled.lookup(pull))
    return known;
  Operation *made;
  if (auto argument = dyn_cast<BlockArgument>(pull.first)) {
    made = PullOp::create(builder, argument.getLoc(), argument.getType(), nameOf(*homeOf(argument)),
                          found->second);
  } else {
    IRMapping operands;
    for (Value operand : pull.first.getDefiningOp()->getOperands())
      operands.map(operand, this->pull({operand, pull.second}, device, reader));
    made = builder.clone(*pull.first.getDefiningOp(), operands);
  }
  mark(made, reader);
  auto result = dyn_cast<OpResult>(pull.first);
  return device.pulled[pull] = made->getResult(result ? result.getResultNumber() : 0);
}

/// Makes an op for a pass a part of the pass, so that plans choose whether to replay it.
void DevicePrograms::mark(Operation *op, Operation *reader) const {
  if (!reader->hasAttr(kPrimalAttr))
    return;
  for (StringRef name : {StringRef(kPrimalAttr), StringRef(kBlockAttr)})
    if (Attribute attribute = reader->getDiscardableAttr(name))
      op->setDiscardableAttr(name, attribute);
  if (!gathers)
    return;
  op->setDiscardableAttr(kLabelAttr, LabelAttr::get(op->getContext(), *gathers));
  op->setDiscardableAttr(kRuleAttr, StringAttr::get(op->getContext(), "--gathers"));
}

/// Returns the value in a device's program, which has one clone of each value of no device.
Value DevicePrograms::get(Value value, Device &device) {
  if (Value known = device.known.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    get(operand, device);
  builder.clone(*op, device.known);
  return device.known.lookup(value);
}

/// Returns the results, and leaves the arguments that the program reads or owns.
void DevicePrograms::finish(size_t number) {
  Device &device = devices[number];
  Operation *ends = step.getBody().front().getTerminator();
  SmallVector<Value> results;
  for (size_t result : device.returned)
    results.push_back(get(ends->getOperand(result), device));
  ReturnOp::create(builder, ends->getLoc(), results);
  llvm::BitVector unused(step.getNumArguments());
  for (BlockArgument argument : step.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::optional<size_t> home = homeOf(argument);
    // Each reader of rows of an input has its own argument for them.
    bool isFirst = number == 0 && (!signature.getArgumentRows(i) || argument.use_empty());
    bool isOwn = home ? *home == number : signature.getRole(i) == "seed" || isFirst;
    if (!isOwn && device.program.getArgument(i).use_empty())
      unused.set(i);
  }
  (void)device.program.eraseArguments(unused);
  builder.setInsertionPointAfter(device.program);
}
