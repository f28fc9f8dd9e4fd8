// reprise: a parsed PTX module: functions, variables, instructions with typed operands
#ifndef REPRISE_GPU_EMULATOR_PTX_H
#define REPRISE_GPU_EMULATOR_PTX_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace reprise::emulator {

// clang-format off
enum class Type : uint8_t {
  None, B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64,
  F16, F16x2, BF16, BF16x2, TF32, F32, F32x2, F64, Pred
};
// clang-format on
unsigned bitsOf(Type type);
bool isSigned(Type type);
bool isFloat(Type type);
/// Returns the type of a name such as "u32", or None.
Type typeNamed(std::string_view name);

enum class Space : uint8_t { Generic, Global, Const, Shared, Local, Param };

struct Register {
  std::string name;
  Type type;
};

/// A variable of a module or a function, or a parameter.
struct Variable {
  std::string name;
  Space space = Space::Global;
  uint64_t align = 1, bytes = 0;
  bool isExtern = false;
  std::vector<uint8_t> initial; ///< given bytes, from the start
};

struct Operand {
  /// Kind of operand. Special: a register such as %tid.x. Sink: `_`. Pair: `p|q`. Vector: `{a, b}`
  /// or `(a, b)`.
  enum class Kind : uint8_t { Register, Special, Immediate, Symbol, Address, Vector, Pair, Sink };
  Kind kind = Kind::Sink;
  bool negated = false; ///< `!p`
  int reg = -1;         ///< Register, and Address with a register as its base
  uint64_t value = 0;   ///< Immediate: an integer, or the bits of a float
  std::string symbol;   ///< Symbol, Special, and Address with a symbol as its base
  int64_t offset = 0;   ///< Symbol and Address
  std::vector<Operand> elements;
};

struct Instruction {
  std::string opcode;
  std::vector<std::string> modifiers; ///< without dots; includes types
  int guard = -1;                     ///< register of `@p`
  bool guardNegated = false;
  std::vector<Operand> operands;
  unsigned line = 0;

  std::string text() const; ///< opcode and modifiers as written
};

struct Function {
  std::string name;
  bool isEntry = false;
  unsigned line = 0;
  std::vector<Variable> results, params;
  std::vector<Register> registers;
  std::vector<Variable> variables; ///< shared and local variables, and those that calls pass
  std::vector<Instruction> body;
  std::unordered_map<std::string, unsigned> labels;                 ///< numbers of instructions
  std::unordered_map<std::string, std::vector<std::string>> tables; ///< .branchtargets: labels
  unsigned maxThreads = 1024;
};

struct Module {
  std::string version, target;
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions; ///< functions with a body

  const Function *find(const std::string &name) const;
};

/// Parses PTX. Returns false, with an error that begins with "line N: ", if the parser does not
/// support a part of the module.
bool parsePtx(std::string_view text, Module &module, std::string &error);

} // namespace reprise::emulator

#endif
