#include "api/scheme/scheme.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <map>
#include <mutex>

#include "api/builtin/builtin.hpp"
#include "api/json/json.hpp"
#include "api/schema/build.hpp"
#include "api/schema/convert.hpp"
#include "api/schema/embedded.hpp"
#include "api/schema/hide.hpp"
#include "api/schema/predicates.hpp"
#include "api/schema/rules.hpp"
#include "api/schema/source.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

constexpr std::string_view kKueueGroup = "kueue.x-k8s.io";

/// Where fields that the storage version, or another version, cannot hold are kept.
std::string stash_name(const std::string& version) { return "sluice.dev/" + version + "-fields"; }

Result<json::object> parse_object(std::string_view text, const std::string& what) {
  json::error_code error;
  json::value value = json::parse(json_view(text), error);
  if (error) return Error{what + ": not JSON: " + error.message()};
  if (!value.is_object()) return Error{what + ": must be a JSON object"};
  return std::move(*value.if_object());
}

void check_update_rules(const CompiledKind& kind, const json::object& object,
                        const json::object& old, Outcome& outcome) {
  for (const UpdateRule& rule : kind.update_rules) {
    const json::value* before = value_at(old, rule.path);
    if (before == nullptr) continue;
    const json::value* after = value_at(object, rule.path);
    if (after == nullptr && !rule.once_set) continue;
    if (after != nullptr && *after == *before) continue;
    static const json::value kNull;
    add_invalid(outcome, rule.path, after != nullptr ? *after : kNull, rule.message);
  }
}

void check_kind_rules(const CompiledKind& kind, const json::object& object, const json::object* old,
                      const AdmitOptions& options, Outcome& outcome) {
  check_metadata(kind.info, object, outcome);
  if (old != nullptr && !options.status) check_update_rules(kind, object, *old, outcome);
  if (kind.builtin != nullptr && kind.builtin->check != nullptr && !options.status) {
    kind.builtin->check(object, old, outcome);
  }
  if (kind.info.group != kKueueGroup) return;
  const std::string& name = kind.info.kind;
  if (name == "Workload") check_workload(object, old, options, outcome);
  if (name == "ClusterQueue") check_cluster_queue(object, old, outcome);
  if (name == "Cohort") check_cohort(object, outcome);
  if (name == "LocalQueue") check_local_queue(object, outcome);
  if (name == "ResourceFlavor") check_resource_flavor(object, outcome);
}

/// The same fields of the same types with the same defaults.
bool same_fields(const SchemaNode& a, const SchemaNode& b) {
  if (&a == &b) return true;
  if (a.type != b.type || a.type_name != b.type_name || a.open != b.open) return false;
  if (!a.type_name.empty()) return true;  // which may hold itself
  if (a.fields.size() != b.fields.size()) return false;
  const auto both = [](const SchemaNode* one, const SchemaNode* other) {
    return one != nullptr && other != nullptr ? same_fields(*one, *other) : one == other;
  };
  return both(a.items, b.items) && both(a.values, b.values) &&
         std::all_of(a.fields.begin(), a.fields.end(), [&](const SchemaField& field) {
           const SchemaField* other = b.field(field.name);
           return other != nullptr && field.default_value == other->default_value &&
                  same_fields(*field.node, *other->node);
         });
}

bool too_many(const Outcome& outcome) {
  return outcome.full() ||
         std::any_of(outcome.errors.begin(), outcome.errors.end(),
                     [](const Problem& each) { return each.kind == Problem::Kind::kTooMany; });
}

/// The contributed parts of `object`, as an object of the same shape; empty when there are none.
json::object contributed(const SchemaNode& node, const json::object& object) {
  json::object out;
  for (const SchemaField& field : node.fields) {
    if (field.contributed_by.empty() && !field.node->has_contributed) continue;
    const json::value* value = find(object, field.name);
    if (value == nullptr) continue;
    if (!field.contributed_by.empty()) {
      out[field.name] = *value;
    } else if (const auto* inner = value->if_object()) {
      json::object part = contributed(*field.node, *inner);
      if (!part.empty()) out[field.name] = std::move(part);
    } else {
      out[field.name] =
          *value;  // a list with contributed fields inside: whole, so that places hold
    }
  }
  return out;
}

}  // namespace

struct Scheme::State {
  State(json::object type_data, json::object attributes)
      : types(std::move(type_data), std::move(attributes)) {}

