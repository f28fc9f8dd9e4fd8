// reprise: the commands of a bundle that differ in more than places and events
#ifndef REPRISE_LIB_RUNTIME_COMMANDTABLE_H
#define REPRISE_LIB_RUNTIME_COMMANDTABLE_H

#include "reprise/Runtime/Bundle.h"

#include <unordered_map>

namespace reprise::runtime {

/// Table of commands without their places and events. Micro-batches and layers repeat commands with
/// other places and events, so a file holds the common part once.
class CommandTable {
public:
  CommandTable() = default;
  /// Makes the table of all programs of the bundle.
  explicit CommandTable(const Bundle &bundle);

  /// Commands without places and events, in the order of their first use.
  std::vector<Command> common;
  /// Number in `common` of each command, in the order of programs.
  std::vector<uint32_t> numbers;

private:
  uint32_t add(const Command &command);

  std::unordered_multimap<uint64_t, uint32_t> byHash;
};

/// The numbers of a command that are no part of the table: the offsets of its operands, and its
/// event. Called alike for const and other commands, in a fixed order.
template <typename AnyCommand, typename Visit> void forEachPlace(AnyCommand &command, Visit visit) {
  for (auto &operand : command.operands)
    visit(operand.buffer.offset);
  if (isExplicit(command.kind))
    visit(command.event);
}

/// Returns about the bytes of a further copy of a command in memory.
uint64_t countBytes(const Command &command);

} // namespace reprise::runtime

#endif // REPRISE_LIB_RUNTIME_COMMANDTABLE_H
