// reprise: custom assembly directives, used by the generated parsers and printers.
#ifndef REPRISE_DIALECT_REPRISE_IR_ASSEMBLY_H
#define REPRISE_DIALECT_REPRISE_IR_ASSEMBLY_H

#include "reprise/Dialect/Reprise/IR/Reprise.h"

namespace reprise {

/// `[0, 1]`
mlir::ParseResult parseDims(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &dims);

mlir::ParseResult parseBroadcastTypes(mlir::OpAsmParser &parser, mlir::Type &lhs, mlir::Type &rhs,
                                      mlir::Type &result);
void printBroadcastTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type lhs,
                         mlir::Type rhs, mlir::Type result);

mlir::ParseResult parseCompareTypes(mlir::OpAsmParser &parser, mlir::Type &lhs, mlir::Type &rhs,
                                    mlir::Type &result);
void printCompareTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type lhs,
                       mlir::Type rhs, mlir::Type result);

mlir::ParseResult parseDotDims(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &lhsBatch,
                               mlir::DenseI64ArrayAttr &rhsBatch,
                               mlir::DenseI64ArrayAttr &lhsContracting,
                               mlir::DenseI64ArrayAttr &rhsContracting);
void printDotDims(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::DenseI64ArrayAttr lhsBatch,
                  mlir::DenseI64ArrayAttr rhsBatch, mlir::DenseI64ArrayAttr lhsContracting,
                  mlir::DenseI64ArrayAttr rhsContracting);

/// `@mine` or `private @mine`
mlir::ParseResult parsePolicyName(mlir::OpAsmParser &parser, mlir::StringAttr &visibility,
                                  mlir::StringAttr &name);
void printPolicyName(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::StringAttr visibility,
                     mlir::StringAttr name);

/// `must_save match {op = "dot_general"}`, `must_save` or `policy "dots_saveable"`
mlir::ParseResult parseRule(mlir::OpAsmParser &parser, LabelAttr &label,
                            mlir::DictionaryAttr &match, mlir::StringAttr &policy);
void printRule(mlir::OpAsmPrinter &printer, RuleOp, LabelAttr label, mlir::DictionaryAttr match,
               mlir::StringAttr policy);

} // namespace reprise

#endif
