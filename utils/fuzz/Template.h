// reprise: one op with types and attributes but without values, to be judged by the dialect
#ifndef REPRISE_UTILS_FUZZ_TEMPLATE_H
#define REPRISE_UTILS_FUZZ_TEMPLATE_H

#include "Ops.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include <string>

namespace reprise::fuzz {

struct Template {
  const OpSpec *spec = nullptr;
  llvm::SmallVector<mlir::RankedTensorType> operands;
  llvm::SmallVector<int32_t> segments; ///< operands per operand of the spec
  mlir::NamedAttrList attributes;
  llvm::SmallVector<mlir::Type> results; ///< proposed or inferred types
};

/// Tensors of programs are not larger.
constexpr int64_t kMostElements = 6000;
/// The product, or the largest number if that is larger.
int64_t countElements(llvm::ArrayRef<int64_t> shape);

/// The element types of the dialect.
llvm::SmallVector<mlir::Type> elementTypes(mlir::MLIRContext *context);
/// Returns the element types that a constraint's words name; all types if they name none.
llvm::SmallVector<mlir::Type> elementTypes(const OperandSpec &spec, mlir::MLIRContext *context);

/// Judge of templates, which asks the dialect.
class Judge {
public:
  explicit Judge(mlir::MLIRContext *context) : context(context) {}

  /// Infers result types if the op can, and verifies it. Returns the message; empty if it is
  /// well-formed.
  std::string wellFormed(Template &candidate);
  /// Checks wellFormed, and that the phase import accepts the op in a model.
  std::string importable(Template &candidate);

  /// The op on these operands.
  static mlir::Operation *create(mlir::OpBuilder &builder, const Template &candidate,
                                 mlir::ValueRange operands);

private:
  bool infer(Template &candidate, mlir::ValueRange operands);

  mlir::MLIRContext *context;
};

/// Returns the message without numbers: the same for the same kind of defect.
std::string kindOf(llvm::StringRef message);

/// Returns the template with a type or a number of the message in some place: often the place of
/// the value that the message got.
Template repair(Template base, llvm::StringRef message, Random &random, mlir::MLIRContext *context);

/// Return a new random template, and one that differs from `base` in one to three places.
Template makeTemplate(const OpSpec &spec, Random &random, mlir::MLIRContext *context);
Template mutate(Template base, Random &random, mlir::MLIRContext *context);

/// The attribute of a random value; null for a class of attributes that the fuzzer does not know.
mlir::Attribute makeAttribute(const AttributeSpec &spec, const Template &around, Random &random,
                              mlir::MLIRContext *context);

} // namespace reprise::fuzz

#endif
