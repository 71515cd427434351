// FieldWalk: going through objects beside their schema, as server-side apply sees them: which
// fields an object sets, what differs between two, how one is merged into the other.
//
// Maps are looked into unless the schema says that they are one value; so are lists of entries with
// keys and lists of distinct values; all other lists are one value. What the host itself writes
// (apiVersion, kind, names, versions, times of metadata, managedFields) is passed over, and so is
// the status, or everything else, as `part` says. Values of our own depth limits; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "api/schema/node.hpp"
#include "host/rest/field_set.hpp"

namespace sluice::host {

class FieldWalk {
 public:
  enum class Part : std::uint8_t {
    kAll,
    kAllButStatus,
    kStatus,
  };

  FieldWalk(const api::SchemaNode& schema, Part part) : schema_(schema), part_(part) {}

  /// What an applied configuration sets: its leaves.
  FieldSet leaves(const boost::json::object& object);
  /// The same with the maps and lists that hold them.
  FieldSet fields(const boost::json::object& object);

  struct Difference {
    FieldSet changed;  ///< added, or with another value
    FieldSet removed;
    bool none() const { return changed.empty() && removed.empty(); }
  };
  Difference compare(const boost::json::object& before, const boost::json::object& after);

  /// Merges an applied configuration into `target`.
  void merge(boost::json::object& target, const boost::json::object& config);

  /// Takes out of `target` what `owned` names and none of `kept` does, nor anything below it.
  void prune(boost::json::object& target, const FieldSet& owned,
             const std::vector<const FieldSet*>& kept);

  /// The first mistake that leaves() met, such as two entries with the same key; empty: none.
  const std::string& problem() const { return problem_; }

 private:
  enum class Shape : std::uint8_t { kLeaf, kMap, kKeyed, kSet };
  enum class Level : std::uint8_t { kRoot, kMetadata, kDeeper };
  struct Place {
    const api::SchemaNode* node = nullptr;
    const api::MergeRule* rule = nullptr;
    Level level = Level::kDeeper;
    bool declared = true;  ///< a field of the schema, not a key of a map
  };

  Place root() const { return {&schema_, nullptr, Level::kRoot, true}; }
  static Place member(const Place& map, std::string_view key);
  static Place entry(const Place& list);
  static Shape shape(const boost::json::value& value, const Place& place);
  bool passed_over(const Place& map, std::string_view key) const;
  /// The step to an entry of a list; empty when it has no key.
  static std::string step_of(const boost::json::value& item, const Place& list, Shape shape);

  FieldSet collect(const boost::json::value& value, const Place& place);
  FieldSet collect_map(const boost::json::object& object, const Place& place);
  void compare(const boost::json::value& before, const boost::json::value& after,
               const Place& place, Difference& out);
  void compare_maps(const boost::json::object& before, const boost::json::object& after,
                    const Place& place, Difference& out);
  void compare_lists(const boost::json::array& before, const boost::json::array& after,
                     const Place& place, Shape shape, Difference& out);
  void merge(boost::json::value& target, const boost::json::value& config, const Place& place);
  void merge_maps(boost::json::object& target, const boost::json::object& config,
                  const Place& place);
  void merge_lists(boost::json::array& target, const boost::json::array& config, const Place& place,
                   Shape shape);
  bool prune_value(boost::json::value& value, const Place& place, const FieldSet& owned,
                   const std::vector<const FieldSet*>& kept);
  void prune_map(boost::json::object& target, const Place& place, const FieldSet& owned,
                 const std::vector<const FieldSet*>& kept);
  void prune_list(boost::json::array& target, const Place& place, Shape shape,
                  const FieldSet& owned, const std::vector<const FieldSet*>& kept);

  const api::SchemaNode& schema_;
  Part part_;
  bool holders_ = false;  ///< collect maps and lists, too
  std::string problem_;
};

}  // namespace sluice::host
