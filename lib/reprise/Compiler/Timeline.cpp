// reprise: the arena over the step: which buffer lies where, from which launch to which
#include "Report.h"

#include "reprise/Dialect/Exec/IR/Exec.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Support/ByteSize.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

namespace reprise {

Array describeTimeline(func::FuncOp step) {
  DenseMap<Operation *, int64_t> position;
  for (auto launch : step.getOps<exec::LaunchOp>())
    position[launch] = position.size();
  int64_t end = position.size();
  Array buffers;
  for (auto launch : step.getOps<exec::LaunchOp>())
    for (OpResult result : launch->getResults()) {
      if ((*launch.getArguments())[result.getResultNumber()] >= 0)
        continue;
      int64_t last = position[launch];
      for (Operation *user : result.getUsers())
        last = std::max(last, isa<exec::LaunchOp>(user) ? position[user] : end);
      buffers.push_back(Object{{"name", exec::getLabel(launch)},
                               {"first", position[launch]},
                               {"last", last},
                               {"offset", (*launch.getOffsets())[result.getResultNumber()]},
                               {"bytes", getByteSize(result.getType())}});
    }
  return buffers;
}

} // namespace reprise
