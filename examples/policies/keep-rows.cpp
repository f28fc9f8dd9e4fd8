// A policy in C++: keeps what works row by row (softmax, norms) and computes the rest again. As a
// dialect plugin it adds the policy to the registry of each context of reprise-opt. Other than a
// plugin in C it needs the headers and the very build of LLVM and Reprise:
//
//   c++ -std=c++17 -fno-rtti -shared -fPIC -I PREFIX/include -I LLVM/include keep-rows.cpp \
//     -o keep-rows.so
//   reprise-opt --load-dialect-plugin=./keep-rows.so --reprise-to="label policies=keep-rows" MODEL
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "reprise/Policy/Policy.h"

using namespace reprise;

static std::optional<Label> keepRows(mlir::Operation *op) {
  bool isByRow = mlir::isa<NormalizationOpInterface>(op);
  return isByRow ? Label::prefer_save : Label::prefer_recompute;
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  auto registerAll = [](mlir::DialectRegistry *registry) {
    registry->addExtension(+[](mlir::MLIRContext *context, RepriseDialect *) {
      PolicyRegistry::of(context).add("keep-rows", "keep what works row by row", keepRows);
    });
  };
  return {MLIR_PLUGIN_API_VERSION, "keep-rows", "1", registerAll};
}
