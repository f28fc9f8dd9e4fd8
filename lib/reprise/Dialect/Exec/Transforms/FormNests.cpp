// reprise: shows the launches of device programs as loop nests.
#include "reprise/Dialect/Exec/Transforms/Passes.h"

#include "reprise/Dialect/Exec/IR/Attributes.h"
#include "reprise/Target/LaunchFacts.h"

using namespace mlir;

namespace reprise::exec {
#define GEN_PASS_DEF_FORMNESTSPASS
#include "reprise/Dialect/Exec/Transforms/Passes.h.inc"

namespace {

struct FormNestsPass : impl::FormNestsPassBase<FormNestsPass> {
  using FormNestsPassBase::FormNestsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    LaunchFacts::addDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::shared_ptr<const Target> target;
    if (failed(Target::get(targetName, module.getLoc(), target)))
      return signalPassFailure();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    std::map<std::vector<uintptr_t>, FlatSymbolRefAttr> known;
    module.walk([&](LaunchOp launch) {
      if (launch->hasAttr(kNestsAttr))
        return;
      Block &body = launch.getBody().front();
      auto [found, isNew] = known.try_emplace(describeBody(body));
      std::string name = getLeaderName(launch).str() + "_" + std::to_string(known.size());
      if (OwningOpRef<Operation *> nests = isNew ? target->formNests(body, name) : nullptr) {
        b.insert(nests.release());
        found->second = FlatSymbolRefAttr::get(&getContext(), name);
      }
      if (found->second)
        launch->setAttr(kNestsAttr, found->second);
      SmallVector<int64_t> inPlace;
      for (auto [result, input] : target->findInPlacePairs(body))
        inPlace.append({result, input});
      if (!inPlace.empty())
        launch->setAttr(kInPlaceAttr, b.getDenseI64ArrayAttr(inPlace));
    });
  }
};

} // namespace
} // namespace reprise::exec
