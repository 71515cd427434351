// JsonPath: the subset of JSON path that printer columns use, ready for evaluation.
//
//   .spec.queueName   ['a.b']   .a\.b   [0]   [-1]   [*]   [?(@.type=="Admitted")]   [?(@.n!=3)]
//
// Parsed once, then only read: any thread. find() is O(size of what is passed).
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

class JsonPath {
 public:
  static Result<JsonPath> parse(std::string_view text);

  /// All values that the path leads to, in order.
  std::vector<const boost::json::value*> find(const boost::json::object& root) const;

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
  static void apply(const Part& part, const boost::json::value& at,
                    std::vector<const boost::json::value*>& out);
  static bool holds(const Part& filter, const boost::json::value& entry);

  std::vector<Part> parts_;
};

}  // namespace sluice::host
