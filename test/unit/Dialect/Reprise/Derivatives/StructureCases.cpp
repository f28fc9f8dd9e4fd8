// reprise: the derivatives of ops that leave values as they are
#include "DerivativeCases.h"

namespace reprise::test {

void addStructureCases(std::vector<DerivativeCase> &cases) {
  cases.push_back({"custom_vjp",
                   "customVjp",
                   {{"4x"}, {"4x"}},
                   R"(
    %p = reprise.mul %x0, %x1 : tensor<4x$t>
    %r0 = reprise.custom_vjp %p wrt %x0, %x1 {
    ^bb0(%d: tensor<4x$t>):
      %d0 = reprise.mul %d, %x1 : tensor<4x$t>
      %d1 = reprise.mul %d, %x0 : tensor<4x$t>
      reprise.yield %d0, %d1 : tensor<4x$t>, tensor<4x$t>
    } : tensor<4x$t> wrt tensor<4x$t>, tensor<4x$t> -> tensor<4x$t>)",
                   {{"4x"}}});
  cases.push_back(
      {"name", "name", {{"4x"}}, "%r0 = reprise.name %x0 \"it\" : tensor<4x$t>", {{"4x"}}});
  cases.push_back(
      {"offload", "offload", {{"4x"}}, "%r0 = reprise.offload %x0 : tensor<4x$t>", {{"4x"}}});
}

} // namespace reprise::test
