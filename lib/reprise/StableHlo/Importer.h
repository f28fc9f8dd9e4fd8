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

/// Op of the source, whose operands are imported.
class Source {
public:
  Source(Importer &importer, mlir::Operation *op, Values operands)
      : importer(importer), op(op), operands(std::move(operands)) {}

  Importer &importer;
  mlir::Operation *op;
  Values operands;

  Builder &b();
  /// Returns the type of a result in our dialect. Unsigned integers become signed integers of equal
  /// bits.
  mlir::RankedTensorType type(unsigned result = 0);
  mlir::RankedTensorType operandType(unsigned i) {
    return llvm::cast<mlir::RankedTensorType>(operands[i].getType());
  }
  /// Returns whether the operand is an unsigned integer held as a signed integer of equal bits;
  /// those of 8 or 16 bits are held as their numbers.
  bool isUnsigned(unsigned operand);
  /// The name without its dialect.
  llvm::StringRef name() { return op->getName().getStringRef().split('.').second; }

  /// Returns the integers or booleans of an attribute, as an array or dense; empty without the
  /// attribute.
  Integers integers(llvm::StringRef name) { return integers(op->getAttr(name)); }
  static Integers integers(mlir::Attribute attribute);
  /// Returns the integers of a dictionary in an attribute, such as dimension numbers.
  Integers integers(llvm::StringRef name, llvm::StringRef field);
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  std::string word(llvm::StringRef name);

  /// Returns whether all numbers are dimensions of a tensor of `rank`, each at most once.
  static bool areDims(llvm::ArrayRef<int64_t> dims, int64_t rank);

  /// Notes why the op cannot be imported; its results become zeros.
  Values refuse(const llvm::Twine &why);
};

/// Import of ops of one name. Other numbers of operands and regions are refused.
struct Handler {
  Values (*import)(Source &) = nullptr;
  int operands = kAny; ///< or at least one operand
  int regions = 0;     ///< regions of one block each

  static constexpr int kAny = -1;
};
using Handlers = llvm::StringMap<Handler>;

/// Importer of function bodies, which it walks through: calls are inlined, so that counters and
/// starts are visible as constants.
class Importer {
public:
  Importer(mlir::ModuleOp module, const Handlers &handlers)
      : b(module.getLoc(), module.getContext()), symbols(module), handlers(handlers) {}

  /// Makes a function of our dialect with the body of `function`, before it.
  mlir::func::FuncOp importFunction(mlir::func::FuncOp function, llvm::StringRef name);

  /// Imports the ops of a block whose arguments are mapped; returns the operands of its terminator.
  Values importBlock(mlir::Block &block);
  /// Imports a region of a source op, with values for its arguments.
  Values importRegion(mlir::Region &region, mlir::ValueRange arguments);

  /// Imports the body of a function that `caller` calls; refuses a recursive call.
  Values importCallee(mlir::Operation *caller, mlir::func::FuncOp callee, Values arguments);
  /// Returns the single function that a list of symbols names; null if there is none.
  mlir::func::FuncOp findCallee(mlir::ArrayAttr names);

  /// Returns our type; null if there is none.
  mlir::RankedTensorType convert(mlir::Type type);
  void refuse(mlir::Operation *op, const llvm::Twine &why);
  /// Emits one error that lists all refused ops; succeeds if there are none.
  mlir::LogicalResult report(mlir::ModuleOp module);

  Builder b;
  mlir::IRMapping values;
  std::vector<mlir::Region *> openRegions; ///< regions under construction, innermost last
  /// Shape of the tensors for which a region of scalars is imported; none outside of such regions.
  std::optional<Integers> lifted;
  std::vector<LoopBody *> loops; ///< loops under import, innermost last

private:
  void importCheckpoint(llvm::ArrayRef<mlir::Operation *> ops);
  void importOp(mlir::Operation *op);
  Values importKnown(mlir::Operation *op, const Handler &handler);
  Values importCall(mlir::func::CallOp call);

