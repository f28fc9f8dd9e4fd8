// reprise: the checks that every bundle passes before it is written or run
#include "CommandChecks.h"

#include "DeviceChecks.h"
#include "KernelChecks.h"
#include "PauseChecks.h"
#include "RowChecks.h"
#include "reprise/Support/Wording.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace reprise::runtime;
using reprise::groupDigits;

namespace {

// Keeps every later sum and product of sizes far from overflow.
constexpr uint64_t maxBytes = uint64_t(1) << 56;
constexpr uint32_t maxThreads = 4096;
// A device may write every execution out.
constexpr uint64_t maxExecutions = uint64_t(1) << 24;

Error fail(const std::string &message) { return Error::make(message); }

/// Returns the bytes of an array; none for a negative dimension or an overflow.
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
    return fail(what + " has no valid name");
  if (!seen.insert(name).second)
    return fail("two " + what + "s have the name '" + name + "'");
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
    if (Error error = checkRows(bundle))
      return error;
    if (Error error = checkImages())
      return error;
    if (Error error = checkKernels())
      return error;
    if (Error error = checkDevices(bundle))
      return error;
    if (Error error = checkPrograms())
      return error;
    if (Error error = checkBudget())
      return error;
    if (Error error = checkResults())
      return error;
    if (Error error = checkReplays())
      return error;
    return checkExchange(bundle);
  }

