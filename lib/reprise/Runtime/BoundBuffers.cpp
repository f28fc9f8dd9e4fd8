// reprise: the memory that callers bind to arguments
#include "BoundBuffers.h"

#include <algorithm>
#include <optional>

using namespace reprise::runtime;

/// Returns how a step, or its part before or behind the pause, uses its arguments. An argument that
/// the part does not access may be bound to memory that is freed. Early results belong to the
/// caller.
static BufferUse findUse(const Bundle &bundle, bool begins, bool ends) {
  BufferUse use;
  use.writes.resize(bundle.arguments.size());
  for (const Result &result : bundle.results)
    if (result.argument >= 0)
      use.writes[result.argument] = begins || !bundle.isEarly(result);
  for (uint32_t i = 0; i < bundle.arguments.size(); ++i)
    use.ignores.push_back((!ends && bundle.isLate(i)) || (!begins && !bundle.isUsedBehindPause(i)));
  return use;
}

static Error checkBuffers(const Bundle &bundle, const Addresses &places,
                          const std::vector<bool> &bound, const BufferUse &use) {
  std::vector<size_t> order;
  for (size_t i = 0; i < bound.size(); ++i)
    if (bound[i] && !use.ignores[i] && bundle.arguments[i].bytes != 0)
      order.push_back(i);
  auto begin = [&](size_t i) { return static_cast<const uint8_t *>(places.arguments[i]); };
  auto end = [&](size_t i) { return begin(i) + bundle.arguments[i].bytes; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_pair(begin(a), a) < std::make_pair(begin(b), b);
  });
  // We keep the earlier arguments that end last: of all arguments, and of written arguments.
  std::optional<size_t> last, lastWritten;
  for (size_t i : order) {
    std::optional<size_t> other = use.writes[i] ? last : lastWritten;
    if (other && begin(i) < end(*other))
      return Error::make("the buffer of '" + bundle.arguments[i].name + "' overlaps that of '" +
                         bundle.arguments[*other].name + "', and the step writes '" +
                         bundle.arguments[use.writes[i] ? i : *other].name + "'");
    for (std::optional<size_t> *each : {&last, &lastWritten})
      if ((each == &last || use.writes[i]) && (!*each || end(**each) < end(i)))
        *each = i;
  }
  return Error::success();
}

Error reprise::runtime::checkBound(BoundArguments &bound, const Bundle &bundle,
                                   const Addresses &places, bool begins, bool ends) {
  BufferUse &use = bound.uses[begins][ends];
  if (!bound.isChanged)
    return Error::success();
  if (use.writes.empty())
    use = findUse(bundle, begins, ends);
  bound.isChanged = !(begins && ends);
  return checkBuffers(bundle, places, bound.isBound, use);
}
