// reprise: the bundle's data and the checks that every bundle passes before it is written or run
#include "reprise/Runtime/Bundle.h"

#include <algorithm>
#include <set>

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

bool BufferRef::operator==(const BufferRef &o) const {
  return space == o.space && index == o.index && offset == o.offset && bytes == o.bytes;
}
bool Argument::operator==(const Argument &o) const {
  return name == o.name && role == o.role && dtype == o.dtype && shape == o.shape &&
         batchDim == o.batchDim && bytes == o.bytes && hasInitializer == o.hasInitializer;
}
bool Result::operator==(const Result &o) const {
  return name == o.name && dtype == o.dtype && shape == o.shape && buffer == o.buffer &&
         argument == o.argument;
}
bool SourceOp::operator==(const SourceOp &o) const {
  return name == o.name && kind == o.kind && dtype == o.dtype && flops == o.flops &&
         signature == o.signature;
}
bool Kernel::operator==(const Kernel &o) const {
  return name == o.name && imageOffset == o.imageOffset && workspaceBytes == o.workspaceBytes &&
         itemThreads == o.itemThreads && blockThreads == o.blockThreads && launch == o.launch &&
         ops == o.ops;
}
bool Operand::operator==(const Operand &o) const {
  return buffer == o.buffer && access == o.access;
}
bool IndexCheck::operator==(const IndexCheck &o) const {
  return operand == o.operand && dtype == o.dtype && count == o.count && limit == o.limit &&
         name == o.name;
}
bool ReplayCheck::operator==(const ReplayCheck &o) const {
  return name == o.name && dtype == o.dtype && original == o.original && replayed == o.replayed;
}
bool Command::operator==(const Command &o) const {
  return kernel == o.kernel && items == o.items && operands == o.operands &&
         indexChecks == o.indexChecks && label == o.label && flops == o.flops && bytes == o.bytes;
}
bool Program::operator==(const Program &o) const {
  return name == o.name && commands == o.commands && arenaBytes == o.arenaBytes;
}
bool Bundle::operator==(const Bundle &o) const {
  return producer == o.producer && target == o.target && features == o.features &&
         contractions == o.contractions && entry == o.entry && threads == o.threads &&
         hasBudget == o.hasBudget && budgetBytes == o.budgetBytes && arguments == o.arguments &&
         results == o.results && replayChecks == o.replayChecks && kernels == o.kernels &&
         programs == o.programs && sharedWorkspaceBytes == o.sharedWorkspaceBytes &&
         workerWorkspaceBytes == o.workerWorkspaceBytes && constants == o.constants &&
         image == o.image;
}

const Program *Bundle::program(const std::string &name) const {
  for (const Program &program : programs)
    if (program.name == name)
      return &program;
  return nullptr;
}

uint64_t Bundle::arenaBytes() const {
  const Program *step = program("step");
  return step ? step->arenaBytes : 0;
}

uint64_t Bundle::persistentBytes() const {
  uint64_t sum = 0;
  for (const Argument &argument : arguments)
    sum += argument.bytes;
  return sum;
}

uint64_t Bundle::workspaceBytes(uint32_t workers) const {
  return sharedWorkspaceBytes + workers * workerWorkspaceBytes;
}

namespace {

// Keeps every later sum and product of sizes far from overflow.
constexpr uint64_t maxBytes = uint64_t(1) << 56;
constexpr uint32_t maxThreads = 4096;

Error fail(const std::string &message) { return Error::make(message); }

/// Bytes of an array, or nothing for a negative dimension or an absurd size.
std::optional<uint64_t> arrayBytes(DType dtype, const std::vector<int64_t> &shape) {
  uint64_t bytes = elementBytes(dtype);
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0 || uint64_t(dim) > maxBytes)
      return std::nullopt;
    if (dim == 0)
      empty = true;
    else if (bytes > maxBytes / uint64_t(dim))
      return std::nullopt;
    else
      bytes *= uint64_t(dim);
  }
  return empty ? 0 : bytes;
}

Error checkName(const std::string &what, const std::string &name, std::set<std::string> &seen) {
  if (name.empty() || name.find('\0') != std::string::npos)
    return fail(what + " has no proper name");
  if (!seen.insert(name).second)
    return fail("there are two of " + what + " '" + name + "'");
  return Error::success();
}

