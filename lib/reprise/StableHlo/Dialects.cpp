// reprise: dialects that only parse StableHLO's ops and attributes
#include "PrettyForm.h"
#include "reprise/StableHlo/Syntax.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

namespace reprise::stablehlo {
namespace {

/// Parses `NAME VALUE` and `NAME<…>`; other forms stay text.
Attribute parseDialectAttribute(DialectAsmParser &parser) {
  StringRef text = parser.getFullSymbolSpec(), mnemonic;
  bool isPlain = !text.contains("<[") && !text.contains('{') && !text.contains('"') &&
                 !text.starts_with("sharding<");
  bool isConvolution = text.starts_with("conv<");
  if ((!isPlain && !isConvolution) || failed(parser.parseOptionalKeyword(&mnemonic)))
    return StringAttr::get(parser.getContext(), text);
  StringRef value;
  if (succeeded(parser.parseOptionalKeyword(&value)))
    return StringAttr::get(parser.getContext(), value);
  if (failed(parser.parseOptionalLess()))
    return StringAttr::get(parser.getContext(), text);
  if (isConvolution)
    return parseConvolutionDims(parser);
  NamedAttrList list;
  if (failed(parser.parseOptionalGreater()) && failed(parseFields(parser, list)))
    return {};
  return list.getDictionary(parser.getContext());
}

/// Dialect for a namespace.
template <typename Tag> class TextDialect : public Dialect {
public:
  explicit TextDialect(MLIRContext *context)
      : Dialect(Tag::name, context, TypeID::get<TextDialect<Tag>>()) {
    allowUnknownOperations();
    allowUnknownTypes();
  }
  static StringRef getDialectNamespace() { return Tag::name; }

  std::optional<ParseOpHook> getParseOperationHook(StringRef opName) const final {
    return ParseOpHook(parsePrettyForm);
  }
  Attribute parseAttribute(DialectAsmParser &parser, Type) const final {
    return parseDialectAttribute(parser);
  }
};

struct StableHlo {
  static constexpr llvm::StringLiteral name = "stablehlo";
};
struct Chlo {
  static constexpr llvm::StringLiteral name = "chlo";
};
struct Mhlo {
  static constexpr llvm::StringLiteral name = "mhlo";
};
struct Shardy {
  static constexpr llvm::StringLiteral name = "sdy";
};

} // namespace

void registerSyntax(DialectRegistry &registry) {
  registry
      .insert<TextDialect<StableHlo>, TextDialect<Chlo>, TextDialect<Mhlo>, TextDialect<Shardy>>();
}

} // namespace reprise::stablehlo
