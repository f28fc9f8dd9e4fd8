// reprise: the memory that callers bind to arguments
#include "BoundBuffers.h"

#include <algorithm>
#include <optional>

using namespace reprise::runtime;

Error reprise::runtime::checkBuffers(const Bundle &bundle, const Addresses &places,
                                     const std::vector<bool> &bound) {
  std::vector<bool> isWritten(bound.size());
  for (const Result &result : bundle.results)
    if (result.argument >= 0)
      isWritten[result.argument] = true;
  std::vector<size_t> order;
  for (size_t i = 0; i < bound.size(); ++i)
    if (bound[i] && bundle.arguments[i].bytes != 0)
      order.push_back(i);
  auto begin = [&](size_t i) { return static_cast<const uint8_t *>(places.arguments[i]); };
  auto end = [&](size_t i) { return begin(i) + bundle.arguments[i].bytes; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_pair(begin(a), a) < std::make_pair(begin(b), b);
  });
  // Of those before one, the ones that reach furthest: of all, and of what is written.
  std::optional<size_t> last, lastWritten;
  for (size_t i : order) {
    std::optional<size_t> other = isWritten[i] ? last : lastWritten;
    if (other && begin(i) < end(*other))
      return Error::make("the buffer of '" + bundle.arguments[i].name + "' overlaps that of '" +
                         bundle.arguments[*other].name + "', and the step writes '" +
                         bundle.arguments[isWritten[i] ? i : *other].name + "'");
    for (std::optional<size_t> *each : {&last, &lastWritten})
      if ((each == &last || isWritten[i]) && (!*each || end(**each) < end(i)))
        *each = i;
  }
  return Error::success();
}
