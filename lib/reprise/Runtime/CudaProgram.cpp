// reprise: a device program as launches of a GPU, and as the graph that is captured of them
#include "CudaProgram.h"

namespace reprise::runtime::cuda {

CudaImage::~CudaImage() {
  driver.setContext(context);
  for (auto &entry : modules)
    driver.unloadModule(entry.second);
}

/// The driver compiles the text; what it says of a fault is the error.
Expected<Module> CudaImage::load(const Kernel &kernel) const {
  auto found = modules.find(kernel.imageOffset);
  if (found != modules.end())
    return found->second;
  char log[1024] = "";
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  Module module = nullptr;
  Status status = driver.loadModule(&module, text.data() + kernel.imageOffset, 2, options, values);
  if (Error error = driver.check(status, "load kernel '" + kernel.name + "'"))
    return Error::make(error.message() + (*log ? std::string(": ") + log : ""));
  return modules[kernel.imageOffset] = module;
}

Expected<Function> CudaImage::find(const Kernel &kernel) const {
  Expected<Module> module = load(kernel);
  if (!module)
    return module.error();
  Function function = nullptr;
  if (Error error = driver.check(driver.getFunction(&function, *module, kernel.name.c_str()),
                                 "find kernel '" + kernel.name + "'"))
    return error;
  return function;
}

CudaProgram::~CudaProgram() {
  driver.setContext(context);
  if (graph)
    driver.destroyGraphExec(graph);
}

Error CudaProgram::fill(const Device::ProgramPlaces &places) {
  Error failure = Error::success();
  forEachExecution(places.program, [&](uint32_t number, const std::vector<int64_t> &iterations) {
    if (!failure)
      failure = add(places, number, iterations);
  });
  // Addresses stay where they are from now on.
  for (Address &address : addresses)
    parameters.push_back(&address);
  return failure;
}

Error CudaProgram::add(const Device::ProgramPlaces &places, uint32_t number,
                       const std::vector<int64_t> &iterations) {
  const Command &command = places.program.commands[number];
  Item item{nullptr, 0, 0, addresses.size(), 0, &command.label};
  for (const Operand &operand : command.operands)
    addresses.push_back(reinterpret_cast<Address>(places.addresses.of(operand, iterations)));
  bool isSkipped = !places.skips.empty() && places.skips[number];
  if (!isSkipped && command.kind == CommandKind::Copy) {
    item.bytes = command.operands[0].buffer.bytes;
  } else if (!isSkipped && command.items > 0) {
    const Kernel &kernel = places.bundle.kernels[command.kernel];
    Expected<Function> function = static_cast<const CudaImage &>(places.image).find(kernel);
    if (!function)
      return function.error();
    item.function = *function;
    item.threads = kernel.blockThreads;
    uint64_t threads = uint64_t(command.items) * kernel.itemThreads;
    uint64_t blocks = (threads + kernel.blockThreads - 1) / kernel.blockThreads;
    constexpr uint64_t mostBlocks = 0x7fffffff;
    if (blocks > mostBlocks)
      return Error::make("kernel '" + kernel.name + "' needs " + std::to_string(blocks) +
                         " blocks, more than a launch has");
    item.blocks = unsigned(blocks);
  }
  items.push_back(item);
  return Error::success();
}

Error CudaProgram::enqueue(uint64_t number, Stream stream) const {
  const Item &item = items[number];
  Status status = 0;
  if (item.blocks)
    status = driver.launch(item.function, item.blocks, 1, 1, item.threads, 1, 1, 0, stream,
                           const_cast<void **>(parameters.data()) + item.first, nullptr);
  else if (item.bytes)
    status = driver.copy(addresses[item.first + 1], addresses[item.first], item.bytes, stream);
  if (status == 0)
    return Error::success();
  return driver.check(status, "start command " + std::to_string(number) +
                                  (item.label->empty() ? "" : " (" + *item.label + ")"));
}

Error CudaProgram::capture(Stream stream) {
  if (Error error =
          driver.check(driver.beginCapture(stream, captureThreadLocal), "capture a program"))
    return error;
  Error failure = Error::success();
  for (uint64_t number = 0; number < items.size() && !failure; ++number)
    failure = enqueue(number, stream);
  Graph made = nullptr;
  Error ended = driver.check(driver.endCapture(stream, &made), "capture a program");
  if (!failure)
    failure = ended;
  if (!failure)
    failure = driver.check(driver.makeGraphExec(&graph, made, 0), "make a graph of a program");
  if (made)
    driver.destroyGraph(made);
  return failure;
}

Error CudaProgram::enqueueGraph(Stream stream) {
  if (items.empty())
    return Error::success();
  if (!graph)
    if (Error error = capture(stream))
      return error;
  return driver.check(driver.launchGraph(graph, stream), "start a program");
}

} // namespace reprise::runtime::cuda