  std::mutex mutex;  ///< guards what is compiled late, see root_of()
  TypeLibrary types;
  std::map<std::string, KindSource> sources;
  std::map<std::string, std::unique_ptr<CompiledKind>, std::less<>> kinds;
  /// `apiVersion kind` → kind and version: how objects are found.
  struct Served {
    CompiledKind* kind = nullptr;
    std::size_t version = 0;
  };
  std::map<std::string, Served, std::less<>> served;

  Result<void> add(const json::array& contributions, const std::string& contributor) {
    std::map<std::string, KindSource> next = sources;
    std::map<std::string, std::unique_ptr<CompiledKind>> changed;
    Mistakes mistakes;
    for (const auto& each : contributions) {
      const auto* contribution = each.if_object();
      if (contribution == nullptr) {
        mistakes.add({"must be a JSON object"});
        continue;
      }
      add_contribution(next, *contribution, contributor, mistakes);
      changed[kind_key(find_text(*contribution, "group"), find_text(*contribution, "kind"))];
    }
    for (auto& [key, kind] : changed) {
      const auto source = next.find(key);
      if (source == next.end()) continue;  // it was refused as a whole
      const KindInfo& info = source->second.info;
      kind = compile_kind(source->second, types, builtin_rules(info.group, info.kind), mistakes);
    }
    if (!mistakes.none()) return mistakes.error();
    sources = std::move(next);
    for (auto& [key, kind] : changed) kinds.insert_or_assign(key, std::move(kind));
    index();
    return {};
  }

  void index() {
    served.clear();
    for (const auto& [name, kind] : kinds) {
      for (std::size_t i = 0; i < kind->info.versions.size(); ++i) {
        const auto& info = kind->info;
        served[info.api_version(info.versions[i].name) + " " + info.kind] = {kind.get(), i};
      }
    }
  }

  /// The schema of a version of `kind`; any thread.
  const SchemaNode& root(CompiledKind& kind, std::size_t version) {
    return *root_of(kind, version, types, mutex);
  }

  void to_hub(const Served& came, json::object& object, Outcome& outcome, bool status);

  const Served* find_served(std::string_view api_version, std::string_view kind) const {
    std::string key;
    key.reserve(api_version.size() + kind.size() + 1);
    key.append(api_version).append(" ").append(kind);
    const auto it = served.find(key);
    return it != served.end() ? &it->second : nullptr;
  }
};

Scheme::Scheme() {
  auto types = parse_object(embedded_types(), "types.json");
  SLUICE_CHECK(types.ok(), types.error().text);
  auto attributes = parse_object(embedded_attributes(), "attributes.json");
  SLUICE_CHECK(attributes.ok(), attributes.error().text);
  state_ = std::make_unique<State>(std::move(*types), std::move(*attributes));
  json::array kinds;
  for (const std::string_view text : embedded_kinds()) {
    auto kind = parse_object(text, "core kind");
    SLUICE_CHECK(kind.ok(), kind.error().text);
    if (json::array* several = find_array(*kind, "kinds")) {
      for (auto& each : *several) kinds.push_back(std::move(each));
    } else {
      kinds.emplace_back(std::move(*kind));
    }
  }
  const auto added = state_->add(kinds, "");
  SLUICE_CHECK(added.ok(), added.error().text);
}

Scheme::~Scheme() = default;
Scheme::Scheme(Scheme&&) noexcept = default;
Scheme& Scheme::operator=(Scheme&&) noexcept = default;

Result<void> Scheme::add(std::string_view contribution_json, std::string_view contributor) {
  SLUICE_CHECK(!contributor.empty(), "a contribution without a name");
  const std::string what = std::string(contributor) + ": schema contribution";
  json::error_code error;
  json::value parsed = json::parse(json_view(contribution_json), error);
  if (error) return Error{what + ": not JSON: " + error.message()};
  json::array contributions;
  if (auto* list = parsed.if_array()) {
    contributions = std::move(*list);
  } else {
    contributions.push_back(std::move(parsed));
  }
  auto added = state_->add(contributions, std::string(contributor));
  return added ? added : Result<void>(added.error().context(what));
}

