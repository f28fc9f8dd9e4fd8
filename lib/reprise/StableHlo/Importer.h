// reprise: from StableHLO's ops to ours, one function at a time
#ifndef REPRISE_LIB_STABLEHLO_IMPORTER_H
#define REPRISE_LIB_STABLEHLO_IMPORTER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "reprise/Dialect/Reprise/IR/Reprise.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <vector>

namespace reprise::stablehlo {

using Builder = mlir::ImplicitLocOpBuilder;
using Values = llvm::SmallVector<mlir::Value>;
using Integers = llvm::SmallVector<int64_t>;

class Importer;
struct LoopBody;

/// One op of the source, its operands already imported.
class Source {
public:
  Source(Importer &importer, mlir::Operation *op, Values operands)
      : importer(importer), op(op), operands(std::move(operands)) {}

  Importer &importer;
  mlir::Operation *op;
  Values operands;

  Builder &b();
  /// The type of a result in our dialect. Its unsigned integers are signed ones of equal bits.
  mlir::RankedTensorType type(unsigned result = 0);
  mlir::RankedTensorType operandType(unsigned i) {
    return llvm::cast<mlir::RankedTensorType>(operands[i].getType());
  }
  /// Whether it holds an unsigned integer as a signed one of equal bits; one of 8 or 16 bits is
  /// held as its number.
  bool isUnsigned(unsigned operand);
  /// The name without its dialect.
  llvm::StringRef name() { return op->getName().getStringRef().split('.').second; }

  /// Integers or booleans of an attribute, as an array or as a dense one; empty if it is not there.
  Integers integers(llvm::StringRef name) { return integers(op->getAttr(name)); }
  static Integers integers(mlir::Attribute attribute);
  /// Of a dictionary in an attribute, such as dimension numbers.
  Integers integers(llvm::StringRef name, llvm::StringRef field);
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  std::string word(llvm::StringRef name);

  /// Whether all numbers are dimensions of a tensor of `rank`, each at most once.
  static bool areDims(llvm::ArrayRef<int64_t> dims, int64_t rank);

  /// Notes why the op cannot be imported; its results become zeros.
  Values refuse(const llvm::Twine &why);
};

/// How ops of a name are imported. Other numbers of operands and regions than these are refused.
struct Handler {
  Values (*import)(Source &) = nullptr;
  int operands = kAny; ///< or at least one
  int regions = 0;     ///< of one block each

  static constexpr int kAny = -1;
};
using Handlers = llvm::StringMap<Handler>;

/// Imports function bodies by running through them: calls are replaced by what they call, so that
/// counters and starts are seen as the constants that they are.
class Importer {
public:
  Importer(mlir::ModuleOp module, const Handlers &handlers)
      : b(module.getLoc(), module.getContext()), symbols(module), handlers(handlers) {}

  /// A function of our dialect with the body of `function`, before it.
  mlir::func::FuncOp importFunction(mlir::func::FuncOp function, llvm::StringRef name);

  /// Imports the ops of a block, its arguments being mapped; returns what its terminator reads.
  Values importBlock(mlir::Block &block);
  /// The same for a region of a source op, with values for its arguments.
  Values importRegion(mlir::Region &region, mlir::ValueRange arguments);

  /// Imports the body of a function that `caller` calls; refuses one that is being imported.
  Values importCallee(mlir::Operation *caller, mlir::func::FuncOp callee, Values arguments);
  /// The one function that a list of symbols names; null if there is none.
  mlir::func::FuncOp findCallee(mlir::ArrayAttr names);

  /// The type of ours; null if there is none.
  mlir::RankedTensorType convert(mlir::Type type);
  void refuse(mlir::Operation *op, const llvm::Twine &why);
  /// One error that lists all that was refused; nothing was refused: success.
  mlir::LogicalResult report(mlir::ModuleOp module);

  Builder b;
  mlir::IRMapping values;
  std::vector<mlir::Region *> openRegions; ///< regions that are built apart, the innermost last
  /// While a region of scalars is imported for tensors of this shape.
  std::optional<Integers> lifted;
  std::vector<LoopBody *> loops; ///< that are being imported, the innermost last

private:
  void importCheckpoint(llvm::ArrayRef<mlir::Operation *> ops);
  void importOp(mlir::Operation *op);
  Values importKnown(mlir::Operation *op, const Handler &handler);
  Values importCall(mlir::func::CallOp call);

