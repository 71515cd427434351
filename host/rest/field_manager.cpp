#include "host/rest/field_manager.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "api/json/json.hpp"
#include "host/rest/field_walk.hpp"
#include "host/rest/managed_fields.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

using Difference = FieldWalk::Difference;

constexpr std::size_t kMostConflicts = 500;

FieldWalk::Part part_of(const FieldOwner& owner) {
  if (owner.subresource == "status") return FieldWalk::Part::kStatus;
  return owner.kind.status_subresource ? FieldWalk::Part::kAllButStatus : FieldWalk::Part::kAll;
}

const json::array* managed_of(const json::object* object) {
  const auto* metadata = object != nullptr ? api::find_object(*object, "metadata") : nullptr;
  return metadata != nullptr ? api::find_array(*metadata, "managedFields") : nullptr;
}

void set_managed(json::object& object, json::array entries) {
  json::value& metadata = object["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  if (entries.empty()) {
    metadata.get_object().erase("managedFields");
  } else {
    metadata.get_object()["managedFields"] = std::move(entries);
  }
}

/// What a change is, in each version in which owners name their fields.
class Changes {
 public:
  /// Of `before` and `after` in `version`; the hub forms are for the other versions, and may be
  /// missing.
  Changes(const api::Scheme& scheme, const FieldOwner& owner, std::string api_version,
          Difference difference, const json::object* hub_before, const json::object* hub_after)
      : scheme_(scheme), owner_(owner), hub_before_(hub_before), hub_after_(hub_after) {
    main_ = &by_version_.emplace(std::move(api_version), std::move(difference)).first->second;
  }

  const Difference& main() const { return *main_; }

  const Difference& in(const std::string& api_version) {
    const auto known = by_version_.find(api_version);
    if (known != by_version_.end()) return known->second;
    auto converted = convert(api_version);
    // A version that is not served any more names its fields as this one, as far as one can know.
    if (!converted) return *main_;
    return by_version_.emplace(api_version, std::move(*converted)).first->second;
  }

 private:
  std::optional<Difference> convert(const std::string& api_version) const {
    const auto* schema = scheme_.schema(api_version, owner_.kind.kind);
    if (schema == nullptr || hub_before_ == nullptr || hub_after_ == nullptr) return std::nullopt;
    const std::string_view version = api::version_of(api_version);
    json::object before = *hub_before_;
    json::object after = *hub_after_;
    if (!scheme_.to_version(before, version) || !scheme_.to_version(after, version))
      return std::nullopt;
    return FieldWalk(*schema, part_of(owner_)).compare(before, after);
  }

  const api::Scheme& scheme_;
  const FieldOwner& owner_;
  const json::object* hub_before_;
  const json::object* hub_after_;
  std::map<std::string, Difference> by_version_;
  const Difference* main_ = nullptr;
};

void lose(ManagedEntry& entry, const Difference& difference) {
  entry.fields.subtract(difference.changed);
  entry.fields.subtract(difference.removed);
}

std::string manager_text(const ManagedEntry& entry) {
  std::string out = "\"" + entry.manager + "\"";
  if (!entry.subresource.empty()) out += " with subresource \"" + entry.subresource + "\"";
  if (!entry.applied) out += " using " + entry.api_version;
  return out;
}

struct Conflict {
  std::string manager;
  std::vector<std::string> paths;
};

ApiError conflict_error(const api::KindInfo& kind, std::string_view name,
                        std::vector<Conflict> conflicts) {
  std::sort(conflicts.begin(), conflicts.end(),
            [](const Conflict& a, const Conflict& b) { return a.manager < b.manager; });
  std::size_t count = 0;
  std::string list;
  ApiError out = conflict(kind, name);
  for (const Conflict& each : conflicts) {
    if (!list.empty()) list += '\n';
    const bool one = each.paths.size() == 1;
    list += (one ? "conflict with " : "conflicts with ") + each.manager + ":";
    for (const std::string& path : each.paths) {
      list += (one ? " " : "\n- ") + path;
      out.causes.push_back({"FieldManagerConflict", "conflict with " + each.manager, path});
      ++count;
    }
  }
  out.text = "Apply failed with " + std::to_string(count) +
             (count == 1 ? " conflict: " : " conflicts: ") + list;
  return out;
}

/// One apply, step by step.
class Apply {
 public:
  Apply(const api::Scheme& scheme, const FieldOwner& owner, std::string_view version,
        const json::object* live, const json::object& config, bool force)
      : scheme_(scheme),
        owner_(owner),
        version_(version),
        api_version_(owner.kind.api_version(version)),
        schema_(scheme.schema(api_version_, owner.kind.kind)),
        live_hub_(live),
        config_(config),
        force_(force) {}

