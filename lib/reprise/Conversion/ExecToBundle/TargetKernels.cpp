// reprise: the kernels that the devices of one target share in a bundle
#include "TargetKernels.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Loops.h"

using namespace mlir;

namespace reprise {

/// A device may write all iterations out.
static LogicalResult checkCommands(const exec::Positions &positions) {
  constexpr int64_t kMostLaunches = int64_t(1) << 22;
  int64_t launches = 0;
  for (exec::LaunchOp launch : positions.launches) {
    int64_t executions = countExecutions(launch);
    if (executions > kMostLaunches || (launches += executions) > kMostLaunches)
      return launch.emitError("all loops together have more than 2^22 launches");
  }
  return success();
}

SmallVector<std::pair<StringRef, ProgramOp>> listPrograms(const BundlePrograms &device) {
  SmallVector<std::pair<StringRef, ProgramOp>> all = {{"step", device.step},
                                                      {"init_parameters", device.initParameters},
                                                      {"init_inputs", device.initInputs}};
  llvm::erase_if(all, [](const auto &named) { return !named.second; });
  return all;
}

LogicalResult TargetKernels::add(const BundlePrograms &device) {
  for (auto [name, function] : listPrograms(device)) {
    exec::Positions positions(function.getBody().front());
    for (exec::LaunchOp launch : positions.launches)
      if (failed(table.add(launch)))
        return failure();
    if (failed(checkCommands(positions)))
      return failure();
  }
  return success();
}

LogicalResult TargetKernels::addTo(runtime::Bundle &bundle) {
  FailureOr<Image> image = table.compile();
  if (failed(image))
    return failure();
  firstKernel = static_cast<uint32_t>(bundle.kernels.size());
  for (runtime::Kernel &kernel : table.describe(*image)) {
    kernel.image = static_cast<uint32_t>(bundle.images.size());
    bundle.workerWorkspaceBytes = std::max(bundle.workerWorkspaceBytes, kernel.workspaceBytes);
    bundle.kernels.push_back(std::move(kernel));
  }
  if (Contractions kind = target.getCapabilities().contractions; kind != Contractions::Exact)
    bundle.contractions = describe(kind).name;
  bundle.images.push_back({target.getName(), target.getFeatures(), std::move(image->bytes)});
  return success();
}

} // namespace reprise
