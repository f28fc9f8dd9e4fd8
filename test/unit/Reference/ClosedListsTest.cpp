// reprise: every op of the dialect can be interpreted, but for a closed list
#include "Interpret.h"
#include "reprise/Reference/Reference.h"

#include <set>

using namespace mlir;
using namespace reprise;
using namespace reprise::test;

namespace {

// The interpreter walks into regions itself, autodiff expands value_and_grad, and policies are read
// by the label phase.
const std::set<std::string> walked = {"reprise.block",  "reprise.checkpoint",     "reprise.loop",
                                      "reprise.policy", "reprise.program",        "reprise.return",
                                      "reprise.rule",   "reprise.value_and_grad", "reprise.yield"};

TEST_F(InterpreterTest, everyOpHasAReference) {
  std::set<std::string> without;
  int64_t ops = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "reprise")
      continue;
    ++ops;
    if (!name.hasInterface<ReferenceOpInterface>())
      without.insert(name.getStringRef().str());
  }
  EXPECT_EQ(without, walked);
  EXPECT_GT(ops, 50);
}

} // namespace
