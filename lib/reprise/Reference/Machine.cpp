// reprise: execution of one program, op by op.
#include "Machine.h"

#include "reprise/Dialect/Reprise/IR/DeviceProgram.h"
#include "reprise/Reference/Interpreter.h"
#include "reprise/Reference/Reference.h"

using namespace mlir;

namespace reprise {

//===-- Values --------------------------------------------------------------------------------===//

void Frame::define(Value value, Tensor tensor) {
  int64_t uses = std::distance(value.use_begin(), value.use_end());
  if (uses != 0)
    slots[value] = {std::move(tensor), uses};
}

void Frame::define(ValueRange values, std::vector<Tensor> tensors) {
  for (auto [value, tensor] : llvm::zip(values, tensors))
    define(value, std::move(tensor));
}

Tensor Frame::use(Value value) {
  auto slot = slots.find(value);
  if (--slot->second.uses != 0)
    return slot->second.tensor;
  Tensor tensor = std::move(slot->second.tensor);
  slots.erase(slot);
  return tensor;
}

std::vector<Tensor> Frame::useAll(ValueRange values) {
  std::vector<Tensor> tensors;
  for (Value value : values)
    tensors.push_back(use(value));
  return tensors;
}

void Frame::multiplyUses(Region &region, int64_t factor) {
  region.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentRegion()->isProperAncestor(&region))
        slots.find(operand)->second.uses += factor - 1;
  });
}

void Frame::release(Value value) {
  auto slot = slots.find(value);
  if (--slot->second.uses == 0)
    slots.erase(slot);
}

//===-- Transfers -----------------------------------------------------------------------------===//

void Mailboxes::send(int64_t from, TransferOpInterface op, std::vector<Tensor> values) {
  Box &box = boxes[{from, op.getPeer(), op.getKey()}];
  box.messages[box.numSent++] = {op, std::move(values)};
}

int64_t Mailboxes::begin(int64_t to, TransferOpInterface op) {
  return boxes[{op.getPeer(), to, op.getKey()}].numBegun++;
}

Operation *Mailboxes::take(int64_t to, TransferOpInterface op, int64_t number,
                           std::vector<Tensor> &values) {
  Box &box = boxes[{op.getPeer(), to, op.getKey()}];
  auto message = box.messages.find(number);
  if (message == box.messages.end())
    return nullptr;
  Operation *sender = message->second.sender;
  values = std::move(message->second.values);
  box.messages.erase(message);
  return sender;
}

Operation *Mailboxes::findLeft() const {
  for (const auto &[key, box] : boxes)
    if (!box.messages.empty())
      return box.messages.begin()->second.sender;
  return nullptr;
}

FailureOr<bool> Machine::exchange(TransferOpInterface op) {
  std::optional<int64_t> device = findOnlyDevice(program);
  if (!device)
    return op->emitOpError(
        "cannot be interpreted: the function around the op is no device program");
  if (op.isSend()) {
    mail.send(*device, op, stack.back().frame->useAll(op.getValues()));
    return true;
  }
  if (!begun.contains(op))
    begun[op] = mail.begin(*device, op);
  return op.endsLater() ? true : receive(op);
}

/// Receives the values of a receive that has begun; returns false if they have not arrived.
FailureOr<bool> Machine::receive(TransferOpInterface op) {
  std::vector<Tensor> values;
  Operation *sender = mail.take(*findOnlyDevice(program), op, begun.lookup(op), values);
  if (!sender)
    return false;
  begun.erase(op);
  SmallVector<Value> received = op.getValues();
  auto typeOf = [](const Tensor &tensor) { return Type(tensor.type); };
  if (!llvm::equal(llvm::map_range(values, typeOf), ValueRange(received).getTypes())) {
    InFlightDiagnostic error = op->emitOpError("receives values of other types than its results");
    error.attachNote(sender->getLoc()) << "the values are sent here";
    return error;
  }
  stack.back().frame->define(received, std::move(values));
  return true;
}

//===-- Execution -----------------------------------------------------------------------------===//

