#include "host/rest/managed_fields.hpp"

#include <algorithm>
#include <tuple>

#include "api/json/json.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostUpdaters = 10;
constexpr std::string_view kAncient = "ancient-changes";

bool in_order(const ManagedEntry& a, const ManagedEntry& b) {
  const auto rank = [](const ManagedEntry& each) {
    return std::tie(each.time, each.manager, each.api_version, each.subresource);
  };
  if (a.applied != b.applied) return a.applied;
  return rank(a) < rank(b);
}

/// The oldest updaters of a version become one, until there are few enough.
void put_together(ManagedFields& entries) {
  for (;;) {
    const auto updaters = static_cast<std::size_t>(std::count_if(
        entries.begin(), entries.end(), [](const auto& each) { return !each.applied; }));
    if (updaters <= kMostUpdaters) return;
    api::Steps::count(entries.size());
    auto oldest = std::find_if(entries.begin(), entries.end(),
                               [](const auto& each) { return !each.applied; });
    const auto fits = [&](const ManagedEntry& each) {
      return !each.applied && each.api_version == oldest->api_version &&
             each.subresource == oldest->subresource;
    };
    auto next = std::find_if(oldest + 1, entries.end(), fits);
    for (; next == entries.end() && oldest + 1 != entries.end();
         next = std::find_if(oldest + 1, entries.end(), fits))
      ++oldest;
    if (next == entries.end()) return;
    next->fields.unite(oldest->fields);
    next->manager = kAncient;
    entries.erase(oldest);
  }
}

}  // namespace

bool ManagedEntry::same_owner(const ManagedEntry& other) const {
  return manager == other.manager && applied == other.applied && subresource == other.subresource &&
         (applied || api_version == other.api_version);
}

ManagedFields parse_managed_fields(const json::array& entries) {
  ManagedFields out;
  for (const auto& each : entries) {
    const auto* entry = each.if_object();
    if (entry == nullptr || out.size() >= kMostManagers) continue;
    const auto* fields = api::find_object(*entry, "fieldsV1");
    const std::string_view operation = api::find_text(*entry, "operation");
    if (fields == nullptr || (operation != "Apply" && operation != "Update")) continue;
    if (api::find_text(*entry, "fieldsType") != "FieldsV1") continue;
    auto set = FieldSet::parse(*fields);
    if (!set) continue;
    ManagedEntry& made = out.emplace_back();
    made.manager = api::find_text(*entry, "manager");
    made.applied = operation == "Apply";
    made.api_version = api::find_text(*entry, "apiVersion");
    made.subresource = api::find_text(*entry, "subresource");
    made.time = api::find_text(*entry, "time");
    made.fields = std::move(*set);
  }
  return out;
}

json::array to_json(ManagedFields fields, json::storage_ptr storage) {
  fields.erase(std::remove_if(fields.begin(), fields.end(),
                              [](const ManagedEntry& each) { return each.fields.empty(); }),
               fields.end());
  std::sort(fields.begin(), fields.end(), in_order);
  put_together(fields);
  json::array out(storage);
  out.reserve(fields.size());
  for (const ManagedEntry& each : fields) {
    json::object entry(storage);
    entry.reserve(7);
    entry["manager"] = each.manager;
    entry["operation"] = each.applied ? "Apply" : "Update";
    entry["apiVersion"] = each.api_version;
    if (!each.time.empty()) entry["time"] = each.time;
    entry["fieldsType"] = "FieldsV1";
    entry["fieldsV1"] = each.fields.to_json(storage);
    if (!each.subresource.empty()) entry["subresource"] = each.subresource;
    out.push_back(std::move(entry));
  }
  return out;
}

bool is_reset(const json::array& entries) {
  return entries.size() == 1 && entries[0].is_object() && entries[0].get_object().empty();
}

}  // namespace sluice::host
