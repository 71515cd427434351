// IndexSet: the completion indexes of an Indexed Job, as its status writes them: `1,3-5,7`.
// A plain value, kept as sorted, disjoint, not touching ranges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

class IndexSet {
 public:
  /// What is malformed is left out.
  static IndexSet parse(std::string_view text);
  std::string text() const;

  void add(std::int64_t index);
  bool contains(std::int64_t index) const;
  /// How many are below `end`.
  std::int64_t count_below(std::int64_t end) const;
  /// How many below `end` are in both.
  std::int64_t count_common(const IndexSet& other, std::int64_t end) const;
  bool empty() const { return ranges_.empty(); }
  bool operator==(const IndexSet&) const = default;

 private:
  struct Range {
    std::int64_t first, last;
    bool operator==(const Range&) const = default;
  };
  std::vector<Range> ranges_;
};

}  // namespace sluice::host