Machine::Machine(FunctionOpInterface program, std::vector<Tensor> arguments, Mailboxes &mail)
    : program(program), mail(mail) {
  enterFunction(program, std::move(arguments), nullptr);
}

void Machine::enter(Block &block, std::shared_ptr<Frame> frame, Operation *op) {
  Activation &entered = stack.emplace_back();
  entered.block = &block;
  entered.next = block.begin();
  entered.frame = std::move(frame);
  entered.op = op;
}

void Machine::enterFunction(FunctionOpInterface function, std::vector<Tensor> arguments,
                            Operation *call) {
  running.insert(function);
  auto frame = std::make_shared<Frame>();
  frame->define(function.getArguments(), std::move(arguments));
  enter(function.front(), std::move(frame), call);
}

FailureOr<bool> Machine::run(int64_t most) {
  waiting = nullptr;
  bool hasMoved = false;
  for (; !stack.empty() && most > 0; hasMoved = true, --most) {
    Operation *op = &*stack.back().next;
    if (op == &stack.back().block->back()) {
      if (failed(leave(op)))
        return failure();
      continue;
    }
    FailureOr<bool> done = execute(op);
    if (failed(done))
      return failure();
    if (!*done) {
      auto event = dyn_cast<EventOpInterface>(op);
      waiting = event ? event.getEnded() : op;
      return hasMoved;
    }
  }
  return hasMoved;
}

FailureOr<bool> Machine::execute(Operation *op) {
  auto transfer = dyn_cast<TransferOpInterface>(op);
  auto event = dyn_cast<EventOpInterface>(op);
  if (transfer || event) {
    Operation *ended = event ? event.getEnded() : nullptr;
    bool isReceive = ended && begun.contains(ended);
    FailureOr<bool> done = transfer    ? exchange(transfer)
                           : isReceive ? receive(cast<TransferOpInterface>(ended))
                                       : FailureOr<bool>(true);
    if (succeeded(done) && *done)
      ++stack.back().next;
    return done;
  }
  ++stack.back().next; // before the stack grows
  LogicalResult done = success();
  if (isa<BlockOp, CheckpointOp>(op))
    enter(op->getRegion(0).front(), stack.back().frame, op);
  else if (auto loop = dyn_cast<LoopOp>(op))
    done = startLoop(loop);
  else if (auto call = dyn_cast<func::CallOp>(op))
    done = startCall(call);
  else if (auto launch = dyn_cast<exec::LaunchOp>(op))
    done = startLaunch(launch);
  else if (isa<ValueAndGradOp>(op))
    done = op->emitOpError("cannot be interpreted; run the autodiff phase first");
  else
    done = evaluate(op);
  if (failed(done))
    return failure();
  return true;
}

/// Gives the results of a block to the op that executed it.
LogicalResult Machine::leave(Operation *terminator) {
  if (!isa<func::ReturnOp, ReturnOp, YieldOp, exec::ReturnOp>(terminator))
    return terminator->emitOpError("cannot be interpreted");
  Activation &left = stack.back();
  std::vector<Tensor> values = left.frame->useAll(terminator->getOperands());
  Operation *op = left.op;
  if (auto loop = dyn_cast_or_null<LoopOp>(op)) {
    if (endIteration(left, loop, std::move(values)))
      return success();
    values = std::move(left.carried);
    llvm::append_range(values, std::move(left.stacks));
  }
  if (isa<func::ReturnOp, ReturnOp>(terminator))
    running.erase(terminator->getParentOp());
  stack.pop_back();
  if (op)
    stack.back().frame->define(op->getResults(), std::move(values));
  else
    results = std::move(values);
  return success();
}

