// reprise: loading of a GPU library by the file names of its versions
#ifndef REPRISE_LIB_RUNTIME_CUDALIBRARY_H
#define REPRISE_LIB_RUNTIME_CUDALIBRARY_H

#include "reprise/Runtime/Tuning.h"

#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace reprise::runtime::cuda {

/// Advice at the end of a message about a missing library.
constexpr char withoutLibrary[] = "; a bundle compiled without --contractions=library needs none";

/// Name of a function, and the variable for its address.
struct FunctionPlace {
  const char *name;
  void **place;
};
/// Opens the first of these files that exists, and sets its functions. Fails if there is none, or
/// if it lacks a function; the error names `file`.
Error loadFunctions(const std::vector<const char *> &files, const char *file,
                    const std::vector<FunctionPlace> &functions);
/// Entry for lists of X(member, name in the library, result, parameters), and a `library` of
/// pointers.
#define REPRISE_PLACE(member, name, result, parameters)                                            \
  reprise::runtime::cuda::FunctionPlace{#name, reinterpret_cast<void **>(&library.member)},

/// Deleter of a library's objects.
template <typename T> struct Freer {
  int (*free)(T);
  void operator()(T object) const { free(object); }
};
template <typename T> using Owned = std::unique_ptr<std::remove_pointer_t<T>, Freer<T>>;

/// Returns the recorded algorithm for the key, or the recommended one, which is then recorded.
/// `check` returns the fault of either. Algorithms are copied byte by byte.
template <typename AlgorithmT, typename RecommendT, typename CheckT>
Expected<AlgorithmT> chooseAlgorithm(Tuning &tuning, const TuningMachine &machine,
                                     const std::string &key, RecommendT recommend, CheckT check) {
  auto chosen = tuning.find(machine, key);
  if (!chosen)
    return chosen.error();
  AlgorithmT algorithm{};
  bool isKnown = chosen->has_value();
  if (isKnown && (*chosen)->size() != sizeof algorithm)
    return Error::make(tuning.describe(key) + " is not an algorithm of " + machine.library);
  if (isKnown) {
    std::memcpy(&algorithm, (*chosen)->data(), sizeof algorithm);
  } else {
    Expected<AlgorithmT> recommended = recommend();
    if (!recommended)
      return Error::make("'" + key + "': " + recommended.message() + withoutLibrary);
    algorithm = *recommended;
  }
  if (Error error = check(algorithm))
    return Error::make((isKnown ? tuning.describe(key) : "'" + key + "'") + ": " + error.message());
  if (!isKnown) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&algorithm);
    tuning.choose(machine, key, {bytes, bytes + sizeof algorithm});
  }
  return algorithm;
}

} // namespace reprise::runtime::cuda

#endif // REPRISE_LIB_RUNTIME_CUDALIBRARY_H
