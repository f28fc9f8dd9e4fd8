// reprise: the workspace of launches, before they are compiled
#include "KernelTable.h"
#include "reprise/Conversion/ExecToBundle.h"
#include "reprise/Dialect/Exec/IR/Storage.h"

using namespace mlir;

namespace reprise {

FailureOr<int64_t> WorkspaceMeter::measure(func::FuncOp step, unsigned threads) {
  Need most;
  KernelTable kernels(step.getContext(), target);
  exec::Positions positions(step.getBody().front());
  for (exec::LaunchOp launch : positions.launches) {
    renumberStreams(launch);
    auto [found, isNew] = needs.try_emplace(printBody(launch));
    Need &need = found->second;
    if (isNew) {
      if (failed(kernels.add(launch)))
        return failure();
      const EmittedLaunch &emitted = kernels.lookup(launch).emitted;
      need.shared = emitted.sharedBytes;
      for (const EmittedCommand &command : emitted.commands)
        need.worker = std::max<int64_t>(need.worker, command.workerBytes);
    }
    most.shared = std::max(most.shared, need.shared);
    most.worker = std::max(most.worker, need.worker);
  }
  return most.shared + int64_t(threads) * most.worker;
}

} // namespace reprise