private:
  Error checkSizes() {
    if (bundle.threads < 1 || bundle.threads > maxThreads)
      return fail("thread count " + std::to_string(bundle.threads) + " is out of range");
    if (uint64_t bytes = bundle.workerWorkspaceBytes; bytes > maxBytes / maxThreads)
      return fail("workspace of " + groupDigits(int64_t(bytes)) + " bytes is out of range");
    return Error::success();
  }

  Error checkBudget() {
    uint64_t bytes = 0;
    for (uint32_t device = 0; device < bundle.countDevices(); ++device)
      bytes = std::max(bytes, bundle.arenaBytes(device));
    bytes += bundle.countDevices() == 1 ? bundle.workspaceBytes(bundle.threads) : 0;
    if (!bundle.hasBudget || bytes <= bundle.budgetBytes)
      return Error::success();
    return fail("a step takes " + groupDigits(int64_t(bytes)) + " bytes, more than the budget of " +
                groupDigits(int64_t(bundle.budgetBytes)));
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
        return fail("argument '" + argument.name + "' has other bytes than its type");
      if (argument.batchDim < -1 || argument.batchDim >= int64_t(argument.shape.size()))
        return fail("argument '" + argument.name +
                    "' has no dimension of that number for the batch");
      if (argument.role < Role::Seed)
        continue;
      if (argument.dtype != DType::I64 || !argument.shape.empty())
        return fail("argument '" + argument.name + "' is not an i64 scalar");
      if (!scalars.insert(argument.role).second)
        return fail(std::string("two arguments have the role ") + roleName(argument.role));
    }
    return Error::success();
  }

  Error checkImages() {
    std::set<std::string> targets;
    for (const Image &image : bundle.images)
      if (Error error = checkName("image", image.target, targets))
        return error;
    return bundle.images.empty() ? fail("the bundle has no image") : Error::success();
  }

  Error checkKernels() {
    for (const Kernel &kernel : bundle.kernels) {
      if (kernel.image >= bundle.images.size())
        return fail("kernel '" + kernel.name + "' belongs to no image");
      const std::vector<uint8_t> &image = bundle.images[kernel.image].bytes;
      if (kernel.imageOffset >= image.size())
        return fail("kernel '" + kernel.name + "' lies outside the image");
      if (kernel.workspaceBytes > bundle.workerWorkspaceBytes)
        return fail("kernel '" + kernel.name + "' needs more workspace than the bundle has");
      if (!hasGeometry(kernel, bundle.images[kernel.image]))
        return fail("kernel '" + kernel.name + "' has other threads than its target allows");
      if (!hasOrderedChips(kernel, bundle.images[kernel.image]))
        return fail("kernel '" + kernel.name + "' has other chips than its target");
    }
    for (const Image &image : bundle.images)
      if (isForGpu(image) && !image.bytes.empty() && image.bytes.back() != 0)
        return fail("the text of the last kernel has no terminator");
    return Error::success();
  }

  Error checkPrograms() {
    std::vector<std::set<std::string>> names(bundle.countDevices());
    for (const Program &program : bundle.programs) {
      if (Error error = checkName("program", program.name, names[program.device]))
        return error;
      if (program.arenaBytes > maxBytes || program.hostBytes > maxBytes)
        return fail("program '" + program.name + "' has an arena out of range");
      if (Error error = checkCommands(program))
        return error;
      if (Error error = checkPause(bundle, program))
        return fail("program '" + program.name + "': " + error.message());
    }
    for (const std::set<std::string> &own : names)
      if (!own.count("step"))
        return fail("the bundle has no program 'step'" +
                    std::string(names.size() > 1 ? " for each device" : ""));
    return Error::success();
  }

  /// The repeats around a command, the outermost first.
  struct Repeat {
    size_t end;
    int64_t times;
    uint64_t executions; ///< total executions of a command in the body
  };

  Error checkCommands(const Program &program) {
    std::vector<Repeat> around;
    uint64_t executions = 0;
    for (size_t i = 0; i < program.commands.size(); ++i) {
      const Command &command = program.commands[i];
      while (!around.empty() && around.back().end == i)
        around.pop_back();
      size_t end = around.empty() ? program.commands.size() : around.back().end;
      uint64_t times = around.empty() ? 1 : around.back().executions;
      bool isRepeat = command.kind == CommandKind::Repeat;
      Error error =
          isRepeat ? checkRepeat(command, end - i - 1) : checkCommand(program, command, around);
      if (!error && isRepeat && times > maxExecutions / uint64_t(command.items))
        error = fail("the repeats run too often");
      if (error)
        return fail("command " + std::to_string(i) + " of program '" + program.name +
                    "': " + error.message());
      if (isRepeat)
        around.push_back({i + 1 + command.body, command.items, times * uint64_t(command.items)});
      else if ((executions += times) > maxExecutions)
        return fail("program '" + program.name + "' runs too many commands");
    }
    if (Error error = checkOrder(program))
      return fail("program '" + program.name + "': " + error.message());
    return Error::success();
  }

  static Error checkRepeat(const Command &command, size_t behind) {
    if (command.items < 1 || uint64_t(command.items) > maxExecutions)
      return fail("the number of iterations is out of range");
    if (command.body < 1 || command.body > behind)
      return fail("a repeat of " + std::to_string(command.body) + " commands, but only " +
                  std::to_string(behind) + " follow");
    return command.operands.empty() && command.indexChecks.empty() ? Error::success()
                                                                   : fail("a repeat has operands");
  }

  Error checkCommand(const Program &program, const Command &command,
                     const std::vector<Repeat> &around) {
    bool isCopy = command.kind == CommandKind::Copy;
    if (command.body != 0)
      return fail("a body without a repeat");
    if (command.kind == CommandKind::Kernel && command.kernel >= bundle.kernels.size())
      return fail("there is no kernel " + std::to_string(command.kernel));
    if (command.items < 0 || uint64_t(command.items) > maxBytes)
      return fail("the number of items is out of range");
    for (const Operand &operand : command.operands) {
      if (Error error = checkOperand(operand, program, around))
        return error;
      if (operand.buffer.space == Space::Host && !isHostMove(command.kind))
        return fail("only offloads and fetches have operands in the memory of the host");
      if (operand.access < Read || operand.access > ReadWrite)
        return fail("an operand is neither read nor written");
      if ((operand.access & Write) && operand.buffer.space == Space::Constant)
        return fail("a constant is written");
    }
    if (Error error = checkExplicit(command))
      return error;
    return isCopy || isHostMove(command.kind) ? checkCopy(command, around) : checkIndices(command);
  }

  static Error checkCopy(const Command &command, const std::vector<Repeat> &around) {
    const std::vector<Operand> &operands = command.operands;
    if (operands.size() != 2 || operands[0].access != Read || operands[1].access != Write ||
        operands[0].buffer.bytes != operands[1].buffer.bytes || !command.indexChecks.empty())
      return fail("a copy is from one buffer to another of its size");
    // The ranges cover all iterations, whose copies are not ordered.
    BufferRef from = operands[0].buffer, to = operands[1].buffer;
    auto [fromFirst, fromLast] = *rangeOf(operands[0], around);
    auto [toFirst, toLast] = *rangeOf(operands[1], around);
    bool isApart = fromFirst >= toLast + to.bytes || toFirst >= fromLast + from.bytes;
    if (from.space == to.space && from.index == to.index && !isApart)
      return fail("a copy between buffers that overlap");
    return Error::success();
  }

  static Error checkIndices(const Command &command) {
    for (const IndexCheck &check : command.indexChecks) {
      if (check.dtype != DType::I32 && check.dtype != DType::I64)
        return fail("an index check of another type than i32 and i64");
      if (check.operand >= command.operands.size() || check.count > maxBytes ||
          check.count * elementBytes(check.dtype) > command.operands[check.operand].buffer.bytes)
        return fail("an index check reads past the end of its operand");
      const Operand &operand = command.operands[check.operand];
      int64_t width = int64_t(elementBytes(check.dtype));
      bool isAligned = operand.buffer.offset % uint64_t(width) == 0;
      for (int64_t stride : operand.strides)
        isAligned &= stride % width == 0;
      if (!isAligned)
        return fail("an index check of integers that are not aligned");
    }
    return Error::success();
  }

  /// The lowest and the highest offset over all iterations. One below 0 wraps around, and lies
  /// beyond every space.
  static std::optional<std::pair<uint64_t, uint64_t>> rangeOf(const Operand &operand,
                                                              const std::vector<Repeat> &around) {
    std::pair<uint64_t, uint64_t> range = {operand.buffer.offset, operand.buffer.offset};
    for (size_t i = 0; i < operand.strides.size(); ++i) {
      int64_t stride = operand.strides[i], way = 0;
      if (__builtin_mul_overflow(stride, around[i].times - 1, &way) || way > int64_t(maxBytes) ||
          way < -int64_t(maxBytes))
        return std::nullopt;
      (stride < 0 ? range.first : range.second) += uint64_t(way);
    }
    return range;
  }

  /// Checks that an access, of a value or of a window, stays in its space in every iteration.
  Error checkOperand(const Operand &operand, const Program &program,
                     const std::vector<Repeat> &around) {
    if (operand.strides.size() > around.size())
      return fail("an operand moves with a repeat that is not around it");
    auto range = rangeOf(operand, around);
    if (!range)
      return fail("an operand moves out of range");
    BufferRef first = operand.buffer, last = operand.buffer;
    std::tie(first.offset, last.offset) = *range;
    for (const BufferRef &buffer : {first, last})
      if (Error error =
              checkBuffer(buffer, program.arenaBytes, program.hostBytes, /*isWindow=*/true))
        return error;
    return Error::success();
  }

  Error checkBuffer(const BufferRef &buffer, uint64_t arenaBytes, uint64_t hostBytes = 0,
                    bool isWindow = false) {
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
    case Space::Host:
      size = hostBytes;
      break;
    }
    if (buffer.bytes > size || buffer.offset > size - buffer.bytes)
      return fail("a buffer of " + groupDigits(int64_t(buffer.bytes)) + " bytes at " +
                  std::to_string(buffer.offset) + " lies outside its space of " +
                  std::to_string(size));
    if (!indexed && !isWindow && buffer.offset % bufferAlignment != 0)
      return fail("a buffer is not aligned");
    return Error::success();
  }

  Error checkResultBuffer(const BufferRef &buffer, uint32_t device) {
    return buffer.space == Space::Host ? fail("a buffer in the memory of the host")
                                       : checkBuffer(buffer, bundle.arenaBytes(device));
  }

  Error checkResults() {
    // Each device may return the next offset, so its name may occur once per device.
    std::map<uint32_t, std::set<std::string>> names;
    std::set<std::pair<uint32_t, int32_t>> replaced;
    for (const Result &result : bundle.results) {
      bool isOffset = result.argument >= 0 && result.argument < int64_t(bundle.arguments.size()) &&
                      bundle.arguments[result.argument].role == Role::Offset;
      uint32_t owner = isOffset ? result.device : 0;
      if (Error error = checkName("result", result.name, names[owner]))
        return error;
      std::optional<uint64_t> bytes = arrayBytes(result.dtype, result.shape);
      if (!bytes || *bytes != result.buffer.bytes)
        return fail("result '" + result.name + "' has other bytes than its type");
      if (Error error = checkResultBuffer(result.buffer, result.device))
        return fail("result '" + result.name + "': " + error.message());
      if (result.argument == -1)
        continue;
      if (Error error = checkReplacement(result))
        return error;
      if (!replaced.insert({owner, result.argument}).second)
        return fail("result '" + result.name + "' replaces an argument a second time");
    }
    return Error::success();
  }

  Error checkReplays() {
    for (const ReplayCheck &check : bundle.replayChecks) {
      for (const BufferRef &buffer : {check.original, check.replayed})
        if (Error error = checkResultBuffer(buffer, check.device))
          return fail("comparison of '" + check.name + "': " + error.message());
      if (check.original.bytes != check.replayed.bytes ||
          check.original.bytes % elementBytes(check.dtype) != 0)
        return fail("comparison of '" + check.name + "': its buffers cannot be compared");
    }
    return Error::success();
  }

  Error checkReplacement(const Result &result) {
    if (result.argument < -1 || result.argument >= int64_t(bundle.arguments.size()))
      return fail("result '" + result.name + "' replaces no argument");
    const Argument &argument = bundle.arguments[result.argument];
    if (argument.name != result.name || argument.dtype != result.dtype ||
        argument.shape != result.shape || !(argument.rows == result.rows))
      return fail("result '" + result.name + "' differs from the argument that it replaces");
    const BufferRef &buffer = result.buffer;
    bool isWhole = buffer.space == Space::Argument && buffer.index == uint32_t(result.argument) &&
                   buffer.offset == 0;
    return isWhole ? Error::success()
                   : fail("result '" + result.name + "' is not where its argument lies");
  }

  const Bundle &bundle;
};

} // namespace

Error reprise::runtime::validateBundle(const Bundle &bundle) { return Checker(bundle).check(); }
