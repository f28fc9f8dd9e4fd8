// reprise: the bundle's data
#include "reprise/Runtime/Bundle.h"

using namespace reprise::runtime;

uint64_t reprise::runtime::elementBytes(DType dtype) {
  static const uint64_t bytes[numDTypes] = {4, 8, 2, 2, 4, 8, 1};
  return bytes[unsigned(dtype)];
}

const char *reprise::runtime::dtypeName(DType dtype) {
  static const char *const names[numDTypes] = {"f32", "f64", "bf16", "f16", "i32", "i64", "i1"};
  return names[unsigned(dtype)];
}

const char *reprise::runtime::roleName(Role role) {
  static const char *const names[numRoles] = {"input", "parameter", "state",
                                              "seed",  "offset",    "step"};
  return names[unsigned(role)];
}

std::string reprise::runtime::callKey(const Command &command) {
  std::string key = command.function;
  for (int64_t number : command.numbers)
    key += " " + std::to_string(number);
  return key;
}

const char *reprise::runtime::commandName(CommandKind kind) {
  static const char *const names[numCommandKinds] = {"kernel",  "copy",    "repeat", "library call",
                                                     "send",    "receive", "record", "wait",
                                                     "offload", "fetch"};
  return names[unsigned(kind)];
}

bool BufferRef::operator==(const BufferRef &o) const {
  return space == o.space && index == o.index && offset == o.offset && bytes == o.bytes;
}
bool Rows::operator==(const Rows &o) const {
  return whole == o.whole && first == o.first && of == o.of && dim == o.dim;
}
bool Argument::operator==(const Argument &o) const {
  return name == o.name && role == o.role && dtype == o.dtype && shape == o.shape &&
         batchDim == o.batchDim && bytes == o.bytes && hasInitializer == o.hasInitializer &&
         rows == o.rows;
}
bool Result::operator==(const Result &o) const {
  return name == o.name && dtype == o.dtype && shape == o.shape && buffer == o.buffer &&
         argument == o.argument && device == o.device && rows == o.rows;
}
bool SourceOp::operator==(const SourceOp &o) const {
  return name == o.name && kind == o.kind && dtype == o.dtype && flops == o.flops &&
         signature == o.signature;
}
bool Image::operator==(const Image &o) const {
  return target == o.target && features == o.features && bytes == o.bytes;
}
bool ChipKernel::operator==(const ChipKernel &o) const {
  return chip == o.chip && name == o.name && itemThreads == o.itemThreads &&
         blockThreads == o.blockThreads;
}
bool Kernel::operator==(const Kernel &o) const {
  return name == o.name && image == o.image && imageOffset == o.imageOffset &&
         workspaceBytes == o.workspaceBytes && itemThreads == o.itemThreads &&
         blockThreads == o.blockThreads && chips == o.chips && launch == o.launch && ops == o.ops;
}
bool Operand::operator==(const Operand &o) const {
  return buffer == o.buffer && access == o.access && strides == o.strides;
}
bool IndexCheck::operator==(const IndexCheck &o) const {
  return operand == o.operand && dtype == o.dtype && count == o.count && limit == o.limit &&
         name == o.name;
}
bool ReplayCheck::operator==(const ReplayCheck &o) const {
  return name == o.name && dtype == o.dtype && original == o.original && replayed == o.replayed &&
         device == o.device;
}
bool Command::operator==(const Command &o) const {
  return kind == o.kind && kernel == o.kernel && items == o.items && body == o.body &&
         operands == o.operands && indexChecks == o.indexChecks && label == o.label &&
         flops == o.flops && bytes == o.bytes && stream == o.stream && event == o.event &&
         tag == o.tag && peer == o.peer && function == o.function && numbers == o.numbers;
}
bool Program::operator==(const Program &o) const {
  return name == o.name && device == o.device && commands == o.commands &&
         arenaBytes == o.arenaBytes && hostBytes == o.hostBytes && pause == o.pause;
}
bool DeviceEntry::operator==(const DeviceEntry &o) const {
  return name == o.name && arguments == o.arguments;
}
bool Bundle::operator==(const Bundle &o) const {
  return producer == o.producer && contractions == o.contractions && entry == o.entry &&
         devices == o.devices && threads == o.threads && hasBudget == o.hasBudget &&
         budgetBytes == o.budgetBytes && arguments == o.arguments && results == o.results &&
         replayChecks == o.replayChecks && kernels == o.kernels && programs == o.programs &&
         workerWorkspaceBytes == o.workerWorkspaceBytes && constants == o.constants &&
         images == o.images;
}

uint64_t Program::executions() const {
  uint64_t sum = 0;
  // End of a body, and its total number of executions.
  std::vector<std::pair<size_t, uint64_t>> open;
  for (size_t i = 0; i < commands.size(); ++i) {
    while (!open.empty() && i >= open.back().first)
      open.pop_back();
    uint64_t times = open.empty() ? 1 : open.back().second;
    if (commands[i].kind == CommandKind::Repeat)
      open.push_back({i + 1 + commands[i].body, times * uint64_t(commands[i].items)});
    else
      sum += times;
  }
  return sum;
}

bool Program::hasExplicit() const {
  for (const Command &command : commands)
    if (isExplicit(command.kind))
      return true;
  return false;
}

uint64_t reprise::runtime::offsetIn(const Operand &operand,
                                    const std::vector<int64_t> &iterations) {
  uint64_t offset = operand.buffer.offset;
  for (size_t i = 0; i < operand.strides.size(); ++i)
    offset += uint64_t(operand.strides[i] * iterations[i]);
  return offset;
}

uint64_t reprise::runtime::arrayBytes(const Argument &argument) {
  const Rows &rows = argument.rows;
  return rows.of ? argument.bytes / uint64_t(argument.shape[size_t(rows.dim)]) * uint64_t(rows.of)
                 : argument.bytes;
}

std::string Bundle::offsetName() const {
  for (const Argument &argument : arguments)
    if (argument.role == Role::Offset)
      return argument.name;
  return "";
}

uint32_t Bundle::countDevices() const { return devices.empty() ? 1 : uint32_t(devices.size()); }

const std::string &Bundle::deviceName(uint32_t device) const {
  return devices.empty() ? entry : devices[device].name;
}

std::vector<std::string> Bundle::deviceNames() const {
  std::vector<std::string> names;
  for (uint32_t device = 0; device < countDevices(); ++device)
    names.push_back(deviceName(device));
  return names;
}

const Program *Bundle::program(const std::string &name, uint32_t device) const {
  for (const Program &program : programs)
    if (program.name == name && program.device == device)
      return &program;
  return nullptr;
}

uint64_t Bundle::arenaBytes(uint32_t device) const {
  const Program *step = program("step", device);
  return step ? step->arenaBytes : 0;
}

uint64_t Bundle::persistentBytes() const {
  uint64_t sum = 0;
  for (const Argument &argument : arguments)
    sum += argument.bytes;
  return sum;
}

uint64_t Bundle::workspaceBytes(uint32_t workers) const { return workers * workerWorkspaceBytes; }
