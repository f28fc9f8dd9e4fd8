// reprise: what a model says of itself, and the entries that training makes of it
#ifndef REPRISE_ZOO_MODEL_H
#define REPRISE_ZOO_MODEL_H

#include "GraphBuilder.h"
#include "reprise/Zoo/Zoo.h"
#include "llvm/ADT/StringMap.h"

namespace reprise::zoo {

/// An argument: an input or a parameter.
struct Tensor {
  std::string name;
  mlir::RankedTensorType type;
  mlir::Attribute init;
};

/// Values of the arguments by name.
using Values = llvm::StringMap<mlir::Value>;

struct Model {
  std::vector<Tensor> inputs; ///< the first dimension is the batch; the last input holds the labels
  std::vector<Tensor> parameters;
  /// The logits; dropout only at a rate.
  std::function<mlir::Value(GraphBuilder &, const Values &, double dropout)> logits;
};

/// Collects the arguments of a model.
class ModelBuilder {
public:
  ModelBuilder(mlir::MLIRContext &context) : builder(&context) {}

  void tokens(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, int64_t count);
  void input(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  void normal(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape, double std);
  void fill(const llvm::Twine &name, llvm::ArrayRef<int64_t> shape, double value);

  Model model;

private:
  mlir::Builder builder;
};

Model buildMlp(mlir::MLIRContext &context, const Options &options);
Model buildGpt2(mlir::MLIRContext &context, const Options &options);

/// Adds @loss, @train, @grad, @hvp and @forward.
void addEntries(mlir::ModuleOp module, const Model &model, const Options &options);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_MODEL_H
