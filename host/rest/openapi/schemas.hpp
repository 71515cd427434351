// SchemaSet: the schemas of an OpenAPI document, made from the nodes that validate objects.
//
// Collects what it is asked for together with everything that this refers to. One document, one
// SchemaSet, one thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "api/schema/node.hpp"
#include "api/scheme/scheme.hpp"

namespace sluice::host {

enum class OpenApiVersion : std::uint8_t { kV2, kV3 };

struct GroupVersionKind {
  std::string_view group, version, kind;
};

/// As the extension x-kubernetes-group-version-kind has it.
boost::json::object gvk_object(const GroupVersionKind& gvk);

class SchemaSet {
 public:
  SchemaSet(const api::Scheme& scheme, OpenApiVersion version) : scheme_(scheme), form_(version) {}

  /// Adds the schema of a kind, and that of its list when it is stored. A kind that the Scheme does
  /// not hold is looked for among the named types (reviews, Scale); one that is not there either
  /// is described as an object with any fields.
  void add_kind(const GroupVersionKind& gvk, bool stored);

  /// `{"$ref": …}` of a kind that was added.
  boost::json::object ref(const GroupVersionKind& gvk) const;
  boost::json::object list_ref(const GroupVersionKind& gvk) const;
  /// The options of a deletion; adds their schema.
  boost::json::object delete_options();
  /// What is answered about a request instead of an object; adds its schema.
  boost::json::object status();

  /// All schemas by name; the set is empty afterwards.
  boost::json::object take();

 private:
  /// In which kind of object a value of a named type stands: the built-in kinds have more to say
  /// about it (defaults, limits, how patches merge) than a custom resource that has a pod template
  /// in it.
  enum class Use : std::uint8_t { kShape, kBuiltin };

  std::string path_of(std::string_view name) const;
  boost::json::object ref_to(std::string_view name) const;
  std::string type_schema_name(std::string_view type, Use use) const;
  boost::json::object schema_of(const api::SchemaNode& node, Use use);
  boost::json::object object_schema(const api::SchemaNode& node, Use use);
  boost::json::object field_schema(const api::SchemaField& field, Use use);
  boost::json::object named_schema(const api::SchemaNode& node, Use use);
  boost::json::object shared_schema(std::string_view name);
  void add_list(const GroupVersionKind& gvk);

  const api::Scheme& scheme_;
  const OpenApiVersion form_;
  std::set<std::string, std::less<>> known_;  ///< added, or being added
  boost::json::object schemas_;
};

}  // namespace sluice::host