  ApiResult<json::object> run() {
    if (auto checked = check(); !checked) return checked.error();
    FieldWalk walk(*schema_, part_of(owner_));
    FieldSet wanted = walk.leaves(config_);
    if (!walk.problem().empty())
      return bad_request("the applied configuration is not valid: " + walk.problem());
    if (auto read = read_live(!wanted.empty()); !read) return read.error();
    json::object merged = live_;
    walk.merge(merged, config_);
    const ManagedEntry mine = own_entry();
    prune(walk, merged, mine, wanted);
    Difference difference = walk.compare(live_, merged);
    const std::optional<json::object> hub = to_hub(merged);
    Changes changes(scheme_, owner_, api_version_, std::move(difference), live_hub_,
                    hub ? &*hub : nullptr);
    if (auto taken = take_from_others(mine, changes); !taken) return taken.error();
    return finish(std::move(merged), mine, std::move(wanted), changes.main().none());
  }

 private:
  ApiResult<void> check() const {
    if (owner_.manager.empty())
      return bad_request(
          "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: "
          "is required for apply patch");
    if (schema_ == nullptr)
      return bad_request("no schema of " + owner_.kind.kind + " in " + api_version_);
    const auto* given = managed_of(&config_);
    if (given != nullptr && !given->empty())
      return bad_request("metadata.managedFields must be nil");
    return {};
  }

  /// `tracks`: from now on owners are known, so those before have to be accounted for.
  ApiResult<void> read_live(bool tracks) {
    if (live_hub_ == nullptr) {
      start_new();
      return {};
    }
    live_ = *live_hub_;
    if (version_ != owner_.kind.hub().name) {
      if (auto converted = scheme_.to_version(live_, version_); !converted)
        return bad_request(converted.error().text);
    }
    if (const auto* managed = managed_of(&live_)) entries_ = parse_managed_fields(*managed);
    if (!entries_.empty() || !tracks) return {};
    ManagedEntry& first = entries_.emplace_back();
    first.manager = "before-first-apply";
    first.api_version = api_version_;
    first.time = format_time(owner_.now);
    first.fields = FieldWalk(*schema_, part_of({owner_.kind, {}, {}, 0})).fields(live_);
    return {};
  }

  void start_new() {
    for (const char* key : {"apiVersion", "kind"}) {
      if (const json::value* value = api::find(config_, key)) live_[key] = *value;
    }
    json::object metadata;
    if (const auto* given = api::find_object(config_, "metadata")) {
      for (const char* key : {"name", "namespace"}) {
        if (const json::value* value = api::find(*given, key)) metadata[key] = *value;
      }
    }
    live_["metadata"] = std::move(metadata);
  }

  /// As it is before this apply; without fields when there is none.
  ManagedEntry own_entry() const {
    ManagedEntry out;
    out.manager = owner_.manager;
    out.applied = true;
    out.subresource = owner_.subresource;
    for (const ManagedEntry& each : entries_) {
      if (each.same_owner(out)) return each;
    }
    return out;
  }

  void prune(FieldWalk& walk, json::object& merged, const ManagedEntry& mine,
             const FieldSet& wanted) const {
    if (mine.fields.empty()) return;
    std::map<std::string, FieldSet> others;  // by version: each is looked at once
    for (const ManagedEntry& each : entries_)
      if (!each.same_owner(mine)) others[each.api_version].unite(each.fields);
    for (auto& [api_version, fields] : others) fields = here(api_version, fields, merged);
    std::vector<const FieldSet*> kept = {&wanted};
    for (const auto& [api_version, fields] : others) kept.push_back(&fields);
    walk.prune(merged, here(mine.api_version, mine.fields, merged), kept);
  }

  /// Fields of a version in that of this apply: what of `object` is gone here when they are gone
  /// there. O(object) for those of another version.
  FieldSet here(const std::string& api_version, const FieldSet& fields,
                const json::object& object) const {
    if (api_version == api_version_) return fields;
    const auto* schema = scheme_.schema(api_version, owner_.kind.kind);
    const std::string_view version = api::version_of(api_version);
    json::object before = object;
    if (schema == nullptr || !scheme_.convert(before, version)) return fields;
    json::object after = before;
    FieldWalk(*schema, FieldWalk::Part::kAll).prune(after, fields, {});
    if (!scheme_.convert(before, version_) || !scheme_.convert(after, version_)) return fields;
    return FieldWalk(*schema_, FieldWalk::Part::kAll).compare(before, after).removed;
  }

  /// In hub form, when another version's owners have to be asked; nullopt: not needed, or not
  /// possible (then it will be refused when it is written).
  std::optional<json::object> to_hub(const json::object& merged) const {
    const bool needed = std::any_of(entries_.begin(), entries_.end(), [&](const auto& each) {
      return each.api_version != api_version_;
    });
    if (!needed || live_hub_ == nullptr) return std::nullopt;
    json::object out = merged;
    if (version_ == owner_.kind.hub().name) return out;
    const api::Outcome outcome = scheme_.admit(out, nullptr, {api::UnknownFields::kIgnore});
    if (!outcome.ok()) return std::nullopt;
    return out;
  }

