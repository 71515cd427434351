// JsonPath: the subset of JSON path that printer columns and job kinds use, ready for evaluation;
// JsonPlace: one place in a tree, by the names and indices that lead there.
//
//   .spec.queueName   ['a.b']   .a\.b   [0]   [-1]   [*]   [?(@.type=="Admitted")]   [?(@.n!=3)]
//
// Parsed once, then only read: any thread. find() and places() are O(size of what is passed).
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::api {

/// Names of members, and indices as decimal numbers, from the root on.
using JsonPlace = std::vector<std::string>;

/// nullptr when nothing is there.
boost::json::value* at_place(boost::json::object& root, std::span<const std::string> place);
const boost::json::value* at_place(const boost::json::object& root,
                                   std::span<const std::string> place);
/// The object there, made with what leads to it; before a decimal number an array is made. nullptr
/// when something else stands in the way. REQUIRES: indices are small.
boost::json::object* make_place(boost::json::object& root, std::span<const std::string> place);
/// A name as one step of a JSON pointer.
std::string pointer_step(std::string_view name);

/// `groups/0/replicas`, a JSON pointer without its first slash, and back.
std::string place_text(std::span<const std::string> place);
JsonPlace place_of(std::string_view text);

class JsonPath {
 public:
  static Result<JsonPath> parse(std::string_view text);

  /// All values that the path leads to, in order.
  std::vector<const boost::json::value*> find(const boost::json::object& root) const;

  struct Found {
    JsonPlace place;
    const boost::json::value* value = nullptr;
  };
  /// The same with their places; `from` stands at `place`.
  std::vector<Found> places(const boost::json::object& from, const JsonPlace& place = {}) const;

  /// A step to one value: a member's name, or the entry of a list whose member `key` is `text`.
  struct One {
    std::string name;
    std::string key, text;
  };
  /// Where it leads to one value at most, and says what to make where nothing is; else empty.
  std::vector<One> ones() const;

  /// The names of its members, where it leads to one value by them alone; empty: it does not.
  JsonPlace members() const;

 private:
  friend class JsonPathParser;
  enum class Step : std::uint8_t { kMember, kIndex, kAll, kFilter };
  struct Part {
    Step step = Step::kMember;
    std::vector<std::string> names;  ///< the member, or the path below @ of a filter
    std::int64_t index = 0;
    bool equal = true;
    std::string text;  ///< what a filter compares with
  };
  template <typename F>
  static void each(const Part& part, const boost::json::object& at, F&& take);
  template <typename F>
  static void each(const Part& part, const boost::json::value& at, F&& take);
  static bool holds(const Part& filter, const boost::json::value& entry);

  std::vector<Part> parts_;
};

}  // namespace sluice::api
