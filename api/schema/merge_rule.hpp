// MergeRule: how a change to one field is joined with what is there: by a strategic merge patch,
// and by server-side apply.
//
// Plain data beside each field of a schema (SchemaField::merge), made once; any thread may read it.
// A walker that goes through an object beside its schema finds the rule of each field on its way;
// merge_rule() finds the one of a path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::api {

struct SchemaNode;

struct MergeRule {
  // ---- strategic merge patch (built-in kinds only)
  bool merge = false;        ///< a list whose entries are merged; else a patch replaces it
  std::string key;           ///< with merge: tells entries apart; empty: entries are plain values
  bool retain_keys = false;  ///< $retainKeys is understood
  // ---- server-side apply
  std::vector<std::string> keys;  ///< a list of entries told apart by these fields
  bool set = false;               ///< a list of distinct plain values
  bool atomic = false;            ///< owned as a whole; so is a list without keys that is no set
};

/// The rule of the field at `path` below `root`: `spec.template.spec.containers[].env`, `[]` and
/// `{}` for what is inside lists and maps; nullptr when there is no such field.
const MergeRule* merge_rule(const SchemaNode& root, std::string_view path);

}  // namespace sluice::api