  mlir::SymbolTable symbols;
  const Handlers &handlers;
  llvm::SmallVector<mlir::Operation *> stack; ///< functions under import
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
/// Returns the value without a derivative.
mlir::Value stopGradient(Builder &b, mlir::Value x);
/// 0, 1, 2, … as a new tensor.
mlir::Value countFrom(Builder &b, int64_t size, mlir::Type element);
/// Returns the single number of all elements of an integer tensor, if it follows from constants.
std::optional<int64_t> constantInteger(mlir::Value value);
/// Returns the single number of all elements of a constant float tensor.
std::optional<llvm::APFloat> constantFloat(mlir::Value value);
/// Returns the op by which a region combines its two arguments, such as "add"; empty for any other
/// region.
std::string combinerOf(mlir::Operation *op);
/// Applies `combiner` to two tensors; null for an unsupported combiner.
mlir::Value combine(Builder &b, llvm::StringRef combiner, mlir::Value x, mlir::Value y);
/// Returns whether `init`, a tensor of one element, is the identity of `combiner`.
bool isIdentity(llvm::StringRef combiner, mlir::Value init);

mlir::Value slice(Builder &b, mlir::Value value, llvm::ArrayRef<int64_t> starts,
                  llvm::ArrayRef<int64_t> limits, llvm::ArrayRef<int64_t> strides);
mlir::Value reverse(Builder &b, mlir::Value value, int64_t dim);
/// Joins scalars to one tensor, as ops with computed positions need.
mlir::Value joinStarts(Builder &b, llvm::ArrayRef<mlir::Value> starts);
/// Returns the clamped starts of a window of `sizes`, if they follow from constants.
std::optional<Integers> constantStarts(llvm::ArrayRef<mlir::Value> starts,
                                       llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> sizes);
/// Returns a number whose signed order is the unsigned order of `x`.
mlir::Value flipSign(Builder &b, mlir::Value x);
/// Returns integers whose order is the total order of the floats.
mlir::Value totalOrder(Builder &b, mlir::Value x);
/// Returns the operand as signed integers of equal numbers; numbers from 2^63 on become negative.
mlir::Value signedOf(Source &source, unsigned operand);
/// Combines `updates` [n, d…] into the rows of `table`, in order. Rows behind the table are
/// ignored.
mlir::Value combineRows(Builder &b, llvm::StringRef combiner, mlir::Value table, mlir::Value rows,
                        mlir::Value updates);
/// Pads with zeros, or with `with`, and slices at negative widths.
mlir::Value pad(Builder &b, mlir::Value value, mlir::TypedAttr with, llvm::ArrayRef<int64_t> low,
                llvm::ArrayRef<int64_t> high, llvm::ArrayRef<int64_t> interior);
/// Returns log(1 + x), with full precision near 0.
mlir::Value logPlusOne(Builder &b, mlir::Value x);

/// Returns whether a source type, or its elements, are integers of 8 and 16 bits, which are held in
/// i32.
bool isNarrow(mlir::Type type);
/// A number brought into the range of the type.
mlir::Value wrapNarrow(Builder &b, mlir::Value x, mlir::Type source);
/// The bits of the type, as a number.
mlir::Value bitsOfNarrow(Builder &b, mlir::Value x, mlir::Type source);
/// Returns whether an op's results are in the range of their type if its operands are.
bool keepsRange(mlir::Operation *op);
mlir::Value narrowFromFloat(Builder &b, mlir::Value x, mlir::Type source);
/// The float of 16 bits with these bits; null for another type.
mlir::Value floatOfNarrow(Builder &b, mlir::Value x, mlir::Type source, mlir::Type element);

/// The quotient or the remainder of two unsigned integers of 32 bits.
mlir::Value unsignedArithmetic(Source &source, bool isRemainder);

Values importWhile(Source &source);
/// Returns row `counter` of a value from above the innermost loop, as a slice of the loop; null if
/// it is no such row.
mlir::Value readRow(Importer &importer, mlir::Value value, llvm::ArrayRef<mlir::Value> starts,
                    llvm::ArrayRef<int64_t> sizes);
/// Remembers an update of row `counter` of the innermost loop.
void noteRowWrite(Importer &importer, DynamicUpdateOp update, llvm::ArrayRef<mlir::Value> starts);

//===-- Groups of handlers --------------------------------------------------------------------===//

void addElementwise(Handlers &handlers);
void addNumbers(Handlers &handlers);   ///< conversions, constants, bits
void addFunctions(Handlers &handlers); ///< functions that other ops express
void addSpecial(Handlers &handlers);   ///< inverse trigonometric and gamma functions
void addShapes(Handlers &handlers);
void addContractions(Handlers &handlers);
void addReductions(Handlers &handlers);
void addWindows(Handlers &handlers);
void addIndexing(Handlers &handlers);
void addControl(Handlers &handlers);

} // namespace reprise::stablehlo

#endif // REPRISE_LIB_STABLEHLO_IMPORTER_H
