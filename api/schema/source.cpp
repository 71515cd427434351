#include "api/schema/source.hpp"

#include <algorithm>
#include <set>

#include "api/jobs/job_kind.hpp"
#include "api/jobs/job_page.hpp"
#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "api/json/json_path.hpp"
#include "api/schema/field_path.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/job_status.hpp"
#include "api/schema/kind_names.hpp"
#include "api/schema/walk.hpp"
#include "core/base/text.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

void only_keys(const json::object& object, const std::string& where,
               const std::set<std::string_view>& allowed, Mistakes& mistakes) {
  for (const auto& member : object) {
    if (allowed.count(view(member.key())) != 0) continue;
    std::string list;
    for (const auto& each : allowed) list += (list.empty() ? "" : ", ") + std::string(each);
    mistakes.add(
        {where + ": unknown key \"" + std::string(view(member.key())) + "\"; allowed are " + list});
  }
}

/// The objects of a list, each with its place; what is none is told.
std::vector<std::pair<const json::object*, std::string>> objects_of(const json::object& from,
                                                                    std::string_view key,
                                                                    const std::string& where,
                                                                    Mistakes& mistakes) {
  std::vector<std::pair<const json::object*, std::string>> out;
  const json::array* list = find_array(from, key);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string place = where + std::string(key) + "[" + std::to_string(i) + "]";
    if (const auto* each = (*list)[i].if_object()) {
      out.emplace_back(each, place);
    } else {
      mistakes.add({place + ": must be an object"});
    }
  }
  return out;
}

/// Is the text a path? If not, that is told of `place`.
bool is_path(std::string_view text, PathForm form, const std::string& place, Mistakes& mistakes) {
  auto judged = judge_path(text, form);
  if (!judged) mistakes.add(judged.error().context(place));
  return judged.ok();
}

/// The core has columns that it computes, `=NAME`; all others are JSON paths.
Result<void> judge_column_path(std::string_view path, const std::string& contributor) {
  if (contributor.empty() && path.starts_with('=')) return {};
  const auto parsed = JsonPath::parse(path);
  if (parsed) return {};
  return Error{"found " + shown(path) + ", " + parsed.error().text +
               "; allowed: a JSON path such as .spec.podSets[0].name"};
}

void read_columns(const json::object& from, const std::string& where,
                  const std::string& contributor, std::vector<Column>& into, Mistakes& mistakes) {
  for (const auto& [each, place] : objects_of(from, "columns", where + ".", mistakes)) {
    only_keys(*each, place, {"name", "path", "type", "description", "priority"}, mistakes);
    Column column;
    column.name = find_text(*each, "name");
    column.json_path = find_text(*each, "path");
    column.type = find_text(*each, "type");
    column.description = find_text(*each, "description");
    column.priority = find_int32(*each, "priority").value_or(0);
    const bool exists = std::any_of(into.begin(), into.end(),
                                    [&](const Column& other) { return other.name == column.name; });
    if (column.name.empty() || column.json_path.empty()) {
      mistakes.add({place + ": name and path are required"});
    } else if (auto judged = judge_column_path(column.json_path, contributor); !judged) {
      mistakes.add(judged.error().context(place + ".path"));
    } else if (exists) {
      mistakes.add({place + ": column \"" + column.name + "\" exists already"});
    } else {
      into.push_back(std::move(column));
    }
  }
}

void read_fields(const json::object& from, const std::string& where, bool override_existing,
                 const std::string& contributor, VersionSource& into, Mistakes& mistakes) {
  for (const auto& [each, place] : objects_of(from, "fields", where + ".", mistakes)) {
    only_keys(*each, place,
              {"path", "type", "items", "required", "default", "enum", "format", "min", "max",
               "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "listType",
               "listKeys", "mapType", "description", "open"},
              mistakes);
    FieldSource field{std::string(find_text(*each, "path")), *each, contributor};
    if (field.path.empty()) {
      mistakes.add({place + ": path is required"});
      continue;
    }
    if (!is_path(field.path, PathForm::kPlace, place + ".path", mistakes)) continue;
    const auto existing =
        std::find_if(into.fields.begin(), into.fields.end(),
                     [&](const FieldSource& other) { return other.path == field.path; });
    if (existing == into.fields.end()) {
      into.fields.push_back(std::move(field));
    } else if (override_existing) {
      *existing = std::move(field);
    } else {
      mistakes.add(
          {place + ": field \"" + field.path + "\" exists already in version " + into.name +
           (existing->contributed_by.empty() ? std::string(", it is a field of the core")
                                             : ", contributed by " + existing->contributed_by)});
    }
  }
}

