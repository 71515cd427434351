// Hiding: fields of an object that its schema does not know, kept beside it with their places.
//
// A kept field is `{"at":[…],"value":…}`. The steps of `at` are field names and map keys as texts,
// and for the element of a list an object of its key fields, or its number where the list has no
// keys. Pure functions over immutable schemas; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>

#include "api/schema/node.hpp"

namespace sluice::api {

/// Moves the fields that `root` does not know out of `object` and appends them to `kept`. Metadata
/// and what says the kind are left alone.
void take_unknown(const SchemaNode& root, boost::json::object& object, boost::json::array& kept);

/// Puts kept fields back to their places in `object`. One whose place is gone, or taken, is
/// appended to `left`.
void put_back(boost::json::object& object, const boost::json::array& kept,
              boost::json::array& left);

/// Equal for schemas with the same fields in the same places, and hardly ever for others.
std::string fields_fingerprint(const SchemaNode& root);

}  // namespace sluice::api
