// reprise: what ODS says about the ops of the dialect
#include "Ops.h"

const std::vector<reprise::fuzz::OpSpec> &reprise::fuzz::allOps() {
  static const std::vector<OpSpec> table = {
#include "OpTable.inc"
  };
  return table;
}
