// reprise: a device program as launches of a GPU, and as captured graphs
#include "CudaProgram.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace reprise::runtime::cuda {

CudaImage::~CudaImage() {
  driver.setContext(context);
  for (auto &entry : modules)
    driver.unloadModule(entry.second);
}

/// Loads machine code. Returns null if the driver refuses it for this GPU: the driver then compiles
/// all texts, so that all code of a bundle comes from one compiler.
Expected<Module> CudaImage::loadCubin(const Kernel &kernel) const {
  std::optional<size_t> begin = findCubin(bytes, kernel.imageOffset, code);
  if (!begin)
    return Error::make("kernel '" + kernel.name + "' lacks machine code for " + code.chip);
  Module module = nullptr;
  Status status = driver.loadModule(&module, bytes.data() + *begin, 0, nullptr, nullptr);
  if (status == 0)
    return module;
  Error error = driver.check(status, "load machine code for " + code.chip);
  if (status != invalidImage && status != noBinaryForGpu)
    return error;
  takesCubins = false;
  note = error.message() + ": the driver compiles the PTX beside it";
  return Module(nullptr);
}

Expected<Module> CudaImage::load(const Kernel &kernel) const {
  auto found = modules.find(kernel.imageOffset);
  if (found != modules.end())
    return found->second;
  Expected<Module> module = takesCubins ? loadCubin(kernel) : Module(nullptr);
  if (module && !*module)
    module = loadText(kernel);
  if (module)
    modules[kernel.imageOffset] = *module;
  return module;
}

/// Loads a text, which the driver compiles; its log is the error.
Expected<Module> CudaImage::loadText(const Kernel &kernel) const {
  char log[1024] = "";
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  Module module = nullptr;
  std::optional<size_t> begin = findText(bytes, kernel.imageOffset, code.number);
  if (!begin)
    return Error::make("kernel '" + kernel.name + "' lacks code for this GPU");
  Status status = driver.loadModule(&module, bytes.data() + *begin, 2, options, values);
  if (Error error = driver.check(status, "load kernel '" + kernel.name + "'"))
    return Error::make(error.message() + (*log ? std::string(": ") + log : ""));
  return module;
}

Expected<Function> CudaImage::find(const Kernel &kernel) const {
  if (auto known = functions.find(&kernel); known != functions.end())
    return known->second;
  Expected<Module> module = load(kernel);
  if (!module)
    return module.error();
  Function function = nullptr;
  std::string name = choose(kernel).name;
  if (Error error = driver.check(driver.getFunction(&function, *module, name.c_str()),
                                 "find kernel '" + name + "'"))
    return error;
  // A lazy driver loads a kernel at its first query or launch, and may then wait for the device,
  // where a transfer may wait for a peer. So we query each kernel now.
  int registers = 0;
  if (Error error =
          driver.check(driver.getFunctionAttribute(&registers, functionRegisters, function),
                       "load kernel '" + kernel.name + "'"))
    return error;
  functions[&kernel] = function;
  return function;
}

CudaProgram::~CudaProgram() {
  driver.setContext(context);
  for (const Segment &segment : segments)
    if (segment.graph)
      driver.destroyGraphExec(segment.graph);
}

Error CudaProgram::fill(const Device::ProgramPlaces &places) {
  endpoint = places.endpoint;
  Error failure = Error::success();
  forEachExecution(places.program, [&](uint32_t number, const std::vector<int64_t> &iterations) {
    if (!failure)
      failure = add(places, number, iterations);
  });
  // Addresses do not move from here on.
  for (Address &address : addresses)
    parameters.push_back(&address);
  makeSegments();
  return failure ? failure : openTransfers();
}

Error CudaProgram::add(const Device::ProgramPlaces &places, uint32_t number,
                       const std::vector<int64_t> &iterations) {
  const Command &command = places.program.commands[number];
  Item item{nullptr, 0, 0, addresses.size(), 0, &command.label};
  for (const Operand &operand : command.operands)
    addresses.push_back(reinterpret_cast<Address>(places.addresses.of(operand, iterations)));
  bool isSkipped = !places.skips.empty() && places.skips[number];
  Error error = Error::success();
  if (isHostMove(command.kind))
    error = addHostMove(command, item);
  else if (command.kind == CommandKind::Wait && hostMoves.has(command.event))
    item.hostEvent = command.event;
  else if (isTransfer(command.kind) || command.kind == CommandKind::Wait)
    error = addExchange(places, command, item);
  else if (!isSkipped && isHostCall(command))
    item.hostCall = &hostCalls.try_emplace(number, command, device).first->second;
  else if (!isSkipped && command.kind == CommandKind::Call)
    error = addCall(command, item);
  else if (!isSkipped && command.kind == CommandKind::Copy)
    item.bytes = command.operands[0].buffer.bytes;
  else if (!isSkipped && command.kind == CommandKind::Kernel && command.items > 0)
    error = addLaunch(places, command, item);
  item.last = addresses.size();
  items.push_back(item);
  return error;
}

