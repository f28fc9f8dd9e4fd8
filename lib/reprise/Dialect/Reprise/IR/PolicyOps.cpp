// reprise: policies in the IR: assembly and verification.
#include "Assembly.h"
#include "reprise/Policy/Selector/Selector.h"

using namespace mlir;
using namespace reprise;

//===-- policy --------------------------------------------------------------------------------===//

ParseResult reprise::parsePolicyName(OpAsmParser &parser, StringAttr &visibility,
                                     StringAttr &name) {
  if (succeeded(parser.parseOptionalKeyword("private")))
    visibility = parser.getBuilder().getStringAttr("private");
  return parser.parseSymbolName(name);
}

void reprise::printPolicyName(OpAsmPrinter &printer, Operation *, StringAttr visibility,
                              StringAttr name) {
  if (visibility)
    printer << visibility.getValue() << " ";
  printer.printSymbolName(name);
}

LogicalResult PolicyOp::verifyRegions() {
  if (getSymVisibility() && *getSymVisibility() != "private")
    return emitOpError("expected to be private or public, got '") << *getSymVisibility() << "'";
  for (Operation &op : getBody().front()) {
    auto rule = dyn_cast<RuleOp>(op);
    if (!rule)
      return op.emitError("expected a reprise.rule");
    if (rule.isDefault() && &op != &getBody().front().back())
      return rule.emitOpError("is the default rule and must come last");
  }
  return success();
}

//===-- rule ----------------------------------------------------------------------------------===//

/// `{op = "dot_general", every = 2}`: strings and integers of 64 bits, without types.
static ParseResult parseMatch(OpAsmParser &parser, DictionaryAttr &match) {
  NamedAttrList entries;
  auto parseEntry = [&]() -> ParseResult {
    std::string key, text;
    int64_t integer;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&key) || parser.parseEqual())
      return failure();
    if (entries.get(key))
      return parser.emitError(location) << "'" << key << "' stands twice";
    Builder &builder = parser.getBuilder();
    if (OptionalParseResult number = parser.parseOptionalInteger(integer); number.has_value()) {
      entries.append(key, builder.getI64IntegerAttr(integer));
      return *number;
    }
    if (failed(parser.parseOptionalString(&text)))
      return parser.emitError(parser.getCurrentLocation(), "expected a string or an integer");
    entries.append(key, builder.getStringAttr(text));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, parseEntry))
    return failure();
  match = entries.getDictionary(parser.getContext());
  return success();
}

static void printMatch(OpAsmPrinter &printer, DictionaryAttr match) {
  printer << " match {";
  llvm::interleaveComma(match, printer, [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName());
    printer << " = ";
    printer.printAttributeWithoutType(entry.getValue());
  });
  printer << "}";
}

ParseResult reprise::parseRule(OpAsmParser &parser, LabelAttr &label, DictionaryAttr &match,
                               StringAttr &policy) {
  if (succeeded(parser.parseOptionalKeyword("policy")))
    return parser.parseAttribute(policy);
  SMLoc location = parser.getCurrentLocation();
  StringRef word;
  (void)parser.parseOptionalKeyword(&word);
  std::optional<Label> known = symbolizeLabel(word);
  if (!known)
    return parser.emitError(location, "expected a label, such as must_save, or 'policy'");
  label = LabelAttr::get(parser.getContext(), *known);
  return succeeded(parser.parseOptionalKeyword("match")) ? parseMatch(parser, match) : success();
}

void reprise::printRule(OpAsmPrinter &printer, RuleOp, LabelAttr label, DictionaryAttr match,
                        StringAttr policy) {
  if (policy)
    printer << "policy " << policy;
  else
    printer << stringifyLabel(label.getValue());
  if (match)
    printMatch(printer, match);
}

LogicalResult RuleOp::verify() {
  if (getPolicyAttr())
    return getLabelAttr() || getMatchAttr()
               ? emitOpError("expected neither a label nor a match beside a policy")
               : success();
  if (!getLabelAttr())
    return emitOpError("expected a label or a policy");
  if (!getMatchAttr())
    return success();
  if (getMatchAttr().empty())
    return emitOpError("expected 'match' with one key or more");
  if (llvm::Expected<Selector> selector = readSelector(getMatchAttr()); !selector)
    return emitOpError() << llvm::toString(selector.takeError());
  return success();
}