/// From the version in which the object came to the hub form. `status`: its annotation may have
/// fields of the status.
void Scheme::State::to_hub(const Served& came, json::object& object, Outcome& outcome,
                           bool status) {
  CompiledKind& kind = *came.kind;
  const VersionSource& version = kind.sources[came.version];
  convert_to_hub(version, object);
  const std::string annotation = stash_name(kind.info.versions[kind.hub].name);
  const json::object* metadata = find_object(object, "metadata");
  const json::object* annotations =
      metadata != nullptr ? find_object(*metadata, "annotations") : nullptr;
  const bool stashed = annotations != nullptr && api::find(*annotations, annotation) != nullptr;
  if (stashed)
    unstash(object, {annotation, root(kind, came.version), version, /*in_hub=*/true, status});
  // Fills in the defaults of the hub version. What it finds wrong was already reported by the rules
  // of the object's own version, except for fields that came out of the annotation.
  Outcome found;
  Walk::Pruned pruned;
  Walk(stashed ? outcome : found, UnknownFields::kIgnore, &pruned)
      .object(root(kind, kind.hub), object);
  stash(object, stash_name(kind.info.versions[came.version].name), pruned);
  object["apiVersion"] = kind.info.hub_api_version();
}

Outcome Scheme::admit(json::object& object, const json::object* old,
                      const AdmitOptions& options) const {
  Outcome outcome;
  const std::string_view api_version = find_text(object, "apiVersion");
  const std::string_view kind_name = find_text(object, "kind");
  for (const char* field : {"apiVersion", "kind"}) {
    if (!find_text(object, field).empty()) continue;
    add_problem(outcome, Problem::Kind::kRequired, field, "Required value");
  }
  if (!outcome.ok()) return outcome;
  const State::Served* served = state_->find_served(api_version, kind_name);
  if (served == nullptr) {
    add_problem(outcome, Problem::Kind::kNoSuchKind, "",
                "no matches for kind " + shown(kind_name) + " in version " + shown(api_version));
    return outcome;
  }
  const CompiledKind& kind = *served->kind;
  const SchemaNode& root = state_->root(*served->kind, served->version);
  Walk(outcome, options.unknown_fields).object(root, object);
  if (kind.info.namespaced) {
    json::object* metadata = find_object(object, "metadata");
    if (metadata != nullptr && find_text(*metadata, "namespace").empty()) {
      (*metadata)["namespace"] = "default";  // where kubectl puts it, too
    }
  }
  if (kind.builtin != nullptr && kind.builtin->fill_in != nullptr) kind.builtin->fill_in(object);
  if (served->version != kind.hub && outcome.ok()) {
    state_->to_hub(*served, object, outcome, /*status=*/true);
  }
  // Where the schema was violated, types may be wrong; the rules read those as absent. They apply
  // to the hub form, so of an object that could not be converted only the metadata is checked. So
  // it is with lists longer than the schema allows: the rules may compare each entry of such a list
  // with each of another.
  if ((served->version == kind.hub && !too_many(outcome)) || outcome.ok()) {
    check_kind_rules(kind, object, old, options, outcome);
  } else {
    check_metadata(kind.info, object, outcome);
  }
  return outcome;
}

Result<void> Scheme::to_version(json::object& object, std::string_view version) const {
  const State::Served* served =
      state_->find_served(find_text(object, "apiVersion"), find_text(object, "kind"));
  if (served == nullptr || served->version != served->kind->hub) {
    return Error{"not an object in its storage version: " + std::string(find_text(object, "kind")) +
                 " " + std::string(find_text(object, "apiVersion"))};
  }
  const CompiledKind& kind = *served->kind;
  const std::size_t index = kind.version_index(version);
  if (index == kind.info.versions.size()) {
    return Error{kind.info.kind + " has no version " + std::string(version)};
  }
  if (index == kind.hub) return {};
  convert_from_hub(kind.sources[index], object);
  const std::string name = stash_name(kind.info.versions[index].name);
  unstash(object,
          {name, state_->root(*served->kind, kind.hub), kind.sources[index], /*in_hub=*/false});
  settle_from_hub(kind.sources[index], object);
  Outcome ignored;
  Walk::Pruned pruned;
  Walk(ignored, UnknownFields::kIgnore, &pruned).object(state_->root(*served->kind, index), object);
  stash(object, stash_name(kind.info.versions[kind.hub].name), pruned);
  object["apiVersion"] = kind.info.api_version(kind.info.versions[index].name);
  return {};
}

