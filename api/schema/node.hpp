// SchemaNode: one compiled place in an object's schema.
//
// Built once by build.cpp and then only read: any thread. Nodes of named types (PodSpec, …) are
// shared between kinds; what depends on the place (required, default) is in the SchemaField.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/formats.hpp"
#include "api/schema/merge_rule.hpp"

namespace sluice::api {

enum class NodeType : std::uint8_t {
  kAny,
  kObject,
  kArray,
  kString,
  kInteger,
  kNumber,
  kBoolean,
  kQuantity,
  kIntOrString,
  kBytes,  ///< base64 in JSON
};

const char* type_name(NodeType type);

/// `when` of a rule: the field (dotted path below the rule's place) has one of the values.
struct RuleCondition {
  std::string field;
  std::vector<std::string> values;
};

/// A rule about one value: a named predicate with its parameters, and what to say when it fails.
struct Rule {
  using Predicate = bool (*)(const Rule& rule, const boost::json::value& self);
  std::string name;
  Predicate holds = nullptr;
  std::string message;
  std::string field;
  std::vector<std::string> fields;
  std::vector<std::string> one_of;
  std::vector<RuleCondition> when;
};

/// A rule about a change: the value at `path` (hub form) must stay as it was.
struct UpdateRule {
  std::string path;
  std::string message;
  bool once_set = false;  ///< it may still be set while it is absent
};

struct SchemaNode;

struct SchemaField {
  std::string name;
  const SchemaNode* node = nullptr;
  bool required = false;
  /// With the defaults of everything below filled in.
  std::optional<boost::json::value> default_value;
  std::string contributed_by;  ///< empty: core
  std::string description;     ///< for people, may be empty
  MergeRule merge;
};

/// From key to index in a few nanoseconds: an open table over length and three characters.
class KeyTable {
 public:
  static constexpr std::uint8_t kNone = 0xFF;

  void build(const std::vector<SchemaField>& fields);

  std::uint8_t find(std::string_view key, const std::vector<SchemaField>& fields) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = hash(key);; ++at) {
      const std::uint8_t index = slots_[at & mask_];
      if (index == kNone || fields[index].name == key) return index;
    }
  }

 private:
  static std::size_t hash(std::string_view key) {
    if (key.empty()) return 0;
    const auto at = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(key[i]));
    };
    return key.size() * 13 + at(0) * 31 + at(key.size() - 1) * 7 + at(key.size() / 2) * 101;
  }

  std::vector<std::uint8_t> slots_;
  std::size_t mask_ = 0;
};

struct SchemaNode {
  NodeType type = NodeType::kAny;
  Format format = Format::kNone;
  std::string type_name;  ///< of a named type: PodSpec, …
  std::vector<SchemaField> fields;
  KeyTable keys;
  std::vector<std::uint8_t> to_complete;  ///< fields that are required or have a default
  const SchemaNode* items = nullptr;      ///< of an array
  const SchemaNode* values = nullptr;     ///< of a map (an object with free keys)
  bool open = false;                      ///< an object with fields that are not described
  bool has_contributed = false;           ///< a contributed field here or below
  bool list_set = false;
  std::vector<std::string> list_keys;
  std::vector<std::string> one_of;
  std::optional<std::int64_t> min, max;
  std::size_t min_length = 0;
  std::size_t max_length = std::numeric_limits<std::size_t>::max();
  std::size_t min_items = 0;
  std::size_t max_items = std::numeric_limits<std::size_t>::max();
  std::size_t max_properties = std::numeric_limits<std::size_t>::max();
  std::vector<Rule> rules;

  /// After its fields changed.
  void index_fields();
  const SchemaField* field(std::string_view name) const {
    const std::uint8_t index = keys.find(name, fields);
    return index == KeyTable::kNone ? nullptr : &fields[index];
  }
};

}  // namespace sluice::api
