// KindInfo, Problem and Outcome: what a kind is called and served as, and what is wrong with an
// object of it; and how GROUP/VERSION is put together and cut.
//
// Plain values, shared by schemas, rules, readers and writers of objects; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::api {

class JobKind;

/// `GROUP/VERSION`, or the version alone for the core group: what an object has as apiVersion.
std::string group_version(std::string_view group, std::string_view version);

/// The part before the slash of GROUP/VERSION or GROUP/KIND; empty: the core group's.
constexpr std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

/// The part behind the slash of GROUP/VERSION, or all of it without one.
constexpr std::string_view version_of(std::string_view api_version) {
  return api_version.substr(api_version.find('/') + 1);
}

/// One mistake in an object, worded as the Kubernetes API does.
struct Problem {
  enum class Kind : std::uint8_t {
    kRequired,
    kInvalid,
    kUnsupported,
    kDuplicate,
    kTooMany,
    kTooLong,
    kForbidden,
    kUnknownField,
    kNoSuchKind,
  };
  Kind kind = Kind::kInvalid;
  std::string field;   ///< `spec.podSets[0].count`; empty: the object as a whole
  std::string detail;  ///< `Invalid value: -1: must be …`

  /// `spec.podSets[0].count: Invalid value: …`
  std::string text() const {
    if (field.empty() || kind == Kind::kUnknownField) return detail;
    return field + ": " + detail;
  }
};

/// Further mistakes are not reported: no user reads them, and each costs more than what it names.
inline constexpr std::size_t kMostProblems = 200;

struct Outcome {
  std::vector<Problem> errors;    ///< kMostProblems and a few at most
  std::vector<Problem> warnings;  ///< unknown fields when they are not refused
  bool ok() const { return errors.empty(); }
  bool full() const { return errors.size() >= kMostProblems; }
  /// All errors in one line, separated by ", ".
  std::string error_text() const;
};

enum class UnknownFields : std::uint8_t { kIgnore, kWarn, kRefuse };

struct AdmitOptions {
  UnknownFields unknown_fields = UnknownFields::kWarn;
  /// The write goes to the status subresource: what an update may change of the spec is not asked.
  bool status = false;
  /// The workload's plugin allows counts to go down while quota is reserved.
  bool may_lower_counts = false;
};

struct Column {
  std::string name, type, json_path, description;
  std::int32_t priority = 0;  ///< above 0: only with -o wide
};

/// What discovery, tables and routing need to know about a kind.
struct KindInfo {
  std::string group;  ///< empty for the core group
  std::string kind, plural, singular;
  std::string description;  ///< a sentence or two, may be empty
  std::vector<std::string> short_names, categories;
  bool namespaced = false;
  bool status_subresource = false;
  bool internal = false;  ///< stored, but nothing that the API serves; see is_followed_only()
  /// The number below spec that the scale subresource stands for, and what shows it below status;
  /// empty: there is no scale subresource.
  std::string scale_field, scale_status_field;
  struct Version {
    std::string name;
    bool storage = false;
    bool deprecated = false;
    std::vector<Column> columns;
  };
  std::vector<Version> versions;  ///< preferred one first
  /// Annotations and labels that only the system writes.
  std::vector<std::string> marks;
  /// Those of them that a plugin lists, by its name: what it makes of objects may have these.
  std::map<std::string, std::vector<std::string>> marks_of;
  /// An annotation or, without it, a label: objects of one namespace that have the same value of it
  /// belong together, and what is decided about them is written in the order in which it was
  /// decided. Empty: each is by itself.
  std::string together;
  /// Fields that mean nothing to the core and something to a plugin: no warning is for them.
  std::vector<std::string> effective;
  std::string contributed_by;  ///< empty: core
  /// How its objects are jobs; nullptr: they are none.
  std::shared_ptr<const JobKind> job;

  const Version& hub() const;
  /// A plugin brings it and it is not served: there are objects of it only in a cluster, which has
  /// the kind already, and they are followed and never written.
  bool is_followed_only() const { return internal && !contributed_by.empty(); }
  /// It is the host's own: neither served nor shown to plugins.
  bool is_hidden() const { return internal && contributed_by.empty(); }
  /// `GROUP/KIND`, with the slash for the core group, too: how controllers and stores name a kind.
  std::string group_kind() const { return group + "/" + kind; }
  /// `jobs.batch`, as kubectl names it; `pods` without a group.
  std::string full_resource() const { return group.empty() ? plural : plural + "." + group; }
  /// `group/version` of the storage version, `v1` for the core group.
  std::string hub_api_version() const { return api_version(hub().name); }
  /// `group/version`, or the version alone for the core group.
  std::string api_version(std::string_view version) const { return group_version(group, version); }
};

}  // namespace sluice::api
