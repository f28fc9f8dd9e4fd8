// reprise: the memory/time curve as one self-contained page
#include "Report.h"

namespace reprise {

void printParetoHtml(llvm::raw_ostream &stream, const llvm::json::Object &curve) {
  stream << "<!DOCTYPE html>\n";
}

} // namespace reprise
