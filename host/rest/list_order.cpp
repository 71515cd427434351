#include "host/rest/list_order.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "api/json/steps.hpp"

namespace sluice::host {
namespace {

// Sorted, not hashed: the keys are a client's, who could choose them to collide.
using Ranks = std::map<std::string_view, std::size_t>;

Ranks ranks_of(const std::vector<std::string>& keys) {
  Ranks out;
  for (std::size_t i = 0; i < keys.size(); ++i) out.emplace(keys[i], i);
  return out;
}

}  // namespace

void order_list(boost::json::array& items, const std::vector<std::string>& keys,
                const std::vector<std::string>& before, const std::vector<std::string>& wanted) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  const Ranks was = ranks_of(before);
  const Ranks named = ranks_of(wanted);
  const auto rank = [](const Ranks& ranks, const std::string& key) {
    api::Steps::count();
    const auto found = ranks.find(key);
    return found == ranks.end() ? kNone : found->second;
  };
  std::vector<std::size_t> left, right;  // indices of the others, and of those that are named
  for (std::size_t i = 0; i < items.size(); ++i)
    (rank(named, keys[i]) == kNone ? left : right).push_back(i);
  std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
    return rank(was, keys[a]) < rank(was, keys[b]);
  });
  std::stable_sort(right.begin(), right.end(), [&](std::size_t a, std::size_t b) {
    return rank(named, keys[a]) < rank(named, keys[b]);
  });
  // A new entry stands where the patch has it: right before the next one that was there, or last.
  std::vector<std::size_t> place(right.size(), kNone);
  for (std::size_t i = right.size(); i-- > 0;) {
    const std::size_t own = rank(was, keys[right[i]]);
    place[i] = own != kNone || i + 1 == right.size() ? own : place[i + 1];
  }
  boost::json::array out(items.storage());
  out.reserve(items.size());
  std::size_t l = 0, r = 0;
  while (l < left.size() || r < right.size()) {
    const bool take_left =
        l < left.size() &&
        (r == right.size() || rank(was, keys[left[l]]) < place[r] || place[r] == kNone);
    out.push_back(std::move(items[take_left ? left[l++] : right[r++]]));
  }
  items = std::move(out);
}

}  // namespace sluice::host
