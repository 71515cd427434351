// Compiling kinds: from the described fields (source.hpp) to the nodes that objects are walked by.
//
// Used while a Scheme is filled, by one thread; the results are immutable.
#pragma once

#include <boost/json/object.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/schema/node.hpp"
#include "core/api/schema/source.hpp"
#include "core/base/result.hpp"

namespace sluice::api {

/// Named types (PodTemplateSpec, …) as nodes, compiled on first use. Owns the nodes it makes.
class TypeLibrary {
 public:
  /// `types`: name → {field: type}, a type being a scalar, another name, `[]T` or `{}T`, with `!`
  /// at the end when the field is required.
  explicit TypeLibrary(boost::json::object types) : types_(std::move(types)) {}

  /// nullptr when there is no such type.
  const SchemaNode* get(std::string_view name);

 private:
  const SchemaNode* of_expression(std::string_view expression);
  void add_rules(std::string_view name, SchemaNode& node);

  boost::json::object types_;
  std::map<std::string, const SchemaNode*, std::less<>> compiled_;
  std::deque<SchemaNode> nodes_;
};

struct CompiledVersion {
  const SchemaNode* root = nullptr;
};

/// A kind, ready for use. Immutable.
struct CompiledKind {
  KindInfo info;
  std::vector<VersionSource> sources;     ///< for conversion
  std::vector<CompiledVersion> versions;  ///< in the order of info.versions
  std::size_t hub = 0;
  bool has_contributed = false;
  std::vector<UpdateRule> update_rules;  ///< of the hub version
  std::deque<SchemaNode> nodes;

  /// info.versions.size() when there is none.
  std::size_t version_index(std::string_view name) const;
};

Result<std::unique_ptr<CompiledKind>> compile_kind(const KindSource& source, TypeLibrary& types);

}  // namespace sluice::api
