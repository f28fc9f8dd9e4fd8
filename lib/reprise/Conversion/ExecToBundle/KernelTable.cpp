// reprise: the kernels of a bundle, one per structurally distinct launch body
#include "KernelTable.h"

#include "reprise/Dialect/Exec/IR/Storage.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "reprise/Dialect/Reprise/IR/Work.h"
#include "reprise/Support/Locations.h"
#include "reprise/Target/GivenNests.h"
#include "reprise/Target/LaunchFacts.h"

#include "llvm/Support/Path.h"

#include <numeric>

using namespace mlir;

namespace reprise {

KernelTable::KernelTable(MLIRContext *context, const Target &target) : target(target) {
  LaunchFacts::loadDialects(*context);
  module = ModuleOp::create(UnknownLoc::get(context));
}

StringRef findMainKernel(const EmittedLaunch &launch) {
  StringRef shortest;
  if (llvm::any_of(launch.commands,
                   [](const EmittedCommand &command) { return !command.function.empty(); }))
    return shortest;
  for (const EmittedCommand &command : launch.commands)
    if (shortest.empty() || command.kernel.size() < shortest.size())
      shortest = command.kernel;
  return shortest;
}

/// Returns the ops of a launch for profiles: ops with arithmetic.
static std::vector<runtime::SourceOp> describeOps(exec::LaunchOp launch) {
  std::vector<runtime::SourceOp> ops;
  for (Operation &op : launch.getBody().front())
    if (auto cost = dyn_cast<CostOpInterface>(op); cost && cost.getFlops() > 0)
      ops.push_back({op.getName().stripDialect().str(), getKindName(&op).str(),
                     getElementTypeName(&op), static_cast<uint64_t>(cost.getFlops()),
                     getSignature(&op)});
  return ops;
}

static int64_t findPlaceAlignment(exec::LaunchOp launch) {
  int64_t alignment = widestAccess;
  for (Value value : llvm::concat<Value>(SmallVector<Value>(launch.getInputs()),
                                         SmallVector<Value>(launch.getResults())))
    for (auto &[loop, bytes] : exec::findStorage(value).rows)
      alignment = std::gcd(alignment, bytes);
  return alignment;
}

/// Returns the label. An op without a scope is named by its line, without folders: a bundle has the
/// same bytes for every place of the model. If no command can fail, its bytes do not depend on
/// lines either.
static std::string labelOf(exec::LaunchOp launch, const Target &target) {
  std::string place = getPlace(launch.getLoc());
  if (!target.getCapabilities().canFail || place.empty() || !getScope(launch.getLoc()).empty())
    return exec::getLabel(launch);
  return exec::getLabel(launch) + " at " + llvm::sys::path::filename(place).str();
}

LogicalResult KernelTable::add(exec::LaunchOp launch) {
  std::vector<uintptr_t> body = describeLaunch(launch);
  int64_t alignment =
      target.getCapabilities().usesPlaceAlignment ? findPlaceAlignment(launch) : widestAccess;
  if (alignment != widestAccess) {
    body.push_back(static_cast<uintptr_t>(alignment));
    launch->setAttr(exec::kPlaceAlignmentAttr,
                    IntegerAttr::get(IntegerType::get(launch.getContext(), 64), alignment));
  }
  auto [found, isNew] = byBody.try_emplace(body);
  if (isNew) {
    if (failed(verifyGivenNests(launch, target)))
      return failure();
    std::string name = exec::getLeaderName(launch).str() + "_" + std::to_string(byBody.size());
    FailureOr<EmittedLaunch> emitted = target.emitLaunch(launch.getBody().front(), name, *module);
    if (failed(emitted))
      return failure();
    found->second = std::move(*emitted);
    addKernels(launch, found->second);
  }
  launches[launch] = {found->second, labelOf(launch, target),
                      SmallVector<int64_t>(launch.getStreams().value_or(ArrayRef<int64_t>()))};
  return success();
}

void KernelTable::addKernels(exec::LaunchOp launch, const EmittedLaunch &emitted) {
  StringRef main = findMainKernel(emitted);
  for (const EmittedCommand &command : emitted.commands) {
    if (!command.function.empty() || !indices.try_emplace(command.kernel, kernels.size()).second)
      continue;
    runtime::Kernel kernel;
    kernel.name = command.kernel;
    kernel.workspaceBytes = command.workerBytes;
    kernel.itemThreads = command.itemThreads;
    kernel.blockThreads = command.blockThreads;
    for (const ChipKernel &own : command.chips)
      kernel.chips.push_back({own.chip, own.kernel, static_cast<uint32_t>(own.itemThreads),
                              static_cast<uint32_t>(own.blockThreads)});
    kernel.launch = main.empty() ? command.kernel : main.str();
    if (command.kernel == main)
      kernel.ops = describeOps(launch);
    kernels.push_back(std::move(kernel));
  }
}

FailureOr<Image> KernelTable::compile() { return target.compileKernels(*module); }

std::vector<runtime::Kernel> KernelTable::describe(const Image &image) const {
  std::vector<runtime::Kernel> described = kernels;
  for (runtime::Kernel &kernel : described)
    kernel.imageOffset = image.symbols.at(kernel.name);
  return described;
}

} // namespace reprise
