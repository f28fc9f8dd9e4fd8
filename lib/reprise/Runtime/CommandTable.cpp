// reprise: the commands of a bundle that differ in more than places and events
#include "CommandTable.h"

#include "reprise/Runtime/Hash.h"

using namespace reprise::runtime;

/// Hashes the fields that differ most often; equal commands have equal hashes.
static uint64_t hash(const Command &command) {
  Hasher hasher;
  auto add = [&](uint64_t number) { hasher.update(&number, sizeof number); };
  for (uint64_t number : {uint64_t(command.kind), uint64_t(command.kernel), uint64_t(command.items),
                          command.flops, command.bytes, uint64_t(command.tag)})
    add(number);
  hasher.update(command.label.data(), command.label.size());
  hasher.update(command.peer.data(), command.peer.size());
  for (int64_t number : command.numbers)
    add(uint64_t(number));
  for (const Operand &operand : command.operands) {
    add(uint64_t(operand.buffer.space));
    add(operand.buffer.index);
    add(operand.buffer.bytes);
  }
  return hasher.value();
}

CommandTable::CommandTable(const Bundle &bundle) {
  for (const Program &program : bundle.programs)
    for (const Command &command : program.commands)
      numbers.push_back(add(command));
}

uint32_t CommandTable::add(const Command &command) {
  Command bare = command;
  forEachPlace(bare, [](auto &number) { number = 0; });
  uint64_t key = hash(bare);
  auto [begin, end] = byHash.equal_range(key);
  for (auto known = begin; known != end; ++known)
    if (common[known->second] == bare)
      return known->second;
  byHash.emplace(key, uint32_t(common.size()));
  common.push_back(std::move(bare));
  return uint32_t(common.size() - 1);
}

uint64_t reprise::runtime::countBytes(const Command &command) {
  uint64_t bytes =
      sizeof command + command.label.size() + command.peer.size() + command.function.size();
  bytes += command.numbers.size() * sizeof(int64_t);
  for (const Operand &operand : command.operands)
    bytes += sizeof operand + operand.strides.size() * sizeof(int64_t);
  for (const IndexCheck &check : command.indexChecks)
    bytes += sizeof check + check.name.size();
  return bytes;
}
