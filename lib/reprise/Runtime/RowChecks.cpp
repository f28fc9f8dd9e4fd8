// reprise: the checks of arrays whose rows lie on several devices
#include "RowChecks.h"

#include <algorithm>
#include <set>

using namespace reprise::runtime;

namespace {

constexpr int64_t maxRows = int64_t(1) << 40;
constexpr uint64_t maxBytes = uint64_t(1) << 56;

uint64_t bytesOf(const Argument &argument) { return argument.bytes; }
uint64_t bytesOf(const Result &result) { return result.buffer.bytes; }

template <typename T> int64_t countRows(const T &part) { return part.shape[size_t(part.rows.dim)]; }

/// Rows within an array of bearable size.
template <typename T> bool isWithin(const T &part) {
  const Rows &rows = part.rows;
  if (rows.of == 0)
    return rows.whole.empty() && rows.first == 0 && rows.dim == 0;
  if (rows.whole.empty() || rows.whole.find('\0') != std::string::npos || rows.dim < 0 ||
      rows.dim >= int64_t(part.shape.size()))
    return false;
  int64_t own = countRows(part);
  if (own < 1 || rows.of < 0 || rows.of > maxRows || rows.first < 0 || own > rows.of ||
      rows.first > rows.of - own)
    return false;
  return bytesOf(part) / uint64_t(own) <= maxBytes / uint64_t(rows.of);
}

template <typename T> bool endsArray(const T &part) {
  return part.rows.of == 0 || part.rows.first + countRows(part) == part.rows.of;
}

bool areAlike(const Argument &a, const Argument &b) {
  return a.role == b.role && a.hasInitializer == b.hasInitializer;
}
bool areAlike(const Result &, const Result &) { return true; }

/// Returns whether the rows of `next` begin at the end of those of `part`.
template <typename T> bool continues(const T &part, const T &next) {
  return next.rows.of == part.rows.of && next.rows.whole == part.rows.whole &&
         next.rows.dim == part.rows.dim && next.rows.first == part.rows.first + countRows(part) &&
         next.dtype == part.dtype && arrayShape(next) == arrayShape(part) && areAlike(part, next);
}

template <typename T> Error checkParts(const std::string &what, const std::vector<T> &all) {
  std::multiset<std::string> names;
  for (const T &each : all)
    if (beginsArray(each))
      names.insert(arrayName(each));
  for (size_t i = 0; i < all.size(); ++i) {
    const T &part = all[i];
    if (beginsArray(part) && part.rows.of && names.count(part.rows.whole) > 1)
      return Error::make("two " + what + "s have the name '" + part.rows.whole + "'");
    bool isBegun = beginsArray(part) || (i > 0 && continues(all[i - 1], part));
    bool isEnded = endsArray(part) || (i + 1 < all.size() && continues(part, all[i + 1]));
    if (!isBegun || !isEnded)
      return Error::make("the rows of " + what + " '" + part.rows.whole +
                         "' do not follow each other");
  }
  return Error::success();
}

template <typename T>
Error check(const std::string &what, const Bundle &bundle, const std::vector<T> &all) {
  for (const T &part : all)
    if (!isWithin(part))
      return Error::make(what + " '" + part.name + "' has rows out of range");
  // A bundle of one device may be extracted from a bundle of several, so its parts may be
  // incomplete.
  return bundle.devices.empty() ? Error::success() : checkParts(what, all);
}

} // namespace

Error reprise::runtime::checkRows(const Bundle &bundle) {
  Error error = check("argument", bundle, bundle.arguments);
  return error ? error : check("result", bundle, bundle.results);
}
