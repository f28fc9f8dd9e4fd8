// reprise: runs kernels of a few lines of PTX
#include "TestKernel.h"
#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace reprise::emulator;

std::string reprise::emulator::kernelText(unsigned params, const std::string &body,
                                          const std::string &outside) {
  std::string text =
      ".version 7.8\n.target sm_90\n.address_size 64\n" + outside + "\n.visible .entry k(";
  for (unsigned i = 0; i < params; ++i)
    text += (i ? ", " : "") + (".param .u64 p" + std::to_string(i));
  text += ")\n{\n.reg .b32 %r<40>;\n.reg .b64 %d<40>;\n.reg .b16 %h<40>;\n.reg .f32 %f<40>;\n"
          ".reg .f64 %g<40>;\n.reg .pred %q<40>;\n.reg .b64 %p<9>;\n.reg .b32 %tid, %ctid, %size;\n"
          "mov.u32 %ctid, %ctaid.x;\nmov.u32 %size, %ntid.x;\nmov.u32 %tid, %tid.x;\n"
          "mad.lo.s32 %tid, %ctid, %size, %tid;\n";
  for (unsigned i = 0; i < params; ++i)
    text += "ld.param.u64 %p" + std::to_string(i) + ", [p" + std::to_string(i) + "];\n";
  return text + body + "\nret;\n}\n";
}

uint64_t TestDevice::giveBytes(const void *data, uint64_t bytes) {
  uint64_t address = memory.allocate(0, bytes);
  std::memcpy(reinterpret_cast<void *>(address), data, bytes);
  static const std::vector<uint8_t> ordered(numLaunches, 1);
  writeRange(memory.find(address)->shadow, 0, bytes, {0, ordered.data()});
  return address;
}

FaultReport TestDevice::run(const std::string &ptx, Dim grid, Dim block,
                            std::vector<uint64_t> params, uint32_t dynamicShared) {
  Module module;
  Program program;
  std::string error;
  if (!parsePtx(ptx, module, error))
    return {Fault::Unsupported, error};
  uint64_t globals = 0;
  for (const Variable &variable : module.variables)
    if (variable.space != Space::Shared) {
      std::vector<uint8_t> bytes = variable.initial;
      bytes.resize(variable.bytes);
      globals = give(bytes);
    }
  const Function *kernel = module.find("k");
  if (!kernel || !decodeKernel(module, *kernel, [&](auto &) { return globals; }, program, error))
    return {Fault::Unsupported, kernel ? error : "no kernel k"};
  static const std::vector<uint8_t> ordered(numLaunches, 1);
  Launch launch;
  launch.program = &program;
  launch.memory = &memory;
  launch.grid = grid;
  launch.block = block;
  launch.dynamicShared = dynamicShared;
  launch.params.resize(params.size() * 8);
  for (size_t i = 0; i < params.size(); ++i)
    std::memcpy(&launch.params[8 * i], &params[i], 8);
  launch.number = ++launches;
  launch.ordered = ordered.data();
  launch.order = order;
  runLaunch(launch);
  laneSteps = launch.laneSteps;
  return launch.report;
}

namespace {

std::string registerOf(unsigned bits, unsigned number) {
  const char *prefix = bits == 1 ? "%q" : bits == 16 ? "%h" : bits == 32 ? "%r" : "%d";
  return prefix + std::to_string(number);
}

void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

} // namespace