Result<void> Scheme::convert(json::object& object, std::string_view version) const {
  const State::Served* served =
      state_->find_served(find_text(object, "apiVersion"), find_text(object, "kind"));
  if (served == nullptr) {
    return Error{"no matches for kind " + shown(find_text(object, "kind")) + " in version " +
                 shown(find_text(object, "apiVersion"))};
  }
  const CompiledKind& kind = *served->kind;
  if (kind.version_index(version) == kind.info.versions.size()) {
    return Error{kind.info.kind + " has no version " + std::string(version)};
  }
  if (kind.info.versions[served->version].name == version) return {};
  if (served->version != kind.hub) {
    Outcome ignored;
    // Whoever asks for this stores what comes of it, and has looked at the status before.
    state_->to_hub(*served, object, ignored, /*status=*/false);
  }
  return to_version(object, version);
}

const KindInfo* Scheme::find(std::string_view api_version, std::string_view kind) const {
  const State::Served* served = state_->find_served(api_version, kind);
  return served != nullptr ? &served->kind->info : nullptr;
}

const KindInfo* Scheme::find_by_name(std::string_view name) const {
  const KindInfo* found = nullptr;
  for (const auto& [key, kind] : state_->kinds) {
    const KindInfo& info = kind->info;
    const auto& shorts = info.short_names;
    if (info.kind != name && info.plural != name && info.singular != name &&
        std::find(shorts.begin(), shorts.end(), name) == shorts.end()) {
      continue;
    }
    if (found != nullptr) return nullptr;
    found = &info;
  }
  return found;
}

std::vector<const KindInfo*> Scheme::kinds() const {
  std::vector<const KindInfo*> out;
  for (const auto& [key, kind] : state_->kinds) out.push_back(&kind->info);
  return out;
}

std::string Scheme::extensions(std::string_view kind, const json::object& object) const {
  const auto it = state_->kinds.find(kind_key(kKueueGroup, kind));
  if (it == state_->kinds.end() || !it->second->has_contributed) return {};
  const json::object found = contributed(state_->root(*it->second, it->second->hub), object);
  std::string out;
  if (!found.empty()) append_json(found, out);
  return out;
}

std::string Scheme::hide_unknown(const KindInfo& kind, json::object& object,
                                 std::string_view hidden) const {
  json::array kept;
  json::array left;
  if (!hidden.empty()) {
    json::error_code error;
    const json::value before = parse_deep(hidden, error);
    if (!error && before.is_array()) put_back(object, before.get_array(), left);
  }
  if (const SchemaNode* root = schema(kind.hub_api_version(), kind.kind))
    take_unknown(*root, object, kept);
  for (json::value& entry : left) kept.push_back(std::move(entry));
  std::string out;
  if (!kept.empty()) append_json(kept, out);
  return out;
}

std::string Scheme::fields_mark(const KindInfo& kind) const {
  const SchemaNode* root = schema(kind.hub_api_version(), kind.kind);
  return kind.hub().name + "/" + (root != nullptr ? fields_fingerprint(*root) : "");
}

const SchemaNode* Scheme::schema(std::string_view api_version, std::string_view kind) const {
  const State::Served* served = state_->find_served(api_version, kind);
  return served != nullptr ? &state_->root(*served->kind, served->version) : nullptr;
}

const std::vector<UpdateRule>& Scheme::update_rules(const KindInfo& kind) const {
  return state_->kinds.at(kind.group_kind())->update_rules;
}

bool Scheme::same_form(const KindInfo& kind, std::string_view version) const {
  CompiledKind& compiled = *state_->kinds.at(kind.group_kind());
  const std::size_t index = compiled.version_index(version);
  if (index == compiled.info.versions.size()) return false;
  const VersionSource& source = compiled.sources[index];
  return source.moves.empty() && source.mappings.empty() && source.convert.empty() &&
         same_fields(state_->root(compiled, index), state_->root(compiled, compiled.hub));
}

const SchemaNode* Scheme::type(std::string_view name) const {
  const std::lock_guard lock(state_->mutex);
  return state_->types.get(name, TypeUse::kBuiltin);
}

const KindInfo& kueue_kind(const Scheme& scheme, std::string_view name) {
  const KindInfo* kind = scheme.find(kKueueVersion, name);
  SLUICE_CHECK(kind != nullptr, "no kind ", name, " of ", kKueueVersion);
  return *kind;
}

}  // namespace sluice::api