/// The paths that a rule names: where it stands, and what it looks at below that.
bool judge_rule(const json::object& rule, const std::string& place, Mistakes& mistakes) {
  const std::size_t before = mistakes.size();
  const auto judge = [&](std::string_view key, const json::value& value, PathForm form) {
    const json::string* text = value.if_string();
    if (text == nullptr) return mistakes.add({place + "." + std::string(key) + ": must be a text"});
    is_path(view(*text), form, place + "." + std::string(key), mistakes);
  };
  if (const json::value* at = find(rule, "at"); at != nullptr && *at != "")
    judge("at", *at, PathForm::kPlace);
  for (const char* key : {"field", "fields", "whenSet"}) {
    const json::value* value = find(rule, key);
    const json::array* list = value != nullptr ? value->if_array() : nullptr;
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      judge(key + ("[" + std::to_string(i) + "]"), (*list)[i], PathForm::kMember);
    if (value != nullptr && list == nullptr) judge(key, *value, PathForm::kMember);
  }
  if (const json::object* when = find_object(rule, "when"))
    for (const auto& member : *when)
      is_path(view(member.key()), PathForm::kMember, place + ".when", mistakes);
  return mistakes.size() == before;
}

void read_rules(const json::object& from, const std::string& where, const std::string& contributor,
                VersionSource& into, Mistakes& mistakes) {
  for (const auto& [each, place] : objects_of(from, "rules", where + ".", mistakes)) {
    only_keys(*each, place,
              {"at", "rule", "message", "field", "fields", "oneOf", "when", "whenSet"}, mistakes);
    if (judge_rule(*each, place, mistakes)) into.rules.push_back({*each, contributor});
  }
}

void base_on(KindSource& kind, const json::object& from, const std::string& where,
             VersionSource& into, Mistakes& mistakes) {
  const std::string_view base_name = find_text(from, "basedOn");
  if (base_name.empty()) return;
  const VersionSource* base = kind.version(base_name);
  if (base == nullptr)
    return mistakes.add({where + ".basedOn: no version " + std::string(base_name)});
  into.fields = base->fields;
  if (find(from, "rules") == nullptr) into.rules = base->rules;
  for (const auto& path : decode_texts(find_array(from, "without"))) {
    if (!is_path(path, PathForm::kPlace, where + ".without", mistakes)) continue;
    std::erase_if(into.fields, [&](const FieldSource& f) { return is_below(f.path, path); });
  }
}

void read_moves(const json::object& from, const std::string& where, VersionSource& into,
                Mistakes& mistakes) {
  const json::array* moves = find_array(from, "moves");
  for (std::size_t i = 0; moves != nullptr && i < moves->size(); ++i) {
    const auto* pair = (*moves)[i].if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() ||
        !(*pair)[1].is_string()) {
      mistakes.add({where + ".moves: each must be [FIELD HERE, FIELD IN THE STORAGE VERSION]"});
      continue;
    }
    const std::string place = where + ".moves[" + std::to_string(i) + "]";
    const std::string_view here = view(*(*pair)[0].if_string());
    const std::string_view in_hub = view(*(*pair)[1].if_string());
    if (is_path(here, PathForm::kMember, place, mistakes) &&
        is_path(in_hub, PathForm::kMember, place, mistakes))
      into.moves.emplace_back(here, in_hub);
  }
}

void read_scale(const json::object& from, const std::string& where, KindInfo& into,
                Mistakes& mistakes) {
  into.scale_field = find_text(from, "spec");
  into.scale_status_field = find_text(from, "status");
  is_path(into.scale_field, PathForm::kName, where + ".spec", mistakes);
  if (!into.scale_status_field.empty())
    is_path(into.scale_status_field, PathForm::kMember, where + ".status", mistakes);
}

/// A version that was not there yet, as far as it is known before its own fields are read.
VersionSource& new_version(KindSource& kind, const json::object& from, const std::string& where,
                           Mistakes& mistakes) {
  VersionSource added;
  added.name = find_text(from, "version");
  added.type = find_text(from, "type");
  KindInfo::Version info;
  info.name = added.name;
  info.storage = find_bool(from, "storage", false);
  info.deprecated = find_bool(from, "deprecated", false);
  base_on(kind, from, where, added, mistakes);
  if (!find_text(from, "basedOn").empty() && find(from, "columns") == nullptr) {
    for (const auto& other : kind.info.versions) {
      if (other.name == find_text(from, "basedOn")) info.columns = other.columns;
    }
  }
  if (find_bool(from, "status", false)) kind.info.status_subresource = true;
  if (const json::object* scale = find_object(from, "scale"))
    read_scale(*scale, where + ".scale", kind.info, mistakes);
  kind.info.versions.push_back(std::move(info));
  kind.versions.push_back(std::move(added));
  return kind.versions.back();
}