LogicalResult Machine::evaluate(Operation *op) {
  auto reference = dyn_cast<ReferenceOpInterface>(op);
  if (!reference)
    return op->emitOpError("cannot be interpreted");
  auto random = dyn_cast<RandomOpInterface>(op);
  if (random && random.draws() && !random.getSeedOperand())
    return op->emitOpError("cannot be interpreted without a seed; run the random phase first");
  if (!fitsMemory(op->getResultTypes()))
    return op->emitOpError("cannot be interpreted: the results exceed this machine's memory");
  Frame &frame = *stack.back().frame;
  SmallVector<const Tensor *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&frame.get(operand));
  SmallVector<Tensor> computed = reference.evaluate(operands);
  for (Value operand : op->getOperands())
    frame.release(operand);
  frame.define(op->getResults(), {std::make_move_iterator(computed.begin()),
                                  std::make_move_iterator(computed.end())});
  return success();
}

LogicalResult Machine::startCall(func::CallOp call) {
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!function || function.isExternal())
    return call.emitOpError("expected a function with a body");
  if (running.contains(function))
    return call.emitOpError("cannot be interpreted: the call is recursive");
  enterFunction(function, stack.back().frame->useAll(call.getOperands()), call);
  return success();
}

/// Executes the ops of a launch, whatever its kernels are.
LogicalResult Machine::startLaunch(exec::LaunchOp launch) {
  if (launch.getStreams())
    return launch.emitOpError("cannot be interpreted: its ops name their streams by positions");
  Block &body = launch.getBody().front();
  auto frame = std::make_shared<Frame>();
  frame->define(body.getArguments(), stack.back().frame->useAll(launch.getInputs()));
  enter(body, std::move(frame), launch);
  return success();
}

//===-- Loops ---------------------------------------------------------------------------------===//

/// Row `row` of a stack.
static Tensor sliceRow(const Tensor &stack, int64_t row) {
  Tensor slice(stack.type.clone(stack.type.getShape().drop_front()));
  std::copy_n(stack.bytes.begin() + row * slice.bytes.size(), slice.bytes.size(),
              slice.bytes.begin());
  return slice;
}

static int64_t findRow(LoopOp loop, int64_t iteration) {
  return loop.getReverse() ? static_cast<int64_t>(loop.getTrip()) - 1 - iteration : iteration;
}

LogicalResult Machine::startLoop(LoopOp loop) {
  if (!fitsMemory(loop->getResultTypes()))
    return loop->emitOpError("cannot be interpreted: the results exceed this machine's memory");
  std::shared_ptr<Frame> frame = stack.back().frame;
  std::vector<Tensor> carried = frame->useAll(loop.getInits()), rows = frame->useAll(loop.getXs());
  std::vector<Tensor> stacks;
  for (Value made : loop.getStacks())
    stacks.emplace_back(cast<RankedTensorType>(made.getType()));
  frame->multiplyUses(loop.getBody(), loop.getTrip());
  if (loop.getTrip() == 0) {
    llvm::append_range(carried, std::move(stacks));
    frame->define(loop->getResults(), std::move(carried));
    return success();
  }
  enter(loop.getBlock(), std::move(frame), loop);
  stack.back().carried = std::move(carried);
  stack.back().stacks = std::move(stacks);
  stack.back().rows = std::move(rows);
  startIteration(stack.back(), loop);
  return success();
}

void Machine::startIteration(Activation &body, LoopOp loop) {
  body.next = body.block->begin();
  for (auto [argument, tensor] : llvm::zip(loop.getCarryArguments(), body.carried))
    body.frame->define(argument, std::move(tensor));
  for (auto [argument, rows] : llvm::zip(loop.getSliceArguments(), body.rows))
    body.frame->define(argument, sliceRow(rows, findRow(loop, body.iteration)));
}

/// Returns whether another iteration has begun.
bool Machine::endIteration(Activation &body, LoopOp loop, std::vector<Tensor> yielded) {
  size_t carries = body.carried.size();
  int64_t row = findRow(loop, body.iteration);
  for (auto [i, tensor] : llvm::enumerate(yielded)) {
    if (i < carries)
      body.carried[i] = std::move(tensor);
    else
      llvm::copy(tensor.bytes, body.stacks[i - carries].bytes.begin() + row * tensor.bytes.size());
  }
  if (++body.iteration == static_cast<int64_t>(loop.getTrip()))
    return false;
  startIteration(body, loop);
  return true;
}

} // namespace reprise
