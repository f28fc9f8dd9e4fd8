// reprise: runs one op as a group of its own, written without its types
#ifndef REPRISE_TEST_UNIT_CONVERSION_CPU_NESTOPHARNESS_H
#define REPRISE_TEST_UNIT_CONVERSION_CPU_NESTOPHARNESS_H

#include "NestHarness.h"

namespace reprise::test {

using Strings = std::vector<std::string>;

inline const Strings elements = {"f32", "f64", "bf16", "f16", "i32", "i64", "i1"};

struct LoopOpHarness : LoopHarness {
  /// Replaces every T by an element type.
  static std::string with(const std::string &text, const std::string &element) {
    return fill(text, "T", element);
  }

  /// Checks an op that is written without types: `op` uses %a, %b, … of the types `operands`.
  void one(const std::string &op, const Strings &operands, const std::string &result) {
    std::string arguments, name = "a";
    for (const std::string &operand : operands) {
      arguments += (arguments.empty() ? "%" : ", %") + name + ": " + operand;
      ++name[0];
    }
    check("func.func @f(" + arguments + ") -> " + result + " {\n  %r = reprise." + op +
          "\n  return %r : " + result + "\n}");
  }
};

} // namespace reprise::test

#endif // REPRISE_TEST_UNIT_CONVERSION_CPU_NESTOPHARNESS_H