void read_version(KindSource& kind, const json::object& from, const std::string& where,
                  const std::string& contributor, Mistakes& mistakes) {
  only_keys(from, where,
            {"version", "storage", "deprecated", "status", "scale", "type", "columns", "fields",
             "rules", "basedOn", "without", "moves", "convert"},
            mistakes);
  const std::string name(find_text(from, "version"));
  if (name.empty()) return mistakes.add({where + ".version: required"});
  VersionSource* version = kind.version(name);
  const bool fresh = version == nullptr;
  if (auto judged = judge_dns_label(name); fresh && !judged)
    return mistakes.add(judged.error().context(where + ".version"));
  if (fresh) version = &new_version(kind, from, where, mistakes);
  const auto index = static_cast<std::size_t>(version - kind.versions.data());
  read_columns(from, where, contributor, kind.info.versions[index].columns, mistakes);
  read_fields(from, where, fresh, contributor, *version, mistakes);
  read_rules(from, where, contributor, *version, mistakes);
  version->convert = fresh ? find_text(from, "convert") : std::string_view(version->convert);
  read_moves(from, where, *version, mistakes);
}

void read_map(const json::object& from, std::string_view key,
              std::map<std::string, std::string, std::less<>>& into) {
  if (const json::object* map = find_object(from, key)) {
    for (const auto& member : *map) {
      if (const auto* text = member.value().if_string()) {
        into.insert_or_assign(std::string(view(member.key())), std::string(view(*text)));
      }
    }
  }
}

void read_mappings(KindSource& kind, const json::object& from, Mistakes& mistakes) {
  for (const auto& [each, where] : objects_of(from, "valueMappings", "", mistakes)) {
    only_keys(*each, where, {"version", "path", "toStorage", "fromStorage"}, mistakes);
    VersionSource* version = kind.version(find_text(*each, "version"));
    if (version == nullptr) {
      mistakes.add({where + ".version: no such version of " + kind.info.kind});
      continue;
    }
    ValueMapping mapping;
    mapping.path = find_text(*each, "path");
    read_map(*each, "toStorage", mapping.to_hub);
    read_map(*each, "fromStorage", mapping.from_hub);
    const bool known_path =
        std::any_of(version->fields.begin(), version->fields.end(),
                    [&](const FieldSource& field) { return field.path == mapping.path; });
    if (!known_path) mistakes.add({where + ".path: no field \"" + mapping.path + "\""});
    version->mappings.push_back(std::move(mapping));
  }
}

/// The texts of a list that `is_one` says yes to; others are no `what`.
void read_texts(const json::object& from, const std::string& key, const std::string& list_of,
                const std::string& what, bool (*is_one)(std::string_view),
                std::vector<std::string>& into, Mistakes& mistakes) {
  const json::value* given = find(from, key);
  if (given == nullptr) return;
  if (!given->is_array()) return mistakes.add({key + ": must be a list of " + list_of});
  for (const json::value& each : given->get_array()) {
    const json::string* text = each.if_string();
    if (text != nullptr && is_one(view(*text))) {
      into.emplace_back(view(*text));
    } else {
      mistakes.add({key + ": " + to_json(each) + " is no " + what});
    }
  }
}

void read_marks(const json::object& from, std::vector<std::string>& into, Mistakes& mistakes) {
  const auto named = [](std::string_view text) { return text.find('/') != text.npos; };
  read_texts(from, "marks", "annotation and label names", "name of the form DOMAIN/NAME", named,
             into, mistakes);
}

/// One plugin at most says so: an object belongs together with one set of others.
void read_together(const json::object& from, std::string& into, Mistakes& mistakes) {
  const json::value* given = find(from, "together");
  if (given == nullptr) return;
  const json::string* text = given->if_string();
  if (text == nullptr || !is_qualified_name(view(*text)))
    return mistakes.add({"together: " + to_json(*given) + " is no name of an annotation or label"});
  if (!into.empty() && into != view(*text))
    return mistakes.add({"together: objects of the kind belong together by " + into + " already"});
  into = view(*text);
}

void read_gives(const json::object& from, std::vector<std::string>& into, Mistakes& mistakes) {
  const auto is_place = [](std::string_view text) { return judge_path(text).ok(); };
  read_texts(from, "gives", "paths of fields", "path of a field", is_place, into, mistakes);
}

/// How its objects are jobs: a page, or the name of a kind that is built in.
Result<void> read_job(const json::object& from, const std::string& contributor, KindInfo& into) {
  const json::value* given = find(from, "job");
  if (given == nullptr) return {};
  if (const json::object* page = given->if_object()) {
    auto declared = declared_job_kind(*page, into.group, into.kind);
    if (!declared) return declared.error().context("job");
    into.job = std::move(*declared);
  } else if (contributor.empty() && given->is_string()) {
    into.job = builtin_job_kind(view(given->get_string()));
  }
  if (!into.job) return Error{"job: " + to_json(*given) + " is no kind of job"};
  return {};
}