  ApiResult<void> take_from_others(const ManagedEntry& mine, Changes& changes) {
    std::vector<Conflict> conflicts;
    for (ManagedEntry& each : entries_) {
      if (each.same_owner(mine)) continue;
      const Difference& difference = changes.in(each.api_version);
      Conflict conflict;
      each.fields.intersect(difference.changed).each_path([&](const std::string& path) {
        if (conflict.paths.size() < kMostConflicts) conflict.paths.push_back(path);
      });
      if (!conflict.paths.empty() && !force_) {
        conflict.manager = manager_text(each);
        conflicts.push_back(std::move(conflict));
      }
      lose(each, difference);
    }
    if (conflicts.empty()) return {};
    const auto* metadata = api::find_object(config_, "metadata");
    return conflict_error(owner_.kind, metadata != nullptr ? api::find_text(*metadata, "name") : "",
                          std::move(conflicts));
  }

  ApiResult<json::object> finish(json::object merged, ManagedEntry mine, FieldSet wanted,
                                 bool same_object) {
    const bool same_fields = mine.fields == wanted && mine.api_version == api_version_;
    if (same_object && same_fields && live_hub_ != nullptr) return live_;
    mine.fields = std::move(wanted);
    mine.api_version = api_version_;
    mine.time = format_time(owner_.now);
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                  [&](const auto& each) { return each.same_owner(mine); }),
                   entries_.end());
    if (entries_.size() >= kMostManagers) return too_many_managers();
    entries_.push_back(std::move(mine));
    set_managed(merged, to_json(std::move(entries_)));
    return merged;
  }

  ApiError too_many_managers() const {
    ApiError out;
    out.code = 422;
    out.reason = "Invalid";
    out.text = "metadata.managedFields: Too many: the object has " +
               std::to_string(entries_.size()) + " field managers and \"" +
               std::string(owner_.manager) + "\" would be one more: must have at most " +
               std::to_string(kMostManagers);
    return out;
  }

  const api::Scheme& scheme_;
  const FieldOwner& owner_;
  std::string_view version_;
  std::string api_version_;
  const api::SchemaNode* schema_;
  const json::object* live_hub_;
  const json::object& config_;
  bool force_;
  json::object live_;  // in the version of the request
  ManagedFields entries_;
};

/// Of the owner, in hub form, without fields yet.
ManagedEntry entry_of(const FieldOwner& owner) {
  ManagedEntry out;
  out.manager = owner.manager;
  out.api_version = owner.kind.hub_api_version();
  out.subresource = owner.subresource;
  return out;
}

}  // namespace

ApiResult<json::object> apply_configuration(const api::Scheme& scheme, const FieldOwner& owner,
                                            std::string_view version, const json::object* live,
                                            const json::object& config, bool force) {
  return Apply(scheme, owner, version, live, config, force).run();
}

void track_create(const api::Scheme& scheme, const FieldOwner& owner, const json::object& generated,
                  json::object& object) {
  ManagedEntry mine = entry_of(owner);
  const auto* schema = scheme.schema(mine.api_version, owner.kind.kind);
  if (schema == nullptr) return;
  FieldWalk walk(*schema, part_of(owner));
  mine.fields = walk.fields(object);
  mine.fields.cut(walk.leaves(generated));
  mine.time = format_time(owner.now);
  ManagedFields own;
  if (!mine.fields.empty()) own.push_back(std::move(mine));
  set_managed(object, to_json(std::move(own), object.storage()));
}

void track_update(const api::Scheme& scheme, const FieldOwner& owner, const json::object& before,
                  json::object& after) {
  ManagedEntry mine = entry_of(owner);
  const std::string api_version = mine.api_version;
  const auto* schema = scheme.schema(api_version, owner.kind.kind);
  if (schema == nullptr) return;
  const json::array* known = managed_of(&before);
  const json::array* given = managed_of(&after);
  if (given != nullptr && is_reset(*given)) return set_managed(after, {});
  ManagedFields entries;
  if (given != nullptr) entries = parse_managed_fields(*given);
  if (entries.empty() && known != nullptr && known != given) entries = parse_managed_fields(*known);
  if (entries.empty()) return set_managed(after, {});

  FieldWalk walk(*schema, part_of(owner));
  Difference difference = walk.compare(before, after);
  if (!difference.none()) {
    Changes changes(scheme, owner, api_version, std::move(difference), &before, &after);
    auto own = std::find_if(entries.begin(), entries.end(),
                            [&](const auto& each) { return each.same_owner(mine); });
    for (auto& each : entries) lose(each, changes.in(each.api_version));
    ManagedEntry& entry = own != entries.end() ? *own : entries.emplace_back(std::move(mine));
    entry.fields.unite(changes.main().changed);
    entry.time = format_time(owner.now);
  }
  set_managed(after, to_json(std::move(entries), after.storage()));
}

}  // namespace sluice::host
