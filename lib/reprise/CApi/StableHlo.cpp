// reprise: models of StableHLO through the C API
#include "Handles.h"

#include "mlir/Pass/PassManager.h"
#include "reprise/StableHlo/Passes.h"
#include "reprise/Support/Parsing.h"

using namespace mlir;
using namespace reprise::capi;

reprise_error *reprise_module_import_stablehlo(reprise_session *session, const void *data,
                                               size_t size, const char *name, size_t parameters,
                                               reprise_module **module) {
  if (reprise_error *error = refuseNull(
          {{"session", session}, {"data", data, size}, {"name", name}, {"module", module}}))
    return error;
  SessionState &state = *session->state;
  state.begin();
  auto buffer =
      llvm::MemoryBuffer::getMemBufferCopy(StringRef(static_cast<const char *>(data), size), name);
  auto sources = std::make_shared<llvm::SourceMgr>();
  OwningOpRef<ModuleOp> parsed =
      reprise::parseTrustedModel(std::move(buffer), state.context, sources);
  if (!parsed)
    return state.fail();
  PassManager passes(&state.context);
  reprise::stablehlo::ImportStableHloPassOptions options;
  options.parameters = static_cast<int64_t>(parameters);
  passes.addPass(reprise::stablehlo::createImportStableHloPass(options));
  if (failed(passes.run(*parsed)))
    return state.fail();
  reprise_module *made = wrapModule(session->state, std::move(parsed));
  if (!made)
    return state.fail();
  *module = made;
  return nullptr;
}
