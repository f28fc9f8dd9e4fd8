// reprise: modules of the C API, and the MLIR behind them
#include "Handles.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/Verifier.h"
#include "reprise-c/ReprisePrivateMlir.h"
#include "reprise/Runtime/FileKind.h"
#include "reprise/Support/Parsing.h"

using namespace mlir;
using namespace reprise;
using namespace reprise::capi;

reprise_module *reprise::capi::wrapModule(const SessionPtr &session, OwningOpRef<ModuleOp> module) {
  if (!module || failed(verify(*module)))
    return nullptr;
  return new reprise_module{session, std::move(module), ""};
}

reprise_error *reprise_module_parse(reprise_session *session, const void *data, size_t size,
                                    const char *name, reprise_module **module) {
  if (reprise_error *error = refuseNull(
          {{"session", session}, {"data", data, size}, {"name", name}, {"module", module}}))
    return error;
  SessionState &state = *session->state;
  state.begin();
  StringRef bytes(static_cast<const char *>(data), size);
  if (std::string wrong = runtime::findMisplaced(name, bytes, runtime::FileKind::Model);
      !wrong.empty())
    return state.fail(wrong);
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes, name);
  auto sources = std::make_shared<llvm::SourceMgr>();
  reprise_module *made = wrapModule(
      session->state, reprise::parseTrustedModel(std::move(buffer), state.context, sources));
  if (!made)
    return state.fail();
  *module = made;
  return nullptr;
}

void reprise_module_destroy(reprise_module *module) { delete module; }

reprise_error *reprise_module_verify(reprise_module *module) {
  if (reprise_error *error = refuseNull({{"module", module}}))
    return error;
  module->session->begin();
  return failed(verify(*module->module)) ? module->session->fail() : nullptr;
}

const char *reprise_module_text(reprise_module *module) {
  if (!module)
    return "";
  module->text.clear();
  llvm::raw_string_ostream stream(module->text);
  module->module->print(stream, OpPrintingFlags().enableDebugInfo());
  return module->text.c_str();
}

MlirContext reprise_private_mlir_context(reprise_session *session) {
  return wrap(session ? &session->state->context : nullptr);
}

MlirModule reprise_private_mlir_module(reprise_module *module) {
  return wrap(module ? *module->module : ModuleOp());
}

reprise_error *reprise_private_mlir_take(reprise_session *session, MlirModule mlir,
                                         reprise_module **module) {
  if (reprise_error *error =
          refuseNull({{"session", session}, {"mlir", mlir.ptr}, {"module", module}}))
    return error;
  SessionState &state = *session->state;
  state.begin();
  ModuleOp own = unwrap(mlir);
  if (own.getContext() != &state.context)
    return state.fail("the module belongs to another session", REPRISE_BAD_USAGE);
  if (failed(verify(own)))
    return state.fail();
  *module = new reprise_module{session->state, OwningOpRef<ModuleOp>(own), ""};
  return nullptr;
}
