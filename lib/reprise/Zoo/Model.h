// reprise: the description of a model, and the entries for training it
#ifndef REPRISE_ZOO_MODEL_H
#define REPRISE_ZOO_MODEL_H

#include "GraphBuilder.h"
#include "reprise/Zoo/Zoo.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace reprise::zoo {

/// Argument: an input, a parameter or a state.
struct Tensor {
  std::string name;
  mlir::RankedTensorType type;
  mlir::Attribute init;
};

enum class Role { Input, Parameter, State };

/// Values of the arguments by name.
using Values = llvm::StringMap<mlir::Value>;
/// Results by name, in order.
using NamedValues = std::vector<std::pair<std::string, mlir::Value>>;

/// Forward pass under construction. Parameters are declared where they are used: a first pass
/// collects them as a model's arguments, later passes look them up.
class Forward {
public:
  Forward(mlir::OpBuilder builder, const Options &options, Values &values)
      : g(builder), loopLayers(options.loopLayers), defersStatistics(options.defersStatistics),
        checkpointLayers(options.checkpointLayers), values(values) {
    if (options.precision != Precision::F32)
      g.contracted = options.precision == Precision::F16 ? mlir::Type(g.b.getF16Type())
                                                         : mlir::Type(g.b.getBF16Type());
  }

  mlir::Value input(llvm::StringRef name) const { return values.lookup(name); }
  mlir::Value parameter(const std::string &name, llvm::ArrayRef<int64_t> shape,
                        mlir::Attribute init) {
    return use(Role::Parameter, name, shape, init);
  }
  mlir::Value state(const std::string &name, llvm::ArrayRef<int64_t> shape, mlir::Attribute init) {
    return use(Role::State, name, shape, init);
  }
  mlir::Value drop(mlir::Value x) { return g.dropout(x, dropout); }
  /// Builds one layer: a block or, if requested, a checkpoint around `body`.
  mlir::Value layer(const llvm::Twine &name, llvm::function_ref<mlir::Value()> body);

  /// Batch statistic that a step blends into a running statistic.
  struct Statistic {
    std::string state;
    mlir::Value batch;
  };

  GraphBuilder g;
  const bool loopLayers, defersStatistics;
  mlir::Block *loopBody = nullptr; ///< body in which parameters have one row per iteration
  /// Statistics are those of the batch; otherwise the running ones.
  bool isTraining = false;
  double dropout = 0.0;
  std::vector<Statistic> statistics;  ///< statistics of a training pass
  std::vector<mlir::Value> penalties; ///< scalars that are added to the loss
  /// Adds an argument, in the pass that collects the arguments.
  std::function<mlir::Value(Role, const Tensor &)> declare;

private:
  mlir::Value use(Role role, const std::string &name, llvm::ArrayRef<int64_t> shape,
                  mlir::Attribute init);

  bool checkpointLayers;
  Values &values;
};

struct Model {
  std::vector<Tensor> inputs; ///< the first dimension is the batch; the last input holds the labels
  std::vector<Tensor> parameters;
  std::vector<Tensor> states; ///< running statistics
  std::function<mlir::Value(Forward &)> logits;
  /// The scalar loss of the logits; if empty, the mean of the cross-entropy with the labels.
  std::function<mlir::Value(Forward &, mlir::Value)> loss;
};

/// Builds the arguments of a model.
class ModelBuilder {
public:
  ModelBuilder(mlir::MLIRContext &context) : g(mlir::OpBuilder(&context)) {}

  /// Adds an i32 input in [low, high).
  void integers(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, int64_t low, int64_t high);
  void tokens(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, int64_t count) {
    integers(name, shape, 0, count);
  }
  void input(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  /// Samples of tokens, each with the next one as its label.
  void addText(const Options &options);
  void addImages(const Options &options);

  Model model;

private:
  GraphBuilder g;
};

Model buildBert(mlir::MLIRContext &context, const Options &options);
Model buildGpt2(mlir::MLIRContext &context, const Options &options);
Model buildLlama(mlir::MLIRContext &context, const Options &options);
Model buildLstm(mlir::MLIRContext &context, const Options &options);
Model buildMlp(mlir::MLIRContext &context, const Options &options);
Model buildMoe(mlir::MLIRContext &context, const Options &options);
Model buildResnet18(mlir::MLIRContext &context, const Options &options);
Model buildResnet50(mlir::MLIRContext &context, const Options &options);
Model buildUnet(mlir::MLIRContext &context, const Options &options);
Model buildVit(mlir::MLIRContext &context, const Options &options);

/// Adds @loss, @train, @grad, @hvp and @forward.
void addEntries(mlir::ModuleOp module, const Model &model, const Options &options);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_MODEL_H
