// KindSource: what is known of a kind before it is compiled: core data and contributions, merged.
//
// Plain data; a Scheme keeps one per kind and compiles it anew when a contribution changes it.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema/kind_info.hpp"
#include "core/base/mistakes.hpp"

namespace sluice::api {

struct FieldSource {
  std::string path;                ///< `spec.podSets[].count`, `spec.nodeLabels{}`
  boost::json::object attributes;  ///< as in the data: type, required, default, …
  std::string contributed_by;
};

struct RuleSource {
  boost::json::object attributes;
  std::string contributed_by;
};

/// A text value that two versions spell differently.
struct ValueMapping {
  std::string path;  ///< in both versions
  std::map<std::string, std::string, std::less<>> to_hub, from_hub;
};

struct VersionSource {
  std::string name;
  std::string type;  ///< of a built-in kind: the named type that describes it
  std::vector<FieldSource> fields;
  std::vector<RuleSource> rules;
  std::vector<std::pair<std::string, std::string>> moves;  ///< field here → field in the hub
  std::string convert;                                     ///< named conversion, see convert.hpp
  std::vector<ValueMapping> mappings;
};

struct KindSource {
  KindInfo info;
  std::vector<VersionSource> versions;  ///< in the order of info.versions

  VersionSource* version(std::string_view name);
};

/// `group/Kind`, how kinds are told apart.
std::string kind_key(std::string_view group, std::string_view kind);

/// Adds one contribution, for the form see docs/plugins/schema.md. What is malformed is left out
/// and told. All or nothing only for the caller's copy: with mistakes `kinds` has what was not
/// wrong.
void add_contribution(std::map<std::string, KindSource>& kinds,
                      const boost::json::object& contribution, const std::string& contributor,
                      Mistakes& mistakes);

}  // namespace sluice::api
