// reprise: reads the keys of a selector, from files and from the IR
#include "reprise/Policy/Selector/Selector.h"

#include "reprise/Interfaces/Interfaces.h"
#include "reprise/Support/Wording.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace reprise {

bool isOfKind(Operation *op, OpKind kind) {
  switch (kind) {
  case OpKind::Attention:
    return isa<AttentionOpInterface>(op);
  case OpKind::Contraction:
    return isa<ContractionOpInterface>(op);
  case OpKind::ContractionWithoutBatch: {
    auto contraction = dyn_cast<ContractionOpInterface>(op);
    return contraction && !contraction.hasBatchDims();
  }
  case OpKind::Convolution:
    return isa<ConvolutionOpInterface>(op);
  case OpKind::Elementwise:
    return isa<ElementwiseOpInterface>(op);
  case OpKind::Normalization:
    return isa<NormalizationOpInterface>(op);
  case OpKind::Random:
    return isa<RandomOpInterface>(op);
  case OpKind::Reduction:
    return isa<ReductionOpInterface>(op);
  }
  llvm_unreachable("all kinds are handled");
}

static constexpr std::pair<StringLiteral, OpKind> kinds[] = {
    {"attention", OpKind::Attention},
    {"contraction", OpKind::Contraction},
    {"contraction_without_batch", OpKind::ContractionWithoutBatch},
    {"convolution", OpKind::Convolution},
    {"elementwise", OpKind::Elementwise},
    {"normalization", OpKind::Normalization},
    {"random", OpKind::Random},
    {"reduction", OpKind::Reduction},
};

std::optional<OpKind> parseOpKind(StringRef text) {
  for (const auto &[name, kind] : kinds)
    if (name == text)
      return kind;
  return std::nullopt;
}

ArrayRef<StringRef> opKindNames() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> result;
    for (const auto &[name, kind] : kinds)
      result.push_back(name);
    return result;
  }();
  return names;
}

static llvm::Error fail(const llvm::Twine &message) { return llvm::createStringError(message); }

/// Calls `T::create` with a text and stores the result.
template <class T> static llvm::Error make(StringRef text, std::optional<T> &to) {
  llvm::Expected<T> made = T::create(text);
  if (!made)
    return made.takeError();
  to = std::move(*made);
  return llvm::Error::success();
}

static llvm::Error readCount(std::optional<int64_t> integer, int64_t &count) {
  if (!integer || *integer < 1)
    return fail("expected a positive integer");
  count = *integer;
  return llvm::Error::success();
}

static llvm::Error readKind(StringRef text, Selector &selector) {
  selector.kind = parseOpKind(text);
  return selector.kind ? llvm::Error::success()
                       : fail("unknown kind '" + text + "'" + suggest(text, opKindNames()));
}

static llvm::Error readDtype(StringRef text, Selector &selector) {
  static constexpr StringLiteral dtypes[] = {"bf16", "f16", "f32", "f64", "i1", "i32", "i64"};
  selector.dtype = text.str();
  return llvm::is_contained(dtypes, text)
             ? llvm::Error::success()
             : fail("unknown dtype '" + text + "'" + suggest(text, dtypes));
}

llvm::Error readKey(StringRef key, std::optional<StringRef> text, std::optional<int64_t> integer,
                    Selector &selector) {
  if (key == "every")
    return readCount(integer, selector.every);
  if (key == "first")
    return readCount(integer, selector.first);
  if (key == "last")
    return readCount(integer, selector.last);
  if (key == "kind")
    return readKind(text.value_or(""), selector);
  if (key == "dtype")
    return readDtype(text.value_or(""), selector);
  static constexpr StringLiteral keys[] = {"op",   "name",  "scope", "bytes", "flops",
                                           "kind", "dtype", "every", "first", "last"};
  if (!llvm::is_contained(keys, key))
    return fail("unknown key '" + key + "'" + suggest(key, keys));
  if (!text)
    return fail("expected a string");
  if (key == "op")
    return make(*text, selector.op);
  if (key == "name")
    return make(*text, selector.name);
  if (key == "scope")
    return make(*text, selector.scope);
  return make(*text, key == "bytes" ? selector.bytes : selector.flops);
}

llvm::Expected<Selector> readSelector(DictionaryAttr match) {
  Selector selector;
  for (NamedAttribute entry : match) {
    std::optional<StringRef> text;
    std::optional<int64_t> integer;
    if (auto string = dyn_cast<StringAttr>(entry.getValue()))
      text = string.getValue();
    if (auto number = dyn_cast<IntegerAttr>(entry.getValue());
        number && number.getType().isSignlessInteger(64))
      integer = number.getInt();
    if (llvm::Error error = readKey(entry.getName(), text, integer, selector))
      return fail("'" + entry.getName().strref() + "': " + llvm::toString(std::move(error)));
  }
  return selector;
}

} // namespace reprise
