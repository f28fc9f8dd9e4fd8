// reprise: random training programs of the dialect
#ifndef REPRISE_UTILS_FUZZ_GENERATOR_H
#define REPRISE_UTILS_FUZZ_GENERATOR_H

#include "Template.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/DenseSet.h"
#include <set>

namespace reprise::fuzz {

/// An op and examples of what it accepts.
struct Known {
  const OpSpec *spec;
  std::vector<Template> examples;
};

/// What programs are made of.
struct Repertoire {
  std::vector<Known> ops;           ///< all that are not control flow
  std::set<std::string> without;    ///< ops to leave out
  std::vector<std::string> unknown; ///< ops that no example was found of
};

/// Learns all ops but for those `without`.
Repertoire learnOps(mlir::MLIRContext *context, std::set<std::string> without);

/// The ops that the program of a seed holds rather than others. Neighbouring seeds favour different
/// ones, and all get their turn.
std::vector<const Known *> favouritesOf(const Repertoire &repertoire, uint64_t seed);

/// Makes one program with the entry @train.
class Generator {
public:
  Generator(mlir::MLIRContext *context, const Repertoire &repertoire, uint64_t seed);
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  // Operands (Operands.cpp).
  int64_t makeSize();
  mlir::RankedTensorType makeType();
  mlir::Value obtain(mlir::RankedTensorType type, bool mayBeActive = true);
  mlir::Value fresh(mlir::RankedTensorType type);
  mlir::Value freshArgument(mlir::RankedTensorType type);
  mlir::Value freshConstant(mlir::RankedTensorType type);
  mlir::Value adapt(mlir::Value value, mlir::RankedTensorType type);
  mlir::Value resize(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value sumAll(mlir::Value value);
  mlir::Value pickFloat();
  Template resized(Template example);

  // Ops (Generator.cpp).
  void emitItems(int64_t count);
  bool emitItem();
  bool emitOp();
  void emitPause();
  bool fits(Template &candidate);
  llvm::SmallVector<mlir::Value> operandsOf(const Template &candidate);
  void add(mlir::Operation *op, bool active);
  bool isActive(mlir::Value value) const { return active.contains(value); }
  mlir::func::FuncOp addFunction(llvm::StringRef name, mlir::TypeRange inputs);
  void nameArguments();
  void returnResults();
  void labelOps();
  Label chooseLabel(mlir::Operation *op, llvm::DenseMap<mlir::Operation *, Label> &musts,
                    int saved);
  void addPolicy();

  // Values that are read through views (Memories.cpp).
  struct Memory {
    mlir::Operation *maker;
    llvm::SmallVector<mlir::Operation *> views; ///< and names, whose labels are the memory's
  };
  mlir::Value showIn(mlir::Value value);
  bool emitViewed();
  void labelMemories();
  static mlir::Operation *findMaker(mlir::Operation *op);

  // Regions and functions (Regions.cpp).
  struct Body {
    mlir::Block *block = nullptr;
    llvm::SmallVector<int64_t> losses, wrt; ///< results and arguments
  };
  bool emitNested(int percentLoops);
  bool emitRegion();
  bool emitRule();
  bool emitLoop();
  llvm::SmallVector<mlir::Type> emitLoopBody(mlir::Block *block, size_t carries);
  bool emitGradient();
  bool emitCall();
  void emitBody(Body &body);
  llvm::SmallVector<mlir::Value> chooseResults(size_t begin, int64_t count);
  llvm::SmallVector<mlir::Value> chooseInputs();
  void entangle(size_t begin);
  mlir::Value makeLoss(size_t begin);
  ValueAndGradOp createGradient(mlir::ValueRange inputs, const Body &body,
                                mlir::FlatSymbolRefAttr callee);
  struct Function {
    mlir::func::FuncOp function;
    Body body;
  };
  Function makeFunction(mlir::TypeRange inputs);

  mlir::MLIRContext *context;
  const Repertoire &repertoire;
  Judge judge;
  Random random;
  mlir::ImplicitLocOpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp entry;

  std::vector<const Known *> favourites;
  llvm::SmallVector<int64_t> sizes;
  mlir::Type mainFloat;
  std::vector<mlir::Value> pool;          ///< all values that may be used here
  llvm::DenseSet<mlir::Value> active;     ///< they depend on what an enclosing gradient asks for
  llvm::DenseSet<mlir::Value> lateInputs; ///< arguments that the pause alone reads
  std::vector<Function> functions;
  std::vector<Memory> memories;
  bool isolated = false; ///< in a function other than the entry
  int gradients = 0, gradientDepth = 0, depth = 0, functionCount = 0;
};

} // namespace reprise::fuzz

#endif
