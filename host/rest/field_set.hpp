// FieldSet: a set of fields of an object, as managedFields keep them: a tree whose steps are
// `f:NAME` (a field or a key), `k:{…}` (the entry of a list with these keys), `v:…` (a value of a
// set) and `i:N` (an index).
//
// Invariant: children are in order of their steps, none is empty. A plain value; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

class FieldSet {
 public:
  struct Child;

  bool self = false;  ///< the field itself belongs to the set, not only some below it

  /// `fieldsV1`; nullopt when it is malformed.
  static std::optional<FieldSet> parse(const boost::json::object& fields);
  boost::json::object to_json(boost::json::storage_ptr storage = {}) const;

  bool empty() const { return !self && children_.empty(); }
  const std::vector<Child>& children() const { return children_; }
  const FieldSet* find(std::string_view step) const;

  /// For building: children in any order, then normalise() once.
  void append(std::string step, FieldSet set);
  void normalise();

  void unite(const FieldSet& other);
  void subtract(const FieldSet& other);
  /// Takes away the leaves of `other` that this has too, and what held nothing but these.
  void cut(const FieldSet& other);
  FieldSet intersect(const FieldSet& other) const;
  bool operator==(const FieldSet& other) const;

  /// Each member as people write it: `.spec.containers[name="a"].image`.
  void each_path(const std::function<void(const std::string& path)>& take) const;

 private:
  void paths(std::string& path, const std::function<void(const std::string&)>& take) const;

  std::vector<Child> children_;
};

struct FieldSet::Child {
  std::string step;
  FieldSet set;
  bool operator==(const Child&) const = default;
};

}  // namespace sluice::host
