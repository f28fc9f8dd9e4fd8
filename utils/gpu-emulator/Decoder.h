// reprise: common code of the decoders: modifiers, places of operands
#ifndef REPRISE_GPU_EMULATOR_DECODER_H
#define REPRISE_GPU_EMULATOR_DECODER_H

#include "Program.h"

#include <initializer_list>
#include <map>

namespace reprise::emulator {

/// Modifiers of one instruction. A modifier that no decoder takes is unknown, and an error.
class Modifiers {
public:
  explicit Modifiers(const Instruction &inst)
      : names(inst.modifiers), taken(inst.modifiers.size()) {}
  bool take(const char *name);
  /// Takes the first of these modifiers that is present, and returns its index, or -1.
  int takeOneOf(std::initializer_list<const char *> candidates);
  /// The next type, or None.
  Type takeType();
  bool allTaken() const;

private:
  const std::vector<std::string> &names;
  std::vector<bool> taken;
};

/// Places of the registers and variables of one function.
struct Frame {
  const Function *function = nullptr;
  std::vector<uint32_t> registers;
  std::unordered_map<std::string, std::pair<Space, uint64_t>> variables;
  uint32_t start = 0;       ///< number of its first instruction
  uint32_t returnPlace = 0; ///< 32 words: where its caller goes on
};

class Decoder {
public:
  Decoder(const Module &module, const FindGlobal &globals, Program &program)
      : module(module), globals(globals), program(program) {}
  bool run(const Function &kernel, std::string &error);

  /// Returns the place of an operand that is read as `type`; the width of a register must be that
  /// of the type.
  uint32_t source(const Operand &operand, Type type);
  /// The place of a register that is written as `type`. A sink gets a place that nobody reads.
  uint32_t target(const Operand &operand, Type type);
  /// Return the place of a register of any width, as in loads, stores and conversions. The first
  /// also returns the bytes per lane of an operand whose register may be wider than the type.
  uint32_t looseOperand(const Operand &operand, Type type, unsigned &bytes);
  uint32_t anyRegister(const Operand &operand, unsigned &bits);
  uint32_t predicate(const Operand &operand);
  uint32_t constant(unsigned bytes, uint64_t value);
  /// A place for `bytes` per lane.
  uint32_t newPlace(unsigned bytes);
  /// Sets a and imm to the address of `[…]`. Symbols become numbers in their space.
  bool address(const Operand &operand, Space space, Inst &inst);
  /// The number of a symbol: its offset in its space, or its address.
  bool symbolValue(const std::string &name, Space &space, uint64_t &value);
  uint32_t label(const std::string &name);
  uint32_t addList(const std::vector<uint32_t> &places);
  bool decodeWarpBarrier(const Instruction &instruction, Inst &inst);
  const Frame *frameOf(const std::string &function) const;
  const Frame &here() const { return *current; }

  bool fail(const std::string &text);
  bool failed() const { return !message.empty(); }

private:
  void collect(const Function &function);
  void layOut(Frame &frame);
  void placeShared();
  void placeShared(const Operand &operand, bool dynamic);
  bool decode(const Frame &frame);
  bool decodeOne(const Instruction &source, Inst &inst);
  uint32_t special(const std::string &name);
  uint32_t placeVariable(Frame &frame, const Variable &variable, uint32_t &size);

  const Module &module;
  const FindGlobal &globals;
  Program &program;
  std::vector<Frame> frames; ///< frames; the kernel's is the last
  std::vector<const Function *> open;
  Frame *current = nullptr;
  std::map<std::pair<unsigned, uint64_t>, uint32_t> constants;
  std::unordered_map<std::string, uint32_t> specials;
  std::string message;
  unsigned line = 0;
};

using Decode = bool (*)(Decoder &, const Instruction &, Modifiers &, Inst &);
struct Opcode {
  const char *name;
  Decode decode;
  unsigned operands; ///< minimum number of operands
};
/// The opcodes of each file of decoders.
using Opcodes = std::vector<Opcode>;
const Opcodes &integerOpcodes();
const Opcodes &bitOpcodes();
const Opcodes &floatOpcodes();
const Opcodes &compareOpcodes();
const Opcodes &conversionOpcodes();
const Opcodes &memoryOpcodes();
const Opcodes &copyOpcodes();
const Opcodes &atomicOpcodes();
const Opcodes &warpOpcodes();
const Opcodes &controlOpcodes();
const Opcodes &tensorOpcodes();
/// Decode opcodes such as add, sub, mul, which exist for integers and for floats; decoders for
/// floats are tried first.
bool decodeFloat(Decoder &, const Instruction &, Modifiers &, Inst &);

} // namespace reprise::emulator

#endif
