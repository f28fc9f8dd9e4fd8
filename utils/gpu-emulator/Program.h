// reprise: an executable kernel: an array of decoded instructions
#ifndef REPRISE_GPU_EMULATOR_PROGRAM_H
#define REPRISE_GPU_EMULATOR_PROGRAM_H

#include "Ptx.h"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace reprise::emulator {

constexpr unsigned lanes = 32;
constexpr uint32_t allLanes = ~0u;
constexpr uint32_t noGuard = ~0u;

struct Warp;
struct Inst;
using Handler = void (*)(Warp &, const Inst &);

/// Flag of Inst::flags: the address of shared, local or parameter memory is a register of 32 bits.
constexpr uint16_t narrowAddress = 1 << 15;

/// Instruction. d, a, b, c are places of registers in a warp's file, in bytes; the decoder of the
/// opcode defines their further meaning.
struct Inst {
  Handler run = nullptr;
  uint32_t guard = noGuard;
  bool guardNegated = false;
  uint8_t count = 1; ///< elements of a vector
  uint16_t flags = 0;
  uint32_t d = 0, a = 0, b = 0, c = 0;
  uint32_t list = 0; ///< index in Program::lists of further places
  uint32_t line = 0;
  int64_t imm = 0;
};

/// Registers that are filled before a kernel starts.
// clang-format off
enum class Special : uint8_t {
  TidX, TidY, TidZ, NtidX, NtidY, NtidZ, CtaidX, CtaidY, CtaidZ, NctaidX, NctaidY, NctaidZ,
  LaneId, WarpId, NwarpId, SmId, NsmId, GridId, LaneMaskEq, LaneMaskLt, LaneMaskLe, LaneMaskGt,
  LaneMaskGe, DynamicSharedBytes, TotalSharedBytes
};
// clang-format on

struct SpecialRegister {
  Special special;
  uint32_t place; ///< 32 words
};

struct ConstantRegister {
  uint32_t place;
  uint8_t bytes; ///< bytes of a lane: 2, 4 or 8; 1 for a predicate
  uint64_t value;
};

struct Parameter {
  uint32_t offset, bytes;
};

struct Program {
  std::string name;
  std::vector<Inst> code;
  uint32_t entry = 0; ///< begin of the kernel; functions that it calls stand before it
  std::vector<uint32_t> lists;
  std::vector<SpecialRegister> specials;
  std::vector<ConstantRegister> constants;
  std::vector<Parameter> params;
  uint32_t registerBytes = 0; ///< bytes of a warp's file
  uint32_t paramBytes = 0, sharedBytes = 0, localBytes = 0;
  uint32_t dynamicAlign =
      1; ///< dynamic shared memory begins at the next multiple behind sharedBytes
  uint32_t maxThreads = 1024;
};

/// Function that finds the address of a variable of the module in device memory; 0 if there is
/// none.
using FindGlobal = std::function<uint64_t(const std::string &)>;

/// Decodes a kernel. Returns false, with an error that begins with "kernel NAME: line N: ", if the
/// decoder does not support a part.
bool decodeKernel(const Module &module, const Function &kernel, const FindGlobal &globals,
                  Program &program, std::string &error);

} // namespace reprise::emulator

#endif
