// Result<T>: the value, or the error that a person can act on.
//
// Expected failures (bad input, a missing file, a refused plugin) travel as values; exceptions are
// not part of any interface of core or host. An Error is one sentence that names the place, the
// value and what is allowed; `context()` puts the outer place in front as the error travels up.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/base/check.hpp"

namespace sluice {

struct [[nodiscard]] Error {
  std::string text;

  /// The same error with `where: ` in front.
  Error context(const std::string& where) const { return Error{where + ": " + text}; }
};

template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(*-explicit-*)
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*-explicit-*)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// REQUIRES: ok().
  T& value() & {
    SLUICE_CHECK(ok(), error().text);
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    SLUICE_CHECK(ok(), error().text);
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    SLUICE_CHECK(ok(), error().text);
    return std::move(*std::get_if<0>(&state_));
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  /// REQUIRES: !ok().
  const E& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, E> state_;
};

/// Success without a value, or an error.
template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)), ok_(false) {}  // NOLINT(*-explicit-*)

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const E& error() const { return error_; }

 private:
  E error_;
  bool ok_ = true;
};

}  // namespace sluice
