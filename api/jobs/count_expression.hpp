// CountExpression: a whole number that is worked out from an object, and a comparison of two:
//
//   .replicas ?? 1                          a path, and what holds where nothing is there
//   .replicas * min(.parallelism ?? 1, 4)   + - * / and brackets, min, max; / rounds to zero
//   sum(.groups[*], .replicas ?? 1)         of all that a path leads to; count(.groups[*])
//   sum(.status.jobs[*].ready) >= $.spec.jobs    1 where it holds, else 0; also > <= < ==
//   milli(.coreRequest) ?? 1000             an amount of Kubernetes, in thousandths: 500m is 500
//   is(.type, 'Python')                     1 where this text is there, else 0
//   mib(.memory) ?? 1024                    a size as Java writes it, in MiB: 2g is 2048
//
// A path that starts with a dot is read from the element (the object itself, or the entry of a list
// for which a pod set stands), one that starts with $ from the object, one that starts with @ from
// what is reported of the pod set. A number in quotes counts as one, because annotations are texts.
// value() visits each part of the object a bounded number of times: a sum stands in no other, and
// none in it starts from $ or @.
//
// Parsed once, then only read: any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json_path.hpp"
#include "core/base/result.hpp"

namespace sluice::api {

/// From where paths are read.
struct CountScope {
  enum class Root : std::uint8_t { kElement, kWhole, kReport };

  const boost::json::object& whole;
  const boost::json::object& element;
  JsonPlace place;                              ///< of the element
  const boost::json::object* report = nullptr;  ///< nullptr: nothing is

  std::vector<JsonPath::Found> places(const JsonPath& path, Root root) const {
    if (root == Root::kReport)
      return report ? path.places(*report) : std::vector<JsonPath::Found>();
    return root == Root::kWhole ? path.places(whole) : path.places(element, place);
  }
};

class CountExpression {
 public:
  static constexpr std::size_t kLongest = 400;  ///< characters

  static Result<CountExpression> parse(std::string_view text);

  /// The error names the place and what was found there.
  Result<std::int64_t> value(const CountScope& scope) const;

  /// Where the number stands in the element, when it is nothing but a path of names (and what holds
  /// without it); empty: it is worked out.
  JsonPlace lone_place() const;

  /// Whether a path in it starts with @.
  bool reads_report() const;

 private:
  friend class CountParser;
  enum class Op : std::uint8_t {
    kNumber,
    kPath,
    kDefault,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kMilli,
    kMib,
    kIs,
    kMin,
    kMax,
    kSum,
    kCount,
    kAtLeast,
    kMore,
    kAtMost,
    kLess,
    kEqual
  };
  struct Node {
    Op op = Op::kNumber;
    std::int64_t number = 0;
    JsonPath path;
    std::string text;  ///< of the path, or that is() looks for
    CountScope::Root root = CountScope::Root::kElement;
    std::int32_t left = -1, right = -1;
  };

  const Node& at(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }
  Result<std::int64_t> value(const Node& node, const CountScope& scope) const;
  /// Whether the node says what stands at a path, so that it may say nothing.
  bool reads(std::int32_t index) const;
  Result<std::int64_t> read(const Node& node, const CountScope& scope) const;
  Result<std::int64_t> sum(const Node& node, const CountScope& scope) const;

  std::vector<Node> nodes_;
  std::int32_t root_ = -1;
};

/// A whole number, also as a text; the error says what `value` is instead.
Result<std::int64_t> whole_number(const boost::json::value& value);

/// `spec.groups[0].replicas`, for people.
std::string dotted(const JsonPlace& place);

}  // namespace sluice::api
