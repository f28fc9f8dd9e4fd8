// reprise: places of operands: registers, constants, special registers, addresses
#include "Decoder.h"

#include <algorithm>

using namespace reprise::emulator;

namespace {

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

const std::pair<const char *, Special> specialNames[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%smid", Special::SmId},
    {"%nsmid", Special::NsmId},
    {"%gridid", Special::GridId},
    {"%lanemask_eq", Special::LaneMaskEq},
    {"%lanemask_lt", Special::LaneMaskLt},
    {"%lanemask_le", Special::LaneMaskLe},
    {"%lanemask_gt", Special::LaneMaskGt},
    {"%lanemask_ge", Special::LaneMaskGe},
    {"%dynamic_smem_size", Special::DynamicSharedBytes},
    {"%total_smem_size", Special::TotalSharedBytes}};

} // namespace

uint32_t Decoder::constant(unsigned bytes, uint64_t value) {
  auto found = constants.find({bytes, value});
  if (found != constants.end())
    return found->second;
  uint32_t place = bytes == 1 ? program.registerBytes : newPlace(bytes);
  if (bytes == 1)
    program.registerBytes += 4;
  program.constants.push_back({place, uint8_t(bytes), value});
  return constants[{bytes, value}] = place;
}

uint32_t Decoder::special(const std::string &name) {
  if (name == "WARP_SZ")
    return constant(4, lanes);
  auto found = specials.find(name);
  if (found != specials.end())
    return found->second;
  for (auto &[text, special] : specialNames)
    if (name == text) {
      uint32_t place = newPlace(4);
      program.specials.push_back({special, place});
      return specials[name] = place;
    }
  return fail("unknown special register '" + name + "'");
}

uint32_t Decoder::source(const Operand &operand, Type type) {
  unsigned bits = bitsOf(type);
  if (operand.kind == Operand::Kind::Register) {
    const Register &reg = current->function->registers[operand.reg];
    if (bitsOf(reg.type) != bits || operand.negated)
      return fail("register '" + reg.name + "' is not of " + std::to_string(bits) + " bits");
    return current->registers[operand.reg];
  }
  if (operand.kind == Operand::Kind::Immediate)
    return constant(std::max(bits / 8, 2u),
                    operand.value & (bits < 64 ? (1ull << bits) - 1 : ~0ull));
  if (operand.kind == Operand::Kind::Special && bits == 32)
    return special(operand.symbol);
  if (operand.kind == Operand::Kind::Symbol && bits >= 32) {
    Space space;
    uint64_t value;
    if (operand.symbol == "WARP_SZ")
      return constant(bits / 8, lanes);
    if (symbolValue(operand.symbol, space, value))
      return constant(bits / 8, value + operand.offset);
    return 0;
  }
  return fail("an operand that the instruction cannot have");
}

uint32_t Decoder::target(const Operand &operand, Type type) {
  if (operand.kind == Operand::Kind::Sink)
    return newPlace(std::max(1u, bitsOf(type) / 8));
  if (operand.kind != Operand::Kind::Register)
    return fail("a result that is no register");
  return source(operand, type);
}

uint32_t Decoder::anyRegister(const Operand &operand, unsigned &bits) {
  if (operand.kind != Operand::Kind::Register)
    return fail("an operand that is no register");
  bits = bitsOf(current->function->registers[operand.reg].type);
  return current->registers[operand.reg];
}

uint32_t Decoder::looseOperand(const Operand &operand, Type type, unsigned &bytes) {
  unsigned bits = std::max(16u, bitsOf(type));
  bytes = bits / 8;
  if (operand.kind == Operand::Kind::Sink)
    return newPlace(8);
  if (operand.kind != Operand::Kind::Register)
    return source(operand, type);
  uint32_t place = anyRegister(operand, bits);
  bytes = bits / 8;
  return bits < bitsOf(type) ? fail("a register that is too narrow") : place;
}

uint32_t Decoder::predicate(const Operand &operand) {
  if (operand.kind == Operand::Kind::Immediate)
    return constant(1, operand.value & 1);
  if (operand.kind == Operand::Kind::Sink)
    return newPlace(1);
  unsigned bits = 0;
  uint32_t place = anyRegister(operand, bits);
  return bits == 1 ? place : fail("an operand that is no predicate");
}

void Decoder::placeShared(const Operand &operand, bool dynamic) {
  for (const Operand &element : operand.elements)
    placeShared(element, dynamic);
  auto &placed = frames.back().variables;
  if (operand.symbol.empty() || placed.count(operand.symbol))
    return;
  for (const Variable &variable : module.variables) {
    if (variable.name != operand.symbol || variable.space != Space::Shared)
      continue;
    if (variable.bytes && !dynamic)
      placeVariable(frames.back(), variable, program.sharedBytes);
    if (!variable.bytes && dynamic)
      placed[variable.name] = {Space::Shared, roundUp(program.sharedBytes, program.dynamicAlign)};
    if (!variable.bytes)
      program.dynamicAlign = std::max<uint32_t>(program.dynamicAlign, variable.align);
  }
}

/// Places the shared variables of the module that this kernel uses. Dynamic ones follow all others.
void Decoder::placeShared() {
  for (bool dynamic : {false, true})
    for (const Frame &frame : frames)
      for (const Instruction &inst : frame.function->body)
        for (const Operand &operand : inst.operands)
          placeShared(operand, dynamic);
}

bool Decoder::symbolValue(const std::string &name, Space &space, uint64_t &value) {
  auto own = current->variables.find(name);
  if (own != current->variables.end()) {
    space = own->second.first;
    value = own->second.second;
    return true;
  }
  for (const Variable &variable : module.variables) {
    if (variable.name != name)
      continue;
    space = variable.space;
    if (space != Space::Shared) {
      value = globals(name);
      return value || fail("no memory for '" + name + "'");
    }
    value = frames.back().variables.at(name).second;
    return true;
  }
  return fail("unknown symbol '" + name + "'");
}

bool Decoder::address(const Operand &operand, Space space, Inst &inst) {
  if (operand.kind != Operand::Kind::Address)
    return fail("an operand that is no address");
  inst.imm = operand.offset;
  if (operand.reg >= 0) {
    unsigned bits = 0;
    Operand base = operand;
    base.kind = Operand::Kind::Register;
    inst.a = anyRegister(base, bits);
    if (bits == 32 && space != Space::Global && space != Space::Generic) {
      inst.flags |= narrowAddress;
      return true;
    }
    return bits == 64 || fail("an address that is not of 64 bits");
  }
  Space symbolSpace = space;
  uint64_t value = 0;
  if (!operand.symbol.empty() && !symbolValue(operand.symbol, symbolSpace, value))
    return false;
  inst.a = constant(8, value);
  return true;
}
