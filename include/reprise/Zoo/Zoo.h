// reprise: complete training steps of well-known models
#ifndef REPRISE_ZOO_ZOO_H
#define REPRISE_ZOO_ZOO_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace reprise::zoo {

enum class Optimizer { Sgd, Momentum, AdamW };

/// The type that contractions, convolutions and attention take their operands in. Parameters, state
/// and all else stay f32 (mixed precision: Micikevicius et al. 2018); with F16 @train scales the
/// loss, by a state that grows while the gradients are finite.
enum class Precision { F32, BF16, F16 };

/// The size of a model and how it trains. What a model has no use for, it ignores.
struct Options {
  int64_t layers = 2;
  int64_t width = 64;
  int64_t heads = 0; ///< 0: max(1, width / 64)
  int64_t vocab = 256;
  int64_t batch = 8;
  int64_t seq = 128;  ///< of images: patches
  int64_t image = 64; ///< height and width
  int64_t classes = 10;
  double dropout = 0.0;
  Optimizer optimizer = Optimizer::Sgd;
  Precision precision = Precision::F32;
  bool checkpointLayers = false; ///< each layer is a reprise.checkpoint, otherwise a reprise.block
  bool loopLayers = false;       ///< the layers are one reprise.loop over stacked parameters

  bool routesSamples = false;    ///< experts have room for each sample, not for the batch
  bool defersStatistics = false; ///< running statistics are those of all micro-batches together

  int64_t numHeads() const { return heads ? heads : std::max<int64_t>(1, width / 64); }
};

/// The names of the models, sorted.
std::vector<std::string> modelNames();

/// The defaults of `model`, one of modelNames().
Options defaultOptions(llvm::StringRef model);

/// What is wrong with the options of `model`; empty if nothing is.
std::string checkOptions(llvm::StringRef model, const Options &options);

/// The module with the entries @train, @grad, @hvp and @forward. `model` is one of modelNames().
mlir::OwningOpRef<mlir::ModuleOp> buildModel(mlir::MLIRContext &context, llvm::StringRef model,
                                             const Options &options);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_ZOO_H
