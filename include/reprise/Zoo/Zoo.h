// reprise: complete training steps of well-known models
#ifndef REPRISE_ZOO_ZOO_H
#define REPRISE_ZOO_ZOO_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace reprise::zoo {

enum class Optimizer { Sgd, Momentum, AdamW };

/// Type of the operands of contractions, convolutions and attention. Parameters, state and all
/// other values stay f32 (mixed precision: Micikevicius et al. 2018). With F16 @train scales the
/// loss, by a state that grows while the gradients are finite.
enum class Precision { F32, BF16, F16 };

/// Size of a model and options of its training. A model ignores options that do not apply to it.
struct Options {
  int64_t layers = 2;
  int64_t width = 64;
  int64_t heads = 0; ///< 0: max(1, width / 64)
  int64_t vocab = 256;
  int64_t batch = 8;
  int64_t seq = 128;  ///< images: patches
  int64_t image = 64; ///< height and width
  int64_t classes = 10;
  double dropout = 0.0;
  double clipNorm = 0.0; ///< largest norm of all gradients; 0 for no limit
  Optimizer optimizer = Optimizer::Sgd;
  Precision precision = Precision::F32;
  /// Tells whether each layer is a reprise.checkpoint, otherwise a reprise.block.
  bool checkpointLayers = false;
  /// Tells whether the layers are one reprise.loop over stacked parameters.
  bool loopLayers = false;

  /// Tells whether experts have a capacity per sample instead of per batch.
  bool routesSamples = false;
  /// Tells whether running statistics are those of all micro-batches together.
  bool defersStatistics = false;

  int64_t numHeads() const { return heads ? heads : std::max<int64_t>(1, width / 64); }
};

/// Returns the names of the models, sorted.
std::vector<std::string> modelNames();

/// Returns the defaults of `model`, one of modelNames().
Options defaultOptions(llvm::StringRef model);

/// Returns an error about the options of `model`; empty if they are valid.
std::string checkOptions(llvm::StringRef model, const Options &options);

/// Builds the module with the entries @train, @grad, @hvp and @forward. `model` is one of
/// modelNames().
mlir::OwningOpRef<mlir::ModuleOp> buildModel(mlir::MLIRContext &context, llvm::StringRef model,
                                             const Options &options);

} // namespace reprise::zoo

#endif // REPRISE_ZOO_ZOO_H
