// reprise: what the programs of one target share
#ifndef REPRISE_COMPILER_TARGETCONTEXTS_H
#define REPRISE_COMPILER_TARGETCONTEXTS_H

#include "mlir/IR/BuiltinOps.h"
#include "reprise/Compiler.h"
#include "reprise/Costs/CostModel.h"
#include "reprise/Target/LaunchFacts.h"

#include <map>

namespace reprise {

/// Common data of the programs of one target.
struct TargetContext {
  CompileOptions options; ///< options with that target, and the device file
  std::shared_ptr<LaunchFacts> facts;
  std::shared_ptr<const CostModel> costs;
};

/// Contexts of the devices of a compilation. Devices of one target and device file share one.
class TargetContexts {
public:
  /// Both must outlive the contexts.
  TargetContexts(mlir::ModuleOp module, const CompileOptions &options)
      : module(module), options(options) {}

  /// Returns the context of a device. Errors: no such target, no readable device file.
  mlir::FailureOr<TargetContext *> load(int64_t device);
  /// Returns whether a loaded device file says how much memory its device has.
  bool haveMemory() const;

private:
  mlir::ModuleOp module;
  const CompileOptions &options;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<TargetContext>> contexts;
};

} // namespace reprise

#endif // REPRISE_COMPILER_TARGETCONTEXTS_H
