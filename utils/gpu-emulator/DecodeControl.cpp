// reprise: branches, calls, barriers, the end
#include "Control.h"
#include "Decoder.h"
#include "Lanes.h"

#include <algorithm>

using namespace reprise::emulator;

namespace {

void executeBranch(Warp &warp, const Inst &inst) { warp.branch(inst.d); }

bool decodeBranch(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  modifiers.take("uni");
  inst.run = executeBranch;
  inst.d = decoder.label(source.operands[0].symbol);
  return true;
}

/// Executes an indexed branch. The list holds the number of targets, and their places in the code.
void executeIndexedBranch(Warp &warp, const Inst &inst) {
  const uint32_t *list = &warp.program->lists[inst.list], *index = warp.at<uint32_t>(inst.a);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (!(warp.active >> lane & 1))
      continue;
    bool jumps = warp.mask >> lane & 1;
    if (jumps && index[lane] >= list[0])
      return warp.fail(Fault::OutOfBounds, lane, "a branch beyond its table");
    warp.lanePc[lane] = jumps ? list[1 + index[lane]] : warp.pc + 1;
  }
  warp.active = 0;
  warp.stop();
}

bool decodeIndexedBranch(Decoder &decoder, const Instruction &source, Modifiers &modifiers,
                         Inst &inst) {
  modifiers.take("uni");
  const auto &tables = decoder.here().function->tables;
  auto table = tables.find(source.operands[1].symbol);
  if (!modifiers.take("idx") || table == tables.end())
    return false;
  std::vector<uint32_t> list = {uint32_t(table->second.size())};
  for (const std::string &label : table->second)
    list.push_back(decoder.label(label));
  inst.run = executeIndexedBranch;
  inst.a = decoder.source(source.operands[0], Type::U32);
  inst.list = decoder.addList(list);
  return true;
}

bool decodeExit(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  modifiers.take("uni");
  bool returns = source.opcode == "ret" && !decoder.here().function->isEntry;
  inst.run = returns ? executeReturn : executeExit;
  inst.a = decoder.here().returnPlace;
  return true;
}

void executeTrap(Warp &warp, const Inst &) {
  warp.fail(Fault::Trap, __builtin_ctz(warp.mask), "the kernel asks to be stopped");
}

bool decodeTrap(Decoder &, const Instruction &, Modifiers &, Inst &inst) {
  inst.run = executeTrap;
  return true;
}

void copyLocal(Warp &warp, uint32_t to, uint32_t from, uint32_t bytes) {
  forLanes(warp, [&](unsigned lane) {
    uint8_t *local = warp.local + uint64_t(lane) * warp.program->localBytes;
    std::memmove(local + to, local + from, bytes);
  });
}

/// Executes a call. The list holds the number of copies for arguments, then to, from and bytes of
/// each; and the same for results, which the return copies. The place of the return, in `a`,
/// receives the position of the latter.
void executeCall(Warp &warp, const Inst &inst) {
  const uint32_t *list = &warp.program->lists[inst.list];
  for (uint32_t i = 0, count = *list++; i < count; ++i, list += 3)
    copyLocal(warp, list[0], list[1], list[2]);
  uint32_t *returns = warp.at<uint32_t>(inst.a);
  forLanes(warp, [&](unsigned lane) { returns[lane] = warp.pc; });
  warp.branch(inst.d);
}

/// Copies of one parameter list. False if a name is not known, or sizes differ.
bool addCopies(Decoder &decoder, const Operand &passed, const std::vector<Variable> &formals,
               const Frame &callee, bool results, std::vector<uint32_t> &list) {
  if (passed.elements.size() != formals.size())
    return decoder.fail("a call with another number of arguments than the function has");
  list.push_back(formals.size());
  for (size_t i = 0; i < formals.size(); ++i) {
    Space space;
    uint64_t own;
    if (!decoder.symbolValue(passed.elements[i].symbol, space, own))
      return false;
    uint32_t formal = callee.variables.at(formals[i].name).second;
    list.push_back(results ? own : formal);
    list.push_back(results ? formal : own);
    list.push_back(formals[i].bytes);
  }
  return true;
}