std::vector<uint64_t>
reprise::emulator::runInstruction(const std::string &text, unsigned resultBits,
                                  std::vector<unsigned> operandBits,
                                  const std::vector<std::vector<uint64_t>> &operands) {
  size_t count = operands[0].size();
  std::string body = "mul.wide.u32 %d30, %tid, 8;\n", instruction = text;
  TestDevice device;
  std::vector<uint64_t> params;
  for (unsigned i = 0; i < operands.size(); ++i) {
    std::string to = registerOf(operandBits[i], 10 + i), number = std::to_string(i);
    body += "add.u64 %d31, %d30, %p" + number + ";\nld.global.b64 %d32, [%d31];\n";
    if (operandBits[i] == 1)
      body += "setp.ne.u64 " + to + ", %d32, 0;\n";
    else
      body += "cvt.u" + std::to_string(operandBits[i]) + ".u64 " + to + ", %d32;\n";
    replaceAll(instruction, std::string("%") + "abcef"[i], to);
    params.push_back(device.give(operands[i]));
  }
  std::string from = registerOf(resultBits, 20);
  replaceAll(instruction, "%d,", from + ",");
  replaceAll(instruction, "%d|", from + "|");
  body += instruction + ";\n";
  if (resultBits == 1)
    body += "selp.u64 %d33, 1, 0, " + from + ";\n";
  else
    body += "cvt.u64.u" + std::to_string(resultBits) + " %d33, " + from + ";\n";
  body +=
      "add.u64 %d31, %d30, %p" + std::to_string(operands.size()) + ";\nst.global.b64 [%d31], %d33;";
  params.push_back(device.reserve(count * 8));
  FaultReport report =
      device.run(kernelText(params.size(), body), {uint32_t(count / 64)}, {64}, params);
  EXPECT_EQ(report.text, "") << text;
  return device.take<uint64_t>(params.back(), count);
}

namespace {

constexpr size_t operandCount = 4096;

/// Mixes operands so that every pair of special values meets: the lists of two seeds walk through
/// them at different rates.
std::vector<uint64_t> mixOperands(const std::vector<uint64_t> &specials, uint64_t mask,
                                  unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> values;
  for (size_t i = 0; i < operandCount; ++i) {
    size_t number = seed % 3 == 0 ? i : seed % 3 == 1 ? i / specials.size() : i * 7 + i / 5;
    values.push_back((i < 2048 ? specials[number % specials.size()] : random()) & mask);
  }
  return values;
}

} // namespace

std::vector<uint64_t> reprise::emulator::integerOperands(unsigned bits, unsigned seed) {
  uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  std::vector<uint64_t> specials = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 255};
  for (unsigned bit : {bits / 2 - 1, bits / 2, bits - 2, bits - 1})
    for (int offset : {-1, 0, 1})
      specials.push_back((1ull << bit % 64) + offset);
  for (uint64_t small : {1, 2, 3, 100})
    specials.push_back(0 - small);
  return mixOperands(specials, mask, seed);
}

std::vector<uint64_t> reprise::emulator::floatOperands(unsigned bits, unsigned seed) {
  unsigned mantissa = bits == 16 ? 10 : bits == 32 ? 23 : 52;
  uint64_t one = 1, sign = one << (bits - 1), infinity = (sign - 1) & ~((one << mantissa) - 1);
  uint64_t unit = ((one << (bits - 2 - mantissa)) - 1) << mantissa;
  std::vector<uint64_t> specials;
  for (uint64_t magnitude :
       {uint64_t(0), one, one << (mantissa - 1), (one << mantissa) - 1, one << mantissa,
        (one << mantissa) + 1, unit - 1, unit, unit + 1, unit + (one << mantissa),
        unit + (uint64_t(3) << (mantissa - 1)), unit + (uint64_t(5) << mantissa) + 77, infinity - 1,
        infinity - (one << mantissa), infinity, infinity + 1, infinity | one << (mantissa - 1)})
    for (uint64_t s : {uint64_t(0), sign})
      specials.push_back(magnitude | s);
  return mixOperands(specials, bits == 64 ? ~0ull : (1ull << bits) - 1, seed);
}

std::vector<uint64_t> reprise::emulator::bfloatOperands(unsigned seed) {
  std::vector<uint64_t> values = floatOperands(32, seed);
  for (uint64_t &value : values)
    value = value >> 16;
  return values;
}
