// LabelQuery, FieldQuery and Selector: the labelSelector and fieldSelector of a list, a watch or a
// deletion of many, as texts from a URL and as answers about stored objects.
//
// Parsed once per request, then only read: any thread. matches() looks into the texts of the object
// and parses nothing; where only the name is asked for, the key answers.
#pragma once

#include <boost/json/array.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/objects/api_error.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

class LabelQuery {
 public:
  /// `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>3`; empty: everything. Errors are 400.
  static ApiResult<LabelQuery> parse(std::string_view text);

  bool empty() const { return requirements_.empty(); }
  bool matches(const StoredObject& object) const;
  /// Of `labels` as compact JSON; empty: none.
  /// O(labels × log requirements), whatever the order of either.
  bool matches_labels(std::string_view labels) const;
  /// The same as the matchExpressions of a LabelSelector; nullopt: one cannot say `>` and `<`.
  std::optional<boost::json::array> expressions() const;

 private:
  friend class LabelQueryParser;
  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kAbove, kBelow };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;
    std::int64_t bound = 0;
  };
  static bool satisfied(const Requirement& requirement, const std::string_view* value);
  void sort_keys();
  std::string_view key_of(std::uint32_t number) const { return requirements_[number].key; }

  std::vector<Requirement> requirements_;
  std::vector<std::uint32_t> by_key_;  // their numbers, in the order of their keys
};

class FieldQuery {
 public:
  /// `status.phase=Running,metadata.name!=x`; backslash, comma and `=` in values are escaped with a
  /// backslash. Which fields may be asked for depends on kind and version; others are 400.
  static ApiResult<FieldQuery> parse(std::string_view text, const api::KindInfo& kind,
                                     std::string_view version);

  bool empty() const { return terms_.empty(); }
  bool matches(const StoredObject& object) const;
  /// The only name that can match; nullptr: any may.
  const std::string* exact_name() const;
  /// The only namespace that can match; nullptr: any may.
  const std::string* exact_namespace() const;

 private:
  struct Term {
    std::string path;  ///< of the label
    bool equal = true;
    std::string value;
  };
  const std::string* exact(std::string_view path) const;

  std::vector<Term> terms_;
};

struct Selector {
  LabelQuery labels;
  FieldQuery fields;

  bool empty() const { return labels.empty() && fields.empty(); }
  bool matches(const StoredObject& object) const {
    return fields.matches(object) && labels.matches(object);
  }
};

/// Both parameters of a request; empty texts select everything.
ApiResult<Selector> parse_selector(std::string_view labels, std::string_view fields,
                                   const api::KindInfo& kind, std::string_view version);

/// The field labels that lists of the kind can be selected by, besides metadata.name and
/// metadata.namespace; for documents (x-kubernetes-selectable-fields) and messages.
std::vector<std::string> selectable_fields(const api::KindInfo& kind, std::string_view version);

}  // namespace sluice::host