Result<KindSource> new_kind(const json::object& from, const std::string& contributor) {
  KindSource kind;
  kind.info.group = find_text(from, "group");
  kind.info.kind = find_text(from, "kind");
  kind.info.plural = find_text(from, "plural");
  kind.info.singular = lower_ascii(kind.info.kind);
  if (kind.info.plural.empty()) return Error{"plural: required for a new kind"};
  kind.info.short_names = decode_texts(find_array(from, "shortNames"));
  kind.info.categories = decode_texts(find_array(from, "categories"));
  const std::string_view scope = find_text(from, "scope");
  if (scope != "Namespaced" && scope != "Cluster") {
    return Error{"scope: must be Namespaced or Cluster"};
  }
  kind.info.namespaced = scope == "Namespaced";
  kind.info.description = find_text(from, "description");
  kind.info.internal = find_bool(from, "internal", false);
  kind.info.contributed_by = contributor;
  return kind;
}

}  // namespace

VersionSource* KindSource::version(std::string_view name) {
  for (auto& each : versions) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

std::string kind_key(std::string_view group, std::string_view kind) {
  return std::string(group) + "/" + std::string(kind);
}

namespace {

/// What is said of the kind as a whole; the places do not name it.
void read_kind(KindSource& kind, const json::object& from, const std::string& contributor,
               Mistakes& mistakes) {
  if (auto read = read_job(from, contributor, kind.info); !read) mistakes.add(read.error());
  std::vector<std::string> marks;
  read_marks(from, marks, mistakes);
  kind.info.marks.insert(kind.info.marks.end(), marks.begin(), marks.end());
  if (!contributor.empty() && !marks.empty()) kind.info.marks_of[contributor] = std::move(marks);
  read_gives(from, kind.info.effective, mistakes);
  read_together(from, kind.info.together, mistakes);
}

void read_versions(KindSource& kind, bool fresh, const json::object& from,
                   const std::string& contributor, Mistakes& mistakes) {
  const std::string& name = kind.info.kind;
  for (const auto& [each, where] : objects_of(from, "versions", name + ".", mistakes)) {
    if (!fresh && kind.version(find_text(*each, "version")) == nullptr) {
      mistakes.add({where + ": " + name + " has no version \"" +
                    std::string(find_text(*each, "version")) + "\""});
    } else {
      read_version(kind, *each, where, contributor, mistakes);
    }
  }
}

}  // namespace

void add_contribution(std::map<std::string, KindSource>& kinds, const json::object& contribution,
                      const std::string& contributor, Mistakes& mistakes) {
  const std::string name(find_text(contribution, "kind"));
  if (name.empty()) return mistakes.add({"kind: required"});
  only_keys(contribution, name,
            {"kind", "group", "plural", "shortNames", "categories", "scope", "description",
             "versions", "valueMappings", "internal", "marks", "gives", "job", "together"},
            mistakes);
  const std::string key = kind_key(find_text(contribution, "group"), name);
  auto it = kinds.find(key);
  const bool fresh = it == kinds.end();
  if (fresh) {
    auto kind = new_kind(contribution, contributor);
    if (!kind) return mistakes.add(kind.error().context(name));
    const std::size_t before = mistakes.size();
    if (!contributor.empty()) judge_names(kind->info, kinds, mistakes);
    mistakes.place(before, name);
    it = kinds.emplace(key, std::move(*kind)).first;
  } else if (find(contribution, "plural") != nullptr) {
    return mistakes.add({name + ": the kind exists already" +
                         (it->second.info.contributed_by.empty()
                              ? std::string(", it belongs to the core")
                              : ", contributed by " + it->second.info.contributed_by)});
  }
  KindSource& kind = it->second;
  std::size_t first = mistakes.size();
  read_kind(kind, contribution, contributor, mistakes);
  mistakes.place(first, name);
  read_versions(kind, fresh, contribution, contributor, mistakes);
  if (fresh && kind.info.job && find_object(contribution, "job") != nullptr)
    for (VersionSource& version : kind.versions) add_job_status(version, contributor);
  first = mistakes.size();
  read_mappings(kind, contribution, mistakes);
  mistakes.place(first, name);
  const auto& list = kind.info.versions;
  if (std::count_if(list.begin(), list.end(), [](const auto& v) { return v.storage; }) != 1)
    mistakes.add({name + ": exactly one version must say \"storage\": true"});
}

}  // namespace sluice::api
