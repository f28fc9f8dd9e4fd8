// reprise: the types of PTX, and the names in a module
#include "Ptx.h"

using namespace reprise::emulator;

namespace {

struct Name {
  const char *name;
  Type type;
  unsigned bits;
  bool isSigned, isFloat;
};

const Name names[] = {
    {"b8", Type::B8, 8, false, false},       {"b16", Type::B16, 16, false, false},
    {"b32", Type::B32, 32, false, false},    {"b64", Type::B64, 64, false, false},
    {"u8", Type::U8, 8, false, false},       {"u16", Type::U16, 16, false, false},
    {"u32", Type::U32, 32, false, false},    {"u64", Type::U64, 64, false, false},
    {"s8", Type::S8, 8, true, false},        {"s16", Type::S16, 16, true, false},
    {"s32", Type::S32, 32, true, false},     {"s64", Type::S64, 64, true, false},
    {"f16", Type::F16, 16, false, true},     {"f16x2", Type::F16x2, 32, false, true},
    {"bf16", Type::BF16, 16, false, true},   {"bf16x2", Type::BF16x2, 32, false, true},
    {"tf32", Type::TF32, 32, false, true},   {"f32", Type::F32, 32, false, true},
    {"f32x2", Type::F32x2, 64, false, true}, {"f64", Type::F64, 64, false, true},
    {"pred", Type::Pred, 1, false, false}};

const Name *find(Type type) {
  for (const Name &entry : names)
    if (entry.type == type)
      return &entry;
  return nullptr;
}

} // namespace

unsigned reprise::emulator::bitsOf(Type type) { return type == Type::None ? 0 : find(type)->bits; }
bool reprise::emulator::isSigned(Type type) { return type != Type::None && find(type)->isSigned; }
bool reprise::emulator::isFloat(Type type) { return type != Type::None && find(type)->isFloat; }

Type reprise::emulator::typeNamed(std::string_view name) {
  for (const Name &entry : names)
    if (name == entry.name)
      return entry.type;
  return Type::None;
}

std::string Instruction::text() const {
  std::string result = opcode;
  for (const std::string &modifier : modifiers)
    result += "." + modifier;
  return result;
}

const Function *Module::find(const std::string &name) const {
  for (const auto &function : functions)
    if (function->name == name)
      return function.get();
  return nullptr;
}
