// BuiltinRules: what a built-in kind needs beyond its schema, as functions that a compiled kind
// points to. api/builtin has them; a Scheme joins the two.
#pragma once

#include <boost/json/object.hpp>

namespace sluice::api {

struct Outcome;

struct BuiltinRules {
  /// Defaults that depend on other fields. Types may be wrong: then nothing is done.
  void (*fill_in)(boost::json::object& object) = nullptr;
  /// Appends what is wrong; `old` is the stored object on an update. Not called for writes to the
  /// status.
  void (*check)(const boost::json::object& object, const boost::json::object* old,
                Outcome& outcome) = nullptr;
};

}  // namespace sluice::api
