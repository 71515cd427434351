#include "host/executor/jobs/index_set.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sluice::host {
namespace {

std::optional<std::int64_t> index_number(std::string_view text) {
  std::int64_t value = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end || value < 0) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

IndexSet IndexSet::parse(std::string_view text) {
  IndexSet set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    const std::size_t dash = item.find('-');
    const auto first = index_number(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : index_number(item.substr(dash + 1));
    const bool in_order = set.ranges_.empty() || (first && set.ranges_.back().last < *first);
    if (first && last && *first <= *last && in_order) {
      if (!set.ranges_.empty() && set.ranges_.back().last + 1 == *first)
        set.ranges_.back().last = *last;  // two neighbours were written as two
      else
        set.ranges_.push_back({*first, *last});
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return set;
}

std::string IndexSet::text() const {
  std::string out;
  for (const Range& range : ranges_) {
    if (!out.empty()) out += ',';
    out += std::to_string(range.first);
    // Two neighbours are written as two.
    if (range.last == range.first + 1) out += ',' + std::to_string(range.last);
    if (range.last > range.first + 1) out += '-' + std::to_string(range.last);
  }
  return out;
}

void IndexSet::add(std::int64_t index) {
  auto at = std::lower_bound(ranges_.begin(), ranges_.end(), index,
                             [](const Range& range, std::int64_t i) { return range.last < i - 1; });
  if (at == ranges_.end() || at->first > index + 1) {
    ranges_.insert(at, {index, index});
    return;
  }
  at->first = std::min(at->first, index);
  at->last = std::max(at->last, index);
  const auto next = at + 1;
  if (next != ranges_.end() && next->first <= at->last + 1) {
    at->last = std::max(at->last, next->last);
    ranges_.erase(next);
  }
}

bool IndexSet::contains(std::int64_t index) const {
  const auto at =
      std::lower_bound(ranges_.begin(), ranges_.end(), index,
                       [](const Range& range, std::int64_t i) { return range.last < i; });
  return at != ranges_.end() && at->first <= index;
}

std::int64_t IndexSet::count_below(std::int64_t end) const {
  std::int64_t count = 0;
  for (const Range& range : ranges_) {
    if (range.first >= end) break;
    count += std::min(range.last, end - 1) - range.first + 1;
  }
  return count;
}

std::int64_t IndexSet::count_common(const IndexSet& other, std::int64_t end) const {
  std::int64_t count = 0;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const std::int64_t last = std::min({a->last, b->last, end - 1});
    count += std::max<std::int64_t>(0, last - std::max(a->first, b->first) + 1);
    if (a->last <= b->last)
      ++a;
    else
      ++b;
  }
  return count;
}

}  // namespace sluice::host