class Checker {
public:
  explicit Checker(const Bundle &bundle) : bundle(bundle) {}

  Error check() {
    if (Error error = checkSizes())
      return error;
    if (Error error = checkArguments())
      return error;
    if (Error error = checkKernels())
      return error;
    if (Error error = checkPrograms())
      return error;
    if (Error error = checkResults())
      return error;
    return checkReplays();
  }

private:
  Error checkSizes() {
    if (bundle.threads < 1 || bundle.threads > maxThreads)
      return fail("thread count " + std::to_string(bundle.threads) + " is out of range");
    for (uint64_t bytes : {bundle.sharedWorkspaceBytes, bundle.workerWorkspaceBytes})
      if (bytes > maxBytes / maxThreads)
        return fail("workspace of " + std::to_string(bytes) + " bytes is out of range");
    return Error::success();
  }

  Error checkArguments() {
    std::set<std::string> names;
    std::set<Role> scalars;
    uint64_t total = 0;
    for (const Argument &argument : bundle.arguments) {
      if (Error error = checkName("argument", argument.name, names))
        return error;
      std::optional<uint64_t> bytes = arrayBytes(argument.dtype, argument.shape);
      if (!bytes || *bytes != argument.bytes || (total += *bytes) > maxBytes)
        return fail("argument '" + argument.name + "' has a size unlike its type");
      if (argument.batchDim < -1 || argument.batchDim >= int64_t(argument.shape.size()))
        return fail("argument '" + argument.name + "' has a batch dimension that it lacks");
      if (argument.role < Role::Seed)
        continue;
      if (argument.dtype != DType::I64 || !argument.shape.empty())
        return fail("argument '" + argument.name + "' is no i64 scalar");
      if (!scalars.insert(argument.role).second)
        return fail(std::string("there are two arguments of role ") + roleName(argument.role));
    }
    return Error::success();
  }

  Error checkKernels() {
    for (const Kernel &kernel : bundle.kernels) {
      if (kernel.imageOffset >= bundle.image.size())
        return fail("kernel '" + kernel.name + "' lies outside the image");
      if (kernel.workspaceBytes > bundle.workerWorkspaceBytes)
        return fail("kernel '" + kernel.name + "' needs more workspace than there is");
      if (!hasGeometry(kernel))
        return fail("kernel '" + kernel.name + "' has threads unlike its target's");
    }
    bool endsText = bundle.image.empty() || bundle.image.back() == 0;
    return isForGpu() && !endsText ? fail("the last kernel's text has no end") : Error::success();
  }

  bool isForGpu() const { return bundle.target.compare(0, 5, "cuda:") == 0; }

  bool hasGeometry(const Kernel &kernel) const {
    if (!isForGpu())
      return kernel.itemThreads == 0 && kernel.blockThreads == 0;
    return kernel.itemThreads >= 1 && kernel.blockThreads >= 1 && kernel.blockThreads <= 1024 &&
           kernel.blockThreads % kernel.itemThreads == 0;
  }

  Error checkPrograms() {
    std::set<std::string> names;
    for (const Program &program : bundle.programs) {
      if (Error error = checkName("program", program.name, names))
        return error;
      if (program.arenaBytes > maxBytes)
        return fail("program '" + program.name + "' has an arena out of range");
      for (size_t i = 0; i < program.commands.size(); ++i)
        if (Error error = checkCommand(program, program.commands[i]))
          return fail("command " + std::to_string(i) + " of program '" + program.name +
                      "': " + error.message());
    }
    if (!names.count("step"))
      return fail("there is no program 'step'");
    return Error::success();
  }

