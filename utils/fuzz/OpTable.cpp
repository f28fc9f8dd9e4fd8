// reprise: the ops of the dialect by ODS
#include "Ops.h"

const std::vector<reprise::fuzz::OpSpec> &reprise::fuzz::allOps() {
  static const std::vector<OpSpec> table = {
#include "OpTable.inc"
  };
  return table;
}
