// What all objects share: metadata, labels, conditions, label selectors.
//
// Plain value types; an object is immutable once it was handed to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/time.hpp"

namespace sluice::api {

/// A small sorted map of texts (labels, annotations, node selectors). Invariant: sorted by key,
/// keys unique. find() is O(log n).
class LabelMap {
 public:
  using Entry = std::pair<std::string, std::string>;

  LabelMap() = default;
  /// From entries in any order, the last one of a key counts. O(n log n), where set() for each of
  /// many would move those that follow it.
  explicit LabelMap(std::vector<Entry> entries);

  /// nullptr when absent.
  const std::string* find(std::string_view key) const;
  void set(std::string key, std::string value);
  void erase(std::string_view key);

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  bool operator==(const LabelMap&) const = default;

 private:
  std::vector<Entry> entries_;
};

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
  bool block_owner_deletion = false;
};

struct ObjectMeta {
  std::string name;
  std::string ns;  ///< empty for cluster-wide kinds
  std::string uid;
  LabelMap labels;
  LabelMap annotations;
  std::optional<Time> creation_time;
  std::optional<Time> deletion_time;
  std::int64_t generation = 0;
  std::vector<OwnerReference> owners;

  /// `namespace/name`, or `name` for cluster-wide kinds: how logs and messages name an object.
  std::string key() const { return ns.empty() ? name : ns + "/" + name; }
  /// UID of the owner that controls it; empty: none does.
  std::string_view controller_uid() const {
    for (const OwnerReference& owner : owners)
      if (owner.controller) return owner.uid;
    return {};
  }
};

/// metav1.Condition.
struct Condition {
  std::string type;
  std::string status;  ///< True, False or Unknown
  std::string reason;
  std::string message;
  Time last_transition_time = 0;
  std::int64_t observed_generation = 0;

  bool is_true() const { return status == "True"; }
};

/// metav1.LabelSelector. An absent selector matches nothing, an empty one everything; absence is
/// the holder's std::optional.
struct LabelSelector {
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kIn;
    std::vector<std::string> values;
  };

  LabelMap match_labels;
  std::vector<Requirement> match_expressions;

  bool matches(const LabelMap& labels) const;
};

}  // namespace sluice::api
