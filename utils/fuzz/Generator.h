// reprise: random training programs of the dialect
#ifndef REPRISE_UTILS_FUZZ_GENERATOR_H
#define REPRISE_UTILS_FUZZ_GENERATOR_H

#include "Values.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <set>

namespace reprise::fuzz {

/// Op and examples of valid types for it.
struct Known {
  const OpSpec *spec;
  std::vector<Template> examples;
};

/// Ingredients of programs.
struct Repertoire {
  std::vector<Known> ops;           ///< all ops except control flow
  std::set<std::string> without;    ///< ops to leave out
  std::vector<std::string> unknown; ///< ops without an example
};

/// Learns all ops except `without`.
Repertoire learnOps(mlir::MLIRContext *context, std::set<std::string> without);

/// Returns the ops that the program of a seed prefers. Neighbouring seeds prefer different ones,
/// and all get their turn.
std::vector<const Known *> favouritesOf(const Repertoire &repertoire, uint64_t seed);

/// A value that is read through views.
struct Memory {
  mlir::Operation *maker;
  llvm::SmallVector<mlir::Operation *> views; ///< views, and names, whose labels are the memory's
};

/// Returns the op whose memory a chain of views and names shows; null for arguments, which have
/// none.
mlir::Operation *findMaker(mlir::Operation *op);

/// Body that a gradient differentiates.
struct Body {
  mlir::Block *block = nullptr;
  llvm::SmallVector<int64_t> losses, wrt; ///< results and arguments
};

/// A function that calls and gradients can name.
struct Function {
  mlir::func::FuncOp function;
  Body body;
};

/// Makes one program with the entry @train.
class Generator {
public:
  /// Most sizes are multiples of `granule`.
  Generator(mlir::MLIRContext *context, const Repertoire &repertoire, uint64_t seed,
            int64_t granule = 1);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  // Ops (Generator.cpp).
  void emitItems(int64_t count);
  bool emitItem();
  bool emitOp();
  void emitPause();
  bool fits(Template &candidate);
  llvm::SmallVector<mlir::Value> operandsOf(const Template &candidate);
  mlir::func::FuncOp addFunction(llvm::StringRef name, mlir::TypeRange inputs);
  void nameArguments();
  void returnResults();
  void labelOps();
  void addPolicy();

  // Values that are read through views (Memories.cpp).
  bool emitViewed();
  void labelMemories();

  // Regions and functions (Regions.cpp).
  bool emitNested(int percentLoops);
  bool emitRegion();
  bool emitRule();
  bool emitLoop();
  llvm::SmallVector<mlir::Type> emitLoopBody(mlir::Block *block, size_t carries);
  bool emitGradient();
  bool emitCall();
  void emitBody(Body &body);
  Function makeFunction(mlir::TypeRange inputs);

  mlir::MLIRContext *context;
  const Repertoire &repertoire;
  Judge judge;
  Random random;
  mlir::ImplicitLocOpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp entry;
  Values values;
  std::vector<const Known *> favourites;
  llvm::DenseSet<mlir::Value> lateInputs; ///< arguments that only the pause reads
  std::vector<Function> functions;
  std::vector<Memory> memories;
  int gradients = 0, gradientDepth = 0, depth = 0, functionCount = 0;
};

} // namespace reprise::fuzz

#endif