  Error checkCommand(const Program &program, const Command &command) {
    if (command.kernel >= bundle.kernels.size())
      return fail("there is no kernel " + std::to_string(command.kernel));
    if (command.items < 0 || uint64_t(command.items) > maxBytes)
      return fail("the number of items is out of range");
    for (const Operand &operand : command.operands) {
      // What is only read may be a window of a value.
      if (Error error =
              checkBuffer(operand.buffer, program.arenaBytes,
                          operand.access == Read || operand.buffer.space != Space::Shared))
        return error;
      if (operand.access < Read || operand.access > ReadWrite)
        return fail("an operand is neither read nor written");
      if ((operand.access & Write) && operand.buffer.space == Space::Constant)
        return fail("a constant is written");
    }
    for (const IndexCheck &check : command.indexChecks) {
      if (check.dtype != DType::I32 && check.dtype != DType::I64)
        return fail("an index check of something other than i32 and i64");
      if (check.operand >= command.operands.size() || check.count > maxBytes ||
          check.count * elementBytes(check.dtype) > command.operands[check.operand].buffer.bytes)
        return fail("an index check beyond its operand");
      if (command.operands[check.operand].buffer.offset % elementBytes(check.dtype) != 0)
        return fail("an index check of integers that are not aligned");
    }
    return Error::success();
  }

  Error checkBuffer(const BufferRef &buffer, uint64_t arenaBytes, bool isWindow = false) {
    uint64_t size = 0;
    bool indexed = buffer.space == Space::Argument;
    if (indexed ? buffer.index >= bundle.arguments.size() : buffer.index != 0)
      return fail("there is no buffer " + std::to_string(buffer.index));
    switch (buffer.space) {
    case Space::Arena:
      size = arenaBytes;
      break;
    case Space::Argument:
      size = bundle.arguments[buffer.index].bytes;
      break;
    case Space::Constant:
      size = bundle.constants.size();
      break;
    case Space::Shared:
      size = bundle.sharedWorkspaceBytes;
      break;
    }
    if (buffer.bytes > size || buffer.offset > size - buffer.bytes)
      return fail("a buffer of " + std::to_string(buffer.bytes) + " bytes at " +
                  std::to_string(buffer.offset) + " lies outside its space of " +
                  std::to_string(size));
    if (!indexed && !isWindow && buffer.offset % bufferAlignment != 0)
      return fail("a buffer is not aligned");
    return Error::success();
  }

  Error checkResults() {
    std::set<std::string> names;
    std::set<int32_t> replaced;
    for (const Result &result : bundle.results) {
      if (Error error = checkName("result", result.name, names))
        return error;
      std::optional<uint64_t> bytes = arrayBytes(result.dtype, result.shape);
      if (!bytes || *bytes != result.buffer.bytes)
        return fail("result '" + result.name + "' has a size unlike its type");
      if (Error error = checkBuffer(result.buffer, bundle.arenaBytes()))
        return fail("result '" + result.name + "': " + error.message());
      if (result.buffer.space == Space::Shared)
        return fail("result '" + result.name + "' lies in the workspace");
      if (result.argument == -1)
        continue;
      if (Error error = checkReplacement(result))
        return error;
      if (!replaced.insert(result.argument).second)
        return fail("result '" + result.name + "' replaces an argument a second time");
    }
    return Error::success();
  }

  Error checkReplays() {
    for (const ReplayCheck &check : bundle.replayChecks) {
      for (const BufferRef &buffer : {check.original, check.replayed})
        if (Error error = checkBuffer(buffer, bundle.arenaBytes()))
          return fail("comparison of '" + check.name + "': " + error.message());
      if (check.original.bytes != check.replayed.bytes ||
          check.original.bytes % elementBytes(check.dtype) != 0 ||
          check.original.space == Space::Shared || check.replayed.space == Space::Shared)
        return fail("comparison of '" + check.name + "': its buffers cannot be compared");
    }
    return Error::success();
  }

  Error checkReplacement(const Result &result) {
    if (result.argument < -1 || result.argument >= int64_t(bundle.arguments.size()))
      return fail("result '" + result.name + "' replaces no argument");
    const Argument &argument = bundle.arguments[result.argument];
    if (argument.name != result.name || argument.dtype != result.dtype ||
        argument.shape != result.shape)
      return fail("result '" + result.name + "' differs from the argument that it replaces");
    if (result.buffer.space == Space::Argument && result.buffer.index != uint32_t(result.argument))
      return fail("result '" + result.name + "' lies in another argument");
    return Error::success();
  }

  const Bundle &bundle;
};

} // namespace

Error reprise::runtime::validateBundle(const Bundle &bundle) { return Checker(bundle).check(); }