bool decodeCall(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  modifiers.take("uni");
  Operand none;
  const Operand *results = &none, *arguments = &none;
  size_t at = 0;
  if (source.operands[0].kind == Operand::Kind::Vector)
    results = &source.operands[at++];
  if (at >= source.operands.size() || source.operands[at].kind != Operand::Kind::Symbol)
    return decoder.fail("a call through a register");
  const std::string &name = source.operands[at++].symbol;
  if (at < source.operands.size())
    arguments = &source.operands[at];
  const Frame *callee = decoder.frameOf(name);
  if (!callee)
    return decoder.fail("no function '" + name + "'");
  std::vector<uint32_t> list;
  if (!addCopies(decoder, *arguments, callee->function->params, *callee, false, list) ||
      !addCopies(decoder, *results, callee->function->results, *callee, true, list))
    return false;
  inst.run = executeCall;
  inst.list = decoder.addList(list);
  inst.a = callee->returnPlace;
  inst.d = callee->start;
  return true;
}

void executeBarrier(Warp &warp, const Inst &inst) {
  warp.waitAtBarrier(inst.imm, inst.count == 255 ? 0 : inst.flags);
}

/// Decodes bar.sync and barrier.sync: a number, and the number of threads that meet there.
bool decodeBarrier(Decoder &decoder, const Instruction &source, Modifiers &modifiers, Inst &inst) {
  if (modifiers.take("warp"))
    return modifiers.take("sync") && !source.operands.empty() &&
           decoder.decodeWarpBarrier(source, inst);
  modifiers.take("cta");
  if (!modifiers.take("sync") || source.operands.empty())
    return false;
  modifiers.take("aligned");
  for (const Operand &operand : source.operands)
    if (operand.kind != Operand::Kind::Immediate)
      return decoder.fail("a barrier whose number is no constant");
  inst.run = executeBarrier;
  inst.imm = source.operands[0].value;
  bool all = source.operands.size() == 1;
  inst.count = all ? 255 : 1;
  inst.flags = all ? 0 : source.operands[1].value / lanes;
  return inst.imm < 16 && (all || source.operands[1].value % lanes == 0);
}

} // namespace

void reprise::emulator::executeExit(Warp &warp, const Inst &) { warp.exitLanes(); }

/// Executes a return. Lanes continue behind their calls, the lowest first; results go to the places
/// of each call.
void reprise::emulator::executeReturn(Warp &warp, const Inst &inst) {
  const uint32_t *returns = warp.at<uint32_t>(inst.a);
  uint32_t mask = warp.mask, first = returns[__builtin_ctz(mask)], same = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    same |= uint32_t((mask >> lane & 1) && returns[lane] == first) << lane;
  // Lanes of another call stay here, and return later.
  warp.mask = same;
  const uint32_t *list = &warp.program->lists[warp.program->code[first].list];
  list += 1 + 3 * *list;
  for (uint32_t i = 0, count = *list++; i < count; ++i, list += 3)
    copyLocal(warp, list[0], list[1], list[2]);
  if (same == warp.active) {
    warp.next = first + 1;
    return;
  }
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (warp.active >> lane & 1)
      warp.lanePc[lane] = same >> lane & 1 ? first + 1 : mask >> lane & 1 ? warp.pc : warp.pc + 1;
  warp.active = 0;
  warp.stop();
}

const Opcodes &reprise::emulator::controlOpcodes() {
  static const Opcodes opcodes = {{"bra", decodeBranch, 1},  {"brx", decodeIndexedBranch, 2},
                                  {"call", decodeCall, 1},   {"ret", decodeExit, 0},
                                  {"exit", decodeExit, 0},   {"trap", decodeTrap, 0},
                                  {"bar", decodeBarrier, 0}, {"barrier", decodeBarrier, 0}};
  return opcodes;
}
