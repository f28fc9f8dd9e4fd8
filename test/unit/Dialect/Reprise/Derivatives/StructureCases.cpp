// reprise: derivatives of ops that do not change values
#include "DerivativeCases.h"

namespace reprise::test {

void addStructureCases(std::vector<DerivativeCase> &cases) {
  cases.push_back({"custom_vjp",
                   "customVjp",
                   {{"4x"}, {"4x"}},
                   R"(
    %p = reprise.mul %x0, %x1 : tensor<4x$t>
    %r0 = reprise.custom_vjp %p wrt %x0, %x1 {
    ^bb0(%c: tensor<4x$t>):
      %c0 = reprise.mul %c, %x1 : tensor<4x$t>
      %c1 = reprise.mul %c, %x0 : tensor<4x$t>
      reprise.yield %c0, %c1 : tensor<4x$t>, tensor<4x$t>
    } : tensor<4x$t> wrt tensor<4x$t>, tensor<4x$t> -> tensor<4x$t>)",
                   {{"4x"}}});
  cases.push_back(
      {"name", "name", {{"4x"}}, "%r0 = reprise.name %x0 \"it\" : tensor<4x$t>", {{"4x"}}});
  cases.push_back(
      {"offload", "offload", {{"4x"}}, "%r0 = reprise.offload %x0 : tensor<4x$t>", {{"4x"}}});
}

} // namespace reprise::test
