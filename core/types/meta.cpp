#include "core/types/meta.hpp"

#include <algorithm>
#include <utility>

namespace sluice::api {
namespace {

bool before(const LabelMap::Entry& entry, std::string_view key) { return entry.first < key; }

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool satisfied(const LabelSelector::Requirement& requirement, const LabelMap& labels) {
  const std::string* value = labels.find(requirement.key);
  switch (requirement.op) {
    case LabelSelector::Operator::kIn:
      return value != nullptr && contains(requirement.values, *value);
    case LabelSelector::Operator::kNotIn:
      return value == nullptr || !contains(requirement.values, *value);
    case LabelSelector::Operator::kExists:
      return value != nullptr;
    case LabelSelector::Operator::kDoesNotExist:
      return value == nullptr;
  }
  return false;
}

}  // namespace

LabelMap::LabelMap(std::vector<Entry> entries) : entries_(std::move(entries)) {
  const auto by_key = [](const Entry& a, const Entry& b) { return a.first < b.first; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), by_key))
    std::stable_sort(entries_.begin(), entries_.end(), by_key);
  // Of equal keys the last one stays: from behind it is the first.
  const auto end = std::unique(entries_.rbegin(), entries_.rend(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
  entries_.erase(entries_.begin(), end.base());
}

const std::string* LabelMap::find(std::string_view key) const {
  const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, before);
  return it != entries_.end() && it->first == key ? &it->second : nullptr;
}

void LabelMap::set(std::string key, std::string value) {
  if (entries_.empty() || entries_.back().first < key) {  // sorted input needs no search
    entries_.emplace_back(std::move(key), std::move(value));
    return;
  }
  const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, before);
  if (it != entries_.end() && it->first == key) {
    it->second = std::move(value);
  } else {
    entries_.emplace(it, std::move(key), std::move(value));
  }
}

void LabelMap::erase(std::string_view key) {
  const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, before);
  if (it != entries_.end() && it->first == key) entries_.erase(it);
}

bool LabelSelector::matches(const LabelMap& labels) const {
  for (const auto& [key, value] : match_labels) {
    const std::string* found = labels.find(key);
    if (found == nullptr || *found != value) return false;
  }
  return std::all_of(match_expressions.begin(), match_expressions.end(),
                     [&](const Requirement& each) { return satisfied(each, labels); });
}

}  // namespace sluice::api