  mlir::SymbolTable symbols;
  const Handlers &handlers;
  llvm::SmallVector<mlir::Operation *> stack; ///< the functions that are being imported
  std::vector<std::pair<mlir::Operation *, std::string>> refused;
};

//===-- What handlers share -------------------------------------------------------------------===//

mlir::RankedTensorType typeOf(mlir::Value value);
mlir::Type elementOf(mlir::Value value);
bool isFloat(mlir::Value value);
/// A tensor of one number. Integers wrap.
mlir::Value splat(Builder &b, mlir::RankedTensorType type, double number);
mlir::Value splatInteger(Builder &b, mlir::RankedTensorType type, int64_t number);
mlir::Value reshape(Builder &b, mlir::Value value, llvm::ArrayRef<int64_t> shape);
mlir::Value transpose(Builder &b, mlir::Value value, llvm::ArrayRef<int64_t> permutation);
mlir::Value convertTo(Builder &b, mlir::Value value, mlir::Type element);
mlir::Value broadcast(Builder &b, mlir::Value value, llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<int64_t> dims);
mlir::Value compare(Builder &b, ComparePredicate predicate, mlir::Value x, mlir::Value y);
mlir::Value select(Builder &b, mlir::Value condition, mlir::Value yes, mlir::Value no);
mlir::Value maximum(Builder &b, mlir::Value x, mlir::Value y);
mlir::Value minimum(Builder &b, mlir::Value x, mlir::Value y);
/// The same value, with no derivative.
mlir::Value stopGradient(Builder &b, mlir::Value x);
/// 0, 1, 2, … as a new tensor.
mlir::Value countFrom(Builder &b, int64_t size, mlir::Type element);
/// The one number that all elements of an integer tensor are, if it follows from constants.
std::optional<int64_t> constantInteger(mlir::Value value);
/// The same for floats that are constants.
std::optional<llvm::APFloat> constantFloat(mlir::Value value);
/// The op by which a region combines its two arguments, such as "add"; empty for anything else.
std::string combinerOf(mlir::Operation *op);
/// `combiner` on two tensors; nothing for one that we lack.
mlir::Value combine(Builder &b, llvm::StringRef combiner, mlir::Value x, mlir::Value y);
/// The number that `combiner` leaves others as they are with, as a tensor of one element.
bool isIdentity(llvm::StringRef combiner, mlir::Value init);

mlir::Value slice(Builder &b, mlir::Value value, llvm::ArrayRef<int64_t> starts,
                  llvm::ArrayRef<int64_t> limits, llvm::ArrayRef<int64_t> strides);
mlir::Value reverse(Builder &b, mlir::Value value, int64_t dim);
/// Scalars as one tensor, as ops with computed positions want them.
mlir::Value joinStarts(Builder &b, llvm::ArrayRef<mlir::Value> starts);
/// Clamped starts of a window of `sizes`, if they follow from constants.
std::optional<Integers> constantStarts(llvm::ArrayRef<mlir::Value> starts,
                                       llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> sizes);
/// A number whose signed order is the unsigned one of `x`.
mlir::Value flipSign(Builder &b, mlir::Value x);
/// Integers whose order is the total order of the floats.
mlir::Value totalOrder(Builder &b, mlir::Value x);
/// The operand as signed integers of equal numbers; those from 2^63 on come as negative ones.
mlir::Value signedOf(Source &source, unsigned operand);
/// `updates` [n, d…] combined into the rows of `table` that they name, in their order. Rows behind
/// the table are none.
mlir::Value combineRows(Builder &b, llvm::StringRef combiner, mlir::Value table, mlir::Value rows,
                        mlir::Value updates);
/// Adds zeros, or what `value` is, and cuts off where a number is negative.
mlir::Value pad(Builder &b, mlir::Value value, mlir::TypedAttr with, llvm::ArrayRef<int64_t> low,
                llvm::ArrayRef<int64_t> high, llvm::ArrayRef<int64_t> interior);
/// log(1 + x), to full precision near 0.
mlir::Value logPlusOne(Builder &b, mlir::Value x);

/// Integers of 8 and 16 bits, which are numbers in i32: of a type of the source, or a tensor of it.
bool isNarrow(mlir::Type type);
/// A number brought into the range of the type.
mlir::Value wrapNarrow(Builder &b, mlir::Value x, mlir::Type source);
/// The bits of the type, as a number.
mlir::Value bitsOfNarrow(Builder &b, mlir::Value x, mlir::Type source);
/// Whether an op's results are in the range of their type if its operands are.
bool keepsRange(mlir::Operation *op);
mlir::Value narrowFromFloat(Builder &b, mlir::Value x, mlir::Type source);
/// The float of 16 bits with these bits; null for another type.
mlir::Value floatOfNarrow(Builder &b, mlir::Value x, mlir::Type source, mlir::Type element);

/// The quotient or the remainder of two unsigned integers of 32 bits.
mlir::Value unsignedArithmetic(Source &source, bool isRemainder);

Values importWhile(Source &source);
/// Row `counter` of a value from above the innermost loop, as a slice of the loop; null if it is
/// not one.
mlir::Value readRow(Importer &importer, mlir::Value value, llvm::ArrayRef<mlir::Value> starts,
                    llvm::ArrayRef<int64_t> sizes);
/// Remembers an update of row `counter` of the innermost loop.
void noteRowWrite(Importer &importer, DynamicUpdateOp update, llvm::ArrayRef<mlir::Value> starts);

//===-- Groups of handlers --------------------------------------------------------------------===//

void addElementwise(Handlers &handlers);
void addNumbers(Handlers &handlers);   ///< conversions, constants, bits
void addFunctions(Handlers &handlers); ///< functions written out by others
void addSpecial(Handlers &handlers);   ///< inverse trigonometric and gamma functions
void addShapes(Handlers &handlers);
void addContractions(Handlers &handlers);
void addReductions(Handlers &handlers);
void addWindows(Handlers &handlers);
void addIndexing(Handlers &handlers);
void addControl(Handlers &handlers);

} // namespace reprise::stablehlo

#endif // REPRISE_LIB_STABLEHLO_IMPORTER_H
