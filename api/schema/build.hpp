// Compiling kinds: from the described fields (source.hpp) to the nodes that objects are walked by.
//
// Used while a Scheme is filled, by one thread; the results are immutable.
#pragma once

#include <atomic>
#include <boost/json/object.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/builtin_rules.hpp"
#include "api/schema/node.hpp"
#include "api/schema/source.hpp"
#include "core/base/result.hpp"

namespace sluice::api {

/// In which kind of object a value of a named type stands. In custom resources only the shape of
/// pod templates is checked; the built-in kinds also fill in defaults and check values.
enum class TypeUse : std::uint8_t { kShape, kBuiltin };

/// Named types (PodTemplateSpec, …) as nodes, compiled on first use. Owns the nodes it makes.
class TypeLibrary {
 public:
  /// `types`: name → {field: TypeExpression}; `attributes`: `Type.field` → what built-in kinds say
  /// of the field (default, enum, …, as in the data of kinds); its description is for all.
  TypeLibrary(boost::json::object types, boost::json::object attributes)
      : types_(std::move(types)), attributes_(std::move(attributes)) {}

  /// nullptr when there is no such type.
  const SchemaNode* get(std::string_view name, TypeUse use = TypeUse::kShape);

 private:
  void add_fields(const std::string& name, TypeUse use, SchemaNode& node);
  static void apply_attributes(const std::string& place, const boost::json::object& attributes,
                               SchemaField& field, SchemaNode* own);
  /// `own` is set to the node when it belongs to this place alone.
  const SchemaNode* of_expression(std::string_view expression, TypeUse use, SchemaNode*& own);
  void add_rules(std::string_view name, SchemaNode& node);

  boost::json::object types_, attributes_;
  std::map<std::string, const SchemaNode*, std::less<>> compiled_;
  std::deque<SchemaNode> nodes_;
};

/// A kind, ready for use. Immutable, but for the roots of built-in kinds, which root_of() makes
/// when they are first asked for: most processes need few of them.
struct CompiledKind {
  KindInfo info;
  std::vector<VersionSource> sources;                 ///< for conversion
  std::vector<std::atomic<const SchemaNode*>> roots;  ///< in the order of info.versions
  std::size_t hub = 0;
  bool has_contributed = false;
  const BuiltinRules* builtin = nullptr;  ///< of a built-in kind that has more than a schema
  std::vector<UpdateRule> update_rules;   ///< of the hub version
  std::deque<SchemaNode> nodes;

  /// info.versions.size() when there is none.
  std::size_t version_index(std::string_view name) const;
};

/// `builtin`: its rules if it is a built-in kind that has any; nullptr otherwise. With mistakes the
/// kind has what was not wrong.
std::unique_ptr<CompiledKind> compile_kind(const KindSource& source, TypeLibrary& types,
                                           const BuiltinRules* builtin, Mistakes& mistakes);

/// The schema of a version, compiled on its first use. `types` and the nodes of `kind` are guarded
/// by `mutex`; may be called from any thread.
const SchemaNode* root_of(CompiledKind& kind, std::size_t version, TypeLibrary& types,
                          std::mutex& mutex);

}  // namespace sluice::api
