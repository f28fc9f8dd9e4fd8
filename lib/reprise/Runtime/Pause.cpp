// reprise: steps that pause: early results, and late arguments
#include "PauseChecks.h"

#include <algorithm>

using namespace reprise::runtime;

uint64_t Program::executionsToPause() const {
  uint64_t before = 0;
  forEachExecution(*this, [&](uint32_t number, const std::vector<int64_t> &) {
    before += pause < 0 || number < pause;
  });
  return before;
}

bool Bundle::pauses() const {
  const Program *step = program("step");
  return step && step->pause >= 0;
}

/// Returns whether one of the commands [begin, end) accesses an argument.
static bool touches(const Program &program, size_t begin, size_t end, uint32_t argument) {
  auto isIn = [&](const Operand &operand) {
    return operand.buffer.space == Space::Argument && operand.buffer.index == argument;
  };
  return std::any_of(program.commands.begin() + int64_t(begin),
                     program.commands.begin() + int64_t(end), [&](const Command &command) {
                       return std::any_of(command.operands.begin(), command.operands.end(), isIn);
                     });
}

bool Bundle::isLate(uint32_t argument) const {
  const Argument &own = arguments[argument];
  bool mayBe = own.role == Role::Input || (own.role == Role::State && !own.hasInitializer);
  return pauses() && mayBe &&
         !touches(*program("step"), 0, size_t(program("step")->pause), argument);
}

bool Bundle::isUsedBehindPause(uint32_t argument) const {
  const Program *step = program("step");
  return pauses() && touches(*step, size_t(step->pause), step->commands.size(), argument);
}

/// Returns whether a result is complete at the pause: no later command writes it.
bool Bundle::isEarly(const Result &result) const {
  const BufferRef &own = result.buffer;
  bool isEarly = pauses();
  if (!isEarly)
    return false;
  const Program &step = *program("step");
  forEachExecution(step, [&](uint32_t number, const std::vector<int64_t> &iterations) {
    for (const Operand &operand : step.commands[number].operands) {
      const BufferRef &other = operand.buffer;
      uint64_t begin = offsetIn(operand, iterations);
      bool isApart = other.space != own.space || other.index != own.index ||
                     begin >= own.offset + own.bytes || own.offset >= begin + other.bytes;
      isEarly &= number < step.pause || !(operand.access & Write) || isApart;
    }
  });
  return isEarly;
}

Error reprise::runtime::checkPause(const Bundle &bundle, const Program &program) {
  if (program.pause == -1)
    return Error::success();
  if (program.name != "step" || bundle.countDevices() != 1)
    return Error::make("only a step of a single device can pause");
  if (program.pause < -1 || uint64_t(program.pause) > program.commands.size())
    return Error::make("the pause is out of range");
  for (size_t i = 0; i < size_t(program.pause); ++i)
    if (i + 1 + program.commands[i].body > size_t(program.pause))
      return Error::make("the pause stands in a repeat");
  return Error::success();
}
