// Walk: one pass over an object beside its schema: defaults, validation, unknown fields.
//
// Made per object, used once, by one thread. Paths are only rendered when something is wrong.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema/kind_info.hpp"
#include "api/schema/node.hpp"

namespace sluice::api {

class Walk {
 public:
  /// Unknown fields that were removed, with their paths; nullptr when not wanted.
  using Pruned = std::vector<std::pair<std::string, boost::json::value>>;

  Walk(Outcome& outcome, UnknownFields unknown, Pruned* pruned = nullptr)
      : outcome_(outcome), unknown_(unknown), pruned_(pruned) {}

  void object(const SchemaNode& node, boost::json::object& object);

 private:
  struct Step {
    std::string_view key;
    std::size_t index = 0;
    enum class Kind : std::uint8_t { kField, kIndex, kMapKey } kind = Kind::kField;
  };

  void value(const SchemaNode& node, boost::json::value& value);
  void members(const SchemaNode& node, boost::json::object& object);
  void map_values(const SchemaNode& node, boost::json::object& object);
  void remove_members(const SchemaNode& node, boost::json::object& object);
  void unknown_member(std::string_view key, boost::json::value& value);
  void complete(const SchemaNode& node, boost::json::object& object, std::uint64_t seen);
  void array(const SchemaNode& node, boost::json::array& array);
  void duplicates(const SchemaNode& node, const boost::json::array& array);
  void text(const SchemaNode& node, std::string_view text);
  void integer(const SchemaNode& node, boost::json::value& value);
  void quantity(const boost::json::value& value);
  void rules(const SchemaNode& node, const boost::json::value& self);
  void wrong_type(const SchemaNode& node, const boost::json::value& value);

  std::string path() const;
  void problem(Problem::Kind kind, std::string detail);

  Outcome& outcome_;
  UnknownFields unknown_;
  Pruned* pruned_;
  std::vector<Step> steps_;
};

/// How Kubernetes shows a value inside an error: texts quoted, all else as JSON, cut when long.
std::string shown(const boost::json::value& value);
std::string shown(std::string_view text);
/// `supported values: "A", "B"` in full: `Unsupported value: "x": supported values: "A", "B"`.
std::string unsupported(const std::string& value, const std::vector<std::string>& allowed);

}  // namespace sluice::api
