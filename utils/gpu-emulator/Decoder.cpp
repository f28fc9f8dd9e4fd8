// reprise: from the instructions of a kernel to executable ones
#include "Decoder.h"
#include "Control.h"

#include <algorithm>

using namespace reprise::emulator;

namespace {

uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

const std::unordered_map<std::string, const Opcode *> &allOpcodes() {
  static const auto table = [] {
    std::unordered_map<std::string, const Opcode *> result;
    for (const Opcodes *opcodes :
         {&integerOpcodes(), &bitOpcodes(), &floatOpcodes(), &compareOpcodes(),
          &conversionOpcodes(), &memoryOpcodes(), &copyOpcodes(), &atomicOpcodes(), &warpOpcodes(),
          &controlOpcodes(), &tensorOpcodes()})
      for (const Opcode &opcode : *opcodes)
        result[opcode.name] = &opcode;
    return result;
  }();
  return table;
}

} // namespace

bool reprise::emulator::decodeKernel(const Module &module, const Function &kernel,
                                     const FindGlobal &globals, Program &program,
                                     std::string &error) {
  return Decoder(module, globals, program).run(kernel, error);
}

bool Decoder::run(const Function &kernel, std::string &error) {
  program.name = kernel.name;
  program.maxThreads = kernel.maxThreads;
  collect(kernel);
  for (Frame &frame : frames) {
    frame.start = program.code.size();
    program.code.resize(frame.start + frame.function->body.size() + 1);
    layOut(frame);
  }
  program.entry = frames.back().start;
  placeShared();
  for (Frame &frame : frames)
    if (message.empty()) {
      current = &frame;
      decode(frame);
    }
  error = message.empty() ? "" : "kernel " + kernel.name + ": " + message;
  return message.empty();
}

/// Collects all functions that the kernel calls, and then the kernel. Lanes of the lowest program
/// counter step first, so that lanes in a call are waited for behind it. A function has one frame,
/// so it must not call itself.
void Decoder::collect(const Function &function) {
  if (frameOf(function.name))
    return;
  open.push_back(&function);
  for (const Instruction &inst : function.body)
    for (const Operand &operand : inst.operands)
      if (inst.opcode == "call" && operand.kind == Operand::Kind::Symbol)
        if (const Function *callee = module.find(operand.symbol)) {
          line = inst.line;
          if (std::find(open.begin(), open.end(), callee) != open.end())
            fail("'" + callee->name + "' calls itself");
          else
            collect(*callee);
        }
  open.pop_back();
  frames.emplace_back();
  frames.back().function = &function;
}

uint32_t Decoder::newPlace(unsigned bytes) {
  uint32_t place = roundUp(program.registerBytes, bytes * lanes < 64 ? 4 : 64);
  program.registerBytes = place + bytes * lanes;
  return place;
}

uint32_t Decoder::placeVariable(Frame &frame, const Variable &variable, uint32_t &size) {
  uint32_t offset = roundUp(size, variable.align);
  size = offset + variable.bytes;
  frame.variables[variable.name] = {variable.space, offset};
  return offset;
}

void Decoder::layOut(Frame &frame) {
  const Function &function = *frame.function;
  line = function.line;
  program.registerBytes = roundUp(program.registerBytes, 64);
  for (const Register &reg : function.registers) {
    unsigned bytes = bitsOf(reg.type) / 8;
    uint32_t place = program.registerBytes;
    if (bytes)
      place = newPlace(bytes);
    else
      program.registerBytes += 4;
    frame.registers.push_back(place);
  }
  if (function.isEntry)
    for (const Variable &param : function.params) {
      uint32_t offset = placeVariable(frame, param, program.paramBytes);
      program.params.push_back({offset, uint32_t(param.bytes)});
    }
  else
    frame.returnPlace = newPlace(4);
  // Parameters and results of functions, and of calls, lie in local memory.
  std::vector<Variable> passed(function.results);
  if (!function.isEntry)
    passed.insert(passed.end(), function.params.begin(), function.params.end());
  passed.insert(passed.end(), function.variables.begin(), function.variables.end());
  for (Variable &variable : passed) {
    bool shared = variable.space == Space::Shared;
    if (!shared)
      variable.space = Space::Local;
    placeVariable(frame, variable, shared ? program.sharedBytes : program.localBytes);
  }
  program.localBytes = roundUp(program.localBytes, 16);
}

bool Decoder::decode(const Frame &frame) {
  const auto &body = frame.function->body;
  for (size_t i = 0; i < body.size(); ++i) {
    line = body[i].line;
    Inst &inst = program.code[frame.start + i];
    inst.line = line;
    if (body[i].guard >= 0) {
      inst.guard = frame.registers[body[i].guard];
      inst.guardNegated = body[i].guardNegated;
    }
    if (!decodeOne(body[i], inst))
      return false;
  }
  Inst &last = program.code[frame.start + body.size()];
  last.line = line;
  last.a = frame.returnPlace;
  last.run = frame.function->isEntry ? executeExit : executeReturn;
  return true;
}

bool Decoder::decodeOne(const Instruction &source, Inst &inst) {
  auto found = allOpcodes().find(source.opcode);
  if (found == allOpcodes().end())
    return fail("unknown instruction '" + source.text() + "'");
  if (source.operands.size() < found->second->operands)
    return fail("'" + source.text() + "' with too few operands");
  Modifiers modifiers(source);
  bool known = found->second->decode(*this, source, modifiers, inst);
  if (failed())
    return false;
  if (!known || !modifiers.allTaken() || !inst.run)
    return fail("unknown instruction '" + source.text() + "'");
  return true;
}

bool Decoder::fail(const std::string &text) {
  if (message.empty())
    message = "line " + std::to_string(line) + ": " + text;
  return false;
}

const Frame *Decoder::frameOf(const std::string &function) const {
  for (const Frame &frame : frames)
    if (frame.function->name == function)
      return &frame;
  return nullptr;
}

uint32_t Decoder::label(const std::string &name) {
  auto found = current->function->labels.find(name);
  if (found == current->function->labels.end())
    return fail("no label '" + name + "'");
  return current->start + found->second;
}

uint32_t Decoder::addList(const std::vector<uint32_t> &places) {
  uint32_t start = program.lists.size();
  program.lists.insert(program.lists.end(), places.begin(), places.end());
  return start;
}

bool Modifiers::take(const char *name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (!taken[i] && names[i] == name)
      return taken[i] = true;
  return false;
}

int Modifiers::takeOneOf(std::initializer_list<const char *> candidates) {
  int number = 0;
  for (const char *name : candidates) {
    if (take(name))
      return number;
    ++number;
  }
  return -1;
}

Type Modifiers::takeType() {
  for (size_t i = 0; i < names.size(); ++i)
    if (Type type = typeNamed(names[i]); !taken[i] && type != Type::None) {
      taken[i] = true;
      return type;
    }
  return Type::None;
}

bool Modifiers::allTaken() const {
  return std::find(taken.begin(), taken.end(), false) == taken.end();
}