Error CudaProgram::addLaunch(const Device::ProgramPlaces &places, const Command &command,
                             Item &item) const {
  const Kernel &kernel = places.bundle.kernels[command.kernel];
  const auto &image = static_cast<const CudaImage &>(places.image);
  Expected<Function> function = image.find(kernel);
  if (!function)
    return function.error();
  ChipKernel own = image.choose(kernel);
  item.function = *function;
  item.threads = own.blockThreads;
  uint64_t threads = uint64_t(command.items) * own.itemThreads;
  uint64_t blocks = (threads + own.blockThreads - 1) / own.blockThreads;
  constexpr uint64_t mostBlocks = 0x7fffffff;
  if (blocks > mostBlocks)
    return Error::make("kernel '" + kernel.name + "' needs " + std::to_string(blocks) +
                       " blocks, more than a launch has");
  item.blocks = unsigned(blocks);
  return Error::success();
}

Error CudaProgram::addCall(const Command &command, Item &item) {
  Expected<const CudaCall *> call = calls.find(command);
  if (!call)
    return call.error();
  item.call = *call;
  return Error::success();
}

Error CudaProgram::addHostMove(const Command &command, Item &item) {
  bool isOffload = command.kind == CommandKind::Offload;
  Address place = addresses[item.first + (isOffload ? 0 : 1)];
  void *host = reinterpret_cast<void *>(addresses[item.first + (isOffload ? 1 : 0)]);
  item.hostMove = int(moves.size());
  moves.push_back({isOffload, command.event, command.operands[0].buffer.bytes, place, host});
  return hostMoves.open(command.event);
}

/// Adds an exchange. A wait for an event of the device's only stream is a no-op.
Error CudaProgram::addExchange(const Device::ProgramPlaces &places, const Command &command,
                               Item &item) {
  bool isStart = isTransfer(command.kind);
  if (!isStart && !transfers.count(command.event))
    return Error::success();
  Exchange exchange{nullptr, isStart, command.kind == CommandKind::Send, 0, command.tag, 0};
  if (isStart) {
    Expected<uint32_t> peer = endpoint->findPeer(command.peer);
    if (!peer)
      return peer.error();
    exchange.peer = *peer;
    exchange.bytes = command.operands[0].buffer.bytes;
    uint64_t &most = mostBytes[command.event];
    most = std::max(most, exchange.bytes);
  }
  exchange.transfer =
      &transfers.try_emplace(command.event, copies, !endpoint->takesMovers()).first->second;
  item.exchange = int(exchanges.size());
  exchanges.push_back(exchange);
  return Error::success();
}

Error CudaProgram::openTransfers() {
  if (transfers.empty())
    return Error::success();
  if (Error error = copies.open())
    return error;
  for (auto &[event, transfer] : transfers)
    if (Error error = transfer.open(mostBytes[event]))
      return error;
  return Error::success();
}

/// Cuts the program into segments. A graph holds a move together with the wait for it, so moves are
/// captured only if no transfer cuts the program.
void CudaProgram::makeSegments() {
  auto isAlone = [&](const Item &item) {
    return item.exchange >= 0 || item.hostCall || (item.isOfHost() && !exchanges.empty());
  };
  for (size_t i = 0; i < items.size(); ++i) {
    bool joins = i != 0 && !isAlone(items[i]) && !isAlone(items[i - 1]);
    if (joins)
      segments.back().end = i + 1;
    else
      segments.push_back({i, i + 1});
  }
}

Error CudaProgram::exchange(const Item &item, Stream stream) {
  const Exchange &exchange = exchanges[size_t(item.exchange)];
  CudaTransfer &transfer = *exchange.transfer;
  if (!exchange.isStart)
    return transfer.wait(*endpoint, stream);
  transfer.isSend = exchange.isSend;
  transfer.peer = exchange.peer;
  transfer.tag = exchange.tag;
  transfer.bytes = exchange.bytes;
  return transfer.start(*endpoint, stream, addresses[item.first]);
}

