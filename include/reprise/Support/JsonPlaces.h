// reprise: places of the values in a JSON text
#ifndef REPRISE_SUPPORT_JSONPLACES_H
#define REPRISE_SUPPORT_JSONPLACES_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace reprise {

/// Line and column, from 1, of each value of a valid JSON text, by its path: "" is the whole, a
/// deeper path is rules[2].match.kind. The place of a member of an object is that of its key.
/// llvm::json has places only for syntax errors.
class JsonPlaces {
public:
  struct Place {
    unsigned line = 1, column = 1;
  };
  explicit JsonPlaces(llvm::StringRef text);
  Place find(llvm::StringRef path) const { return places.lookup(path); }

private:
  void skipSpace();
  llvm::StringRef skipString();
  void skipValue(const std::string &path);
  void skipObject(const std::string &path);
  void skipArray(const std::string &path);
  Place here();

  llvm::StringRef text;
  size_t at = 0, counted = 0, lineStart = 0;
  unsigned line = 1;
  llvm::StringMap<Place> places;
};

} // namespace reprise

#endif // REPRISE_SUPPORT_JSONPLACES_H
