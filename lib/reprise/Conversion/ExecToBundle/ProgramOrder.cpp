// reprise: the order of arguments and results of programs that are parts of one step
#include "ProgramOrder.h"

#include "reprise/Dialect/Reprise/IR/EntrySignature.h"
#include "reprise/Support/StableSort.h"

#include <map>

using namespace mlir;

namespace reprise {

std::vector<std::pair<size_t, unsigned>> listArguments(ArrayRef<BundlePrograms> devices) {
  std::vector<std::tuple<int64_t, size_t, unsigned>> all;
  for (auto [number, device] : llvm::enumerate(devices))
    for (unsigned i = 0; i < ProgramOp(device.step).getNumArguments(); ++i)
      all.push_back({EntrySignature(device.step).getArgumentPosition(i), number, i});
  llvm::sort(all);
  std::vector<std::pair<size_t, unsigned>> arguments;
  for (auto [position, number, i] : all)
    arguments.push_back({number, i});
  return arguments;
}

runtime::Rows describeRows(const std::optional<EntrySignature::Rows> &rows) {
  return rows ? runtime::Rows{rows->whole.str(), rows->first, rows->of, rows->dim}
              : runtime::Rows{};
}

void sortResults(runtime::Bundle &bundle, ArrayRef<BundlePrograms> devices) {
  std::map<std::string, int64_t> positions;
  for (BundlePrograms device : devices) {
    EntrySignature signature(device.step);
    for (unsigned i = 0; i < device.step.getNumResults(); ++i)
      if (StringAttr name = signature.getResultName(i))
        positions[name.str()] = signature.getResultPosition(i);
  }
  sortStably(bundle.results, [&](const runtime::Result &a, const runtime::Result &b) {
    return positions[a.name] < positions[b.name];
  });
}

} // namespace reprise