/// Calls a function of the host, which enqueues its work on the caller's stream.
Error CudaProgram::callHost(const Item &item) const {
  std::vector<void *> buffers;
  for (size_t i = item.first; i < item.last; ++i)
    buffers.push_back(reinterpret_cast<void *>(addresses[i]));
  Error error = item.hostCall->run(buffers.data());
  // The function may have changed the context.
  return error ? error : driver.check(driver.setContext(context), "use the device");
}

std::string CudaProgram::describe(uint64_t number) const {
  const std::string &label = *items[number].label;
  return "command " + std::to_string(number) + (label.empty() ? "" : " (" + label + ")");
}

Error CudaProgram::enqueue(uint64_t number, Stream stream) {
  const Item &item = items[number];
  if (item.exchange >= 0)
    return exchange(item, stream);
  if (item.hostMove >= 0)
    return hostMoves.start(moves[size_t(item.hostMove)], stream);
  if (item.hostEvent >= 0)
    return hostMoves.wait(uint32_t(item.hostEvent), stream);
  if (item.hostCall)
    return callHost(item);
  if (item.call) {
    Error error = item.call->enqueue(addresses.data() + item.first, stream);
    return error ? Error::make("cannot start " + describe(number) + ": " + error.message()) : error;
  }
  Status status = 0;
  if (item.blocks)
    status = driver.launch(item.function, item.blocks, 1, 1, item.threads, 1, 1, 0, stream,
                           parameters.data() + item.first, nullptr);
  else if (item.bytes)
    status = driver.copy(addresses[item.first + 1], addresses[item.first], item.bytes, stream);
  return status == 0 ? Error::success() : driver.check(status, "start " + describe(number));
}

Error CudaProgram::enqueueAndAwait(Stream stream) {
  for (uint64_t number = 0; number < items.size(); ++number) {
    if (Error error = enqueue(number, stream))
      return error;
    // A transfer ends when its peer has come so far.
    if (items[number].exchange >= 0)
      continue;
    if (Error error = isWatched() ? waitWatching(stream) : Error::success())
      return error;
    if (Status status = driver.synchronize(stream))
      return driver.check(status, "run " + describe(number));
  }
  return Error::success();
}

Error CudaProgram::waitWatching(Stream stream) {
  return endpoint->waitForDevice(
      [&]() -> Expected<bool> { return driver.query(stream) != notReady; });
}

/// Returns whether each command is awaited. CUDA_LAUNCH_BLOCKING asks the driver for the same, but
/// the driver ignores it within a graph.
bool CudaProgram::awaitsCommands() const {
  const char *blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
  return !hasRun || (blocking && std::string_view(blocking) == "1");
}

Error CudaProgram::capture(Segment &segment, Stream stream) {
  if (Error error =
          driver.check(driver.beginCapture(stream, captureThreadLocal), "capture a program"))
    return error;
  Error failure = Error::success();
  for (uint64_t number = segment.begin; number < segment.end && !failure; ++number)
    failure = enqueue(number, stream);
  Graph made = nullptr;
  Error ended = driver.check(driver.endCapture(stream, &made), "capture a program");
  if (!failure)
    failure = ended;
  if (!failure)
    failure =
        driver.check(driver.makeGraphExec(&segment.graph, made, 0), "make a graph of a program");
  if (made)
    driver.destroyGraph(made);
  return failure;
}

/// Captures all graphs before any transfer. A driver that waits for the device to make a graph
/// would otherwise wait for the peer of a waiting transfer.
Error CudaProgram::captureAll(Stream stream) {
  for (Segment &segment : segments)
    if (!segment.graph && segment.end - segment.begin > 1)
      if (Error error = capture(segment, stream))
        return error;
  return Error::success();
}

Error CudaProgram::enqueueAll(Stream stream) {
  if (awaitsCommands()) {
    hasRun = true;
    return enqueueAndAwait(stream);
  }
  if (Error error = captureAll(stream))
    return error;
  for (Segment &segment : segments) {
    Error error = segment.graph
                      ? driver.check(driver.launchGraph(segment.graph, stream), "start a program")
                      : enqueue(segment.begin, stream);
    if (error)
      return error;
  }
  return Error::success();
}

} // namespace reprise::runtime::cuda
