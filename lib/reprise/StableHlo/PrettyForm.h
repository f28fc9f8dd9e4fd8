// reprise: the printed forms of StableHLO's ops and attributes
#ifndef REPRISE_LIB_STABLEHLO_PRETTYFORM_H
#define REPRISE_LIB_STABLEHLO_PRETTYFORM_H

#include "mlir/IR/OpImplementation.h"

namespace reprise::stablehlo {

/// Parses the text behind an op's name into operands, attributes and regions. The attributes are
/// those of the generic form.
mlir::ParseResult parsePrettyForm(mlir::OpAsmParser &parser, mlir::OperationState &state);

/// Parses fields `NAME = VALUE` up to and with `>`: an integer, a word, or lists of them.
mlir::ParseResult parseFields(mlir::AsmParser &parser, mlir::NamedAttrList &list);

/// Parses one value of a field: an integer, a word or a string; integers in brackets, which become
/// an array of i64; other items in brackets.
mlir::ParseResult parseFieldValue(mlir::AsmParser &parser, mlir::Attribute &value);

/// Parses `[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]` and, if present, `>`, as three lists of
/// strings.
mlir::Attribute parseConvolutionDims(mlir::AsmParser &parser);

} // namespace reprise::stablehlo

#endif // REPRISE_LIB_STABLEHLO_PRETTYFORM_H
