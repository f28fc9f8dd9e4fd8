// reprise: patterns of rules: globs, paths and comparisons
#include "reprise/Policy/Selector/Selector.h"

#include "reprise/Support/ByteUnits.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;

namespace reprise {

Expected<Glob> Glob::create(StringRef text) {
  auto owned = std::make_shared<const std::string>(text.str());
  Expected<GlobPattern> pattern = GlobPattern::create(*owned, /*MaxSubPatterns=*/1024);
  if (!pattern)
    return pattern.takeError();
  return Glob(std::move(owned), std::move(*pattern));
}

Expected<PathGlob> PathGlob::create(StringRef text) {
  PathGlob result;
  for (StringRef segment : split(text, '/')) {
    result.segments.emplace_back();
    if (segment == "**")
      continue;
    Expected<Glob> glob = Glob::create(segment);
    if (!glob)
      return glob.takeError();
    result.segments.back() = std::move(*glob);
  }
  return result;
}

bool PathGlob::match(StringRef path) const {
  SmallVector<StringRef> parts;
  path.split(parts, '/');
  // reach[i]: the segments so far match the first i parts.
  SmallVector<bool> reach(parts.size() + 1, false);
  reach[0] = true;
  for (const std::optional<Glob> &segment : segments) {
    if (!segment) {
      for (size_t i = 1; i < reach.size(); ++i)
        reach[i] = reach[i] || reach[i - 1];
      continue;
    }
    for (size_t i = parts.size(); i > 0; --i)
      reach[i] = reach[i - 1] && segment->match(parts[i - 1]);
    reach[0] = false;
  }
  return reach.back();
}

Expected<Comparison> Comparison::create(StringRef text) {
  StringRef rest = text.trim();
  Operator comparison = rest.consume_front("<=")   ? LessEqual
                        : rest.consume_front(">=") ? GreaterEqual
                        : rest.consume_front("==") ? Equal
                        : rest.consume_front("<")  ? Less
                        : rest.consume_front(">")  ? Greater
                                                   : Equal;
  rest = rest.trim();
  static constexpr std::pair<StringLiteral, double> counts[] = {
      {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
  std::string_view number = rest;
  std::optional<double> bytes = consumeByteUnit(number);
  rest = number;
  double unit = bytes.value_or(1), bound;
  for (auto [name, factor] : counts)
    if (!bytes && rest.consume_back(name)) {
      unit = factor;
      break;
    }
  rest = rest.rtrim();
  if (rest.empty() || rest.getAsDouble(bound) || !std::isfinite(bound) || bound < 0)
    return createStringError("expected a comparison such as '>=1MiB', not '%s'",
                             text.str().c_str());
  return Comparison{comparison, bound * unit};
}

bool Comparison::holds(int64_t number) const {
  auto value = static_cast<double>(number);
  switch (comparison) {
  case Less:
    return value < bound;
  case LessEqual:
    return value <= bound;
  case Equal:
    return value == bound;
  case GreaterEqual:
    return value >= bound;
  case Greater:
    return value > bound;
  }
  llvm_unreachable("all comparisons are handled");
}

} // namespace reprise
