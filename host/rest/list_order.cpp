#include "host/rest/list_order.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace sluice::host {
namespace {

using Ranks = std::unordered_map<std::string_view, std::size_t>;

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
  boost::json::array out(items.storage());
  out.reserve(items.size());
  auto l = left.begin();
  auto r = right.begin();
  while (l != left.end() || r != right.end()) {
    const bool take_left =
        l != left.end() && (r == right.end() || (rank(was, keys[*r]) != kNone &&
                                                 rank(was, keys[*l]) < rank(was, keys[*r])));
    out.push_back(std::move(items[take_left ? *l++ : *r++]));
  }
  items = std::move(out);
}

}  // namespace sluice::host
