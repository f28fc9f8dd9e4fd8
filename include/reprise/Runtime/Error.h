// reprise: errors as values, for a library without exceptions
#ifndef REPRISE_RUNTIME_ERROR_H
#define REPRISE_RUNTIME_ERROR_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace reprise::runtime {

/// Success, or one message for the user: lower case, no full stop, with the file or argument.
class [[nodiscard]] Error {
public:
  static Error success() { return Error(); }
  static Error make(std::string message) {
    Error error;
    error.text = std::move(message);
    return error;
  }
  /// Returns true for an error.
  explicit operator bool() const { return text.has_value(); }
  const std::string &message() const {
    assert(text && "no error");
    return *text;
  }

private:
  Error() = default;
  std::optional<std::string> text;
};

/// Value, or the error that prevented it.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : value(std::move(value)), failure(Error::success()) {}
  Expected(Error error) : failure(std::move(error)) { assert(failure && "success needs a value"); }
  /// Returns true for a value.
  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }
  const Error &error() const { return failure; }
  const std::string &message() const { return failure.message(); }

private:
  std::optional<T> value;
  Error failure;
};

} // namespace reprise::runtime

#endif // REPRISE_RUNTIME_ERROR_H
