#include "api/schema/source.hpp"

#include <algorithm>
#include <set>

#include "api/jobs/job_kind.hpp"
#include "api/jobs/job_page.hpp"
#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

Result<void> only_keys(const json::object& object, const std::string& where,
                       const std::set<std::string_view>& allowed) {
  for (const auto& member : object) {
    if (allowed.count(view(member.key())) != 0) continue;
    std::string list;
    for (const auto& each : allowed) list += (list.empty() ? "" : ", ") + std::string(each);
    return Error{where + ": unknown key \"" + std::string(view(member.key())) + "\"; allowed are " +
                 list};
  }
  return {};
}

Result<void> read_columns(const json::object& from, const std::string& where,
                          std::vector<Column>& into) {
  const json::array* list = find_array(from, "columns");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string place = where + ".columns[" + std::to_string(i) + "]";
    const auto* each = (*list)[i].if_object();
    if (each == nullptr) return Error{place + ": must be an object"};
    if (auto known = only_keys(*each, place, {"name", "path", "type", "description", "priority"});
        !known) {
      return known;
    }
    Column column;
    column.name = find_text(*each, "name");
    column.json_path = find_text(*each, "path");
    column.type = find_text(*each, "type");
    column.description = find_text(*each, "description");
    column.priority = find_int32(*each, "priority").value_or(0);
    if (column.name.empty() || column.json_path.empty()) {
      return Error{place + ": name and path are required"};
    }
    for (const auto& other : into) {
      if (other.name == column.name) {
        return Error{place + ": column \"" + column.name + "\" exists already"};
      }
    }
    into.push_back(std::move(column));
  }
  return {};
}

Result<void> read_fields(const json::object& from, const std::string& where, bool override_existing,
                         const std::string& contributor, VersionSource& into) {
  const json::array* list = find_array(from, "fields");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string place = where + ".fields[" + std::to_string(i) + "]";
    const auto* each = (*list)[i].if_object();
    if (each == nullptr) return Error{place + ": must be an object"};
    if (auto known = only_keys(*each, place,
                               {"path", "type", "items", "required", "default", "enum", "format",
                                "min", "max", "minLength", "maxLength", "minItems", "maxItems",
                                "maxProperties", "listType", "listKeys", "mapType", "description"});
        !known) {
      return known;
    }
    FieldSource field{std::string(find_text(*each, "path")), *each, contributor};
    if (field.path.empty()) return Error{place + ": path is required"};
    const auto existing =
        std::find_if(into.fields.begin(), into.fields.end(),
                     [&](const FieldSource& other) { return other.path == field.path; });
    if (existing == into.fields.end()) {
      into.fields.push_back(std::move(field));
    } else if (override_existing) {
      *existing = std::move(field);
    } else {
      return Error{place + ": field \"" + field.path + "\" exists already in version " + into.name +
                   (existing->contributed_by.empty()
                        ? std::string(", it is a field of the core")
                        : ", contributed by " + existing->contributed_by)};
    }
  }
  return {};
}

Result<void> read_rules(const json::object& from, const std::string& where,
                        const std::string& contributor, VersionSource& into) {
  const json::array* list = find_array(from, "rules");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* each = (*list)[i].if_object();
    const std::string place = where + ".rules[" + std::to_string(i) + "]";
    if (each == nullptr) return Error{place + ": must be an object"};
    if (auto known = only_keys(
            *each, place, {"at", "rule", "message", "field", "fields", "oneOf", "when", "whenSet"});
        !known) {
      return known;
    }
    into.rules.push_back({*each, contributor});
  }
  return {};
}

/// True when `path` is `parent` or lies below it.
bool is_below(std::string_view path, std::string_view parent) {
  if (path.substr(0, parent.size()) != parent) return false;
  return path.size() == parent.size() || path[parent.size()] == '.' || path[parent.size()] == '[' ||
         path[parent.size()] == '{';
}

Result<void> base_on(KindSource& kind, const json::object& from, const std::string& where,
                     VersionSource& into) {
  const std::string_view base_name = find_text(from, "basedOn");
  if (base_name.empty()) return {};
  const VersionSource* base = kind.version(base_name);
  if (base == nullptr) return Error{where + ".basedOn: no version " + std::string(base_name)};
  into.fields = base->fields;
  if (find(from, "rules") == nullptr) into.rules = base->rules;
  for (const auto& path : decode_texts(find_array(from, "without"))) {
    std::erase_if(into.fields, [&](const FieldSource& f) { return is_below(f.path, path); });
  }
  return {};
}

Result<void> read_version(KindSource& kind, const json::object& from, const std::string& where,
                          const std::string& contributor) {
  if (auto known =
          only_keys(from, where,
                    {"version", "storage", "deprecated", "status", "scale", "type", "columns",
                     "fields", "rules", "basedOn", "without", "moves", "convert"});
      !known) {
    return known;
  }
  const std::string name(find_text(from, "version"));
  if (name.empty()) return Error{where + ".version: required"};
  VersionSource* version = kind.version(name);
  const bool fresh = version == nullptr;
  if (fresh) {
    VersionSource added;
    added.name = name;
    added.type = find_text(from, "type");
    KindInfo::Version info;
    info.name = name;
    info.storage = find_bool(from, "storage", false);
    info.deprecated = find_bool(from, "deprecated", false);
    if (auto based = base_on(kind, from, where, added); !based) return based;
    if (!find_text(from, "basedOn").empty() && find(from, "columns") == nullptr) {
      for (const auto& other : kind.info.versions) {
        if (other.name == find_text(from, "basedOn")) info.columns = other.columns;
      }
    }
    if (find_bool(from, "status", false)) kind.info.status_subresource = true;
    if (const json::object* scale = find_object(from, "scale")) {
      kind.info.scale_field = find_text(*scale, "spec");
      kind.info.scale_status_field = find_text(*scale, "status");
    }
    kind.info.versions.push_back(std::move(info));
    kind.versions.push_back(std::move(added));
    version = &kind.versions.back();
  }
  const auto index = static_cast<std::size_t>(version - kind.versions.data());
  if (auto read = read_columns(from, where, kind.info.versions[index].columns); !read) return read;
  if (auto read = read_fields(from, where, fresh, contributor, *version); !read) return read;
  if (auto read = read_rules(from, where, contributor, *version); !read) return read;
  version->convert = fresh ? find_text(from, "convert") : std::string_view(version->convert);
  if (const json::array* moves = find_array(from, "moves")) {
    for (const auto& each : *moves) {
      const auto* pair = each.if_array();
      if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string() ||
          !(*pair)[1].is_string()) {
        return Error{where + ".moves: each must be [FIELD HERE, FIELD IN THE STORAGE VERSION]"};
      }
      version->moves.emplace_back(view(*(*pair)[0].if_string()), view(*(*pair)[1].if_string()));
    }
  }
  return {};
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

Result<void> read_mappings(KindSource& kind, const json::object& from) {
  const json::array* list = find_array(from, "valueMappings");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::string where = "valueMappings[" + std::to_string(i) + "]";
    const auto* each = (*list)[i].if_object();
    if (each == nullptr) return Error{where + ": must be an object"};
    if (auto known = only_keys(*each, where, {"version", "path", "toStorage", "fromStorage"});
        !known) {
      return known;
    }
    VersionSource* version = kind.version(find_text(*each, "version"));
    if (version == nullptr) return Error{where + ".version: no such version of " + kind.info.kind};
    ValueMapping mapping;
    mapping.path = find_text(*each, "path");
    read_map(*each, "toStorage", mapping.to_hub);
    read_map(*each, "fromStorage", mapping.from_hub);
    const bool known_path =
        std::any_of(version->fields.begin(), version->fields.end(),
                    [&](const FieldSource& field) { return field.path == mapping.path; });
    if (!known_path) return Error{where + ".path: no field \"" + mapping.path + "\""};
    version->mappings.push_back(std::move(mapping));
  }
  return {};
}

Result<void> read_marks(const json::object& from, std::vector<std::string>& into) {
  const json::value* given = find(from, "marks");
  if (given == nullptr) return {};
  if (!given->is_array()) return Error{"marks: must be a list of annotation and label names"};
  for (const json::value& each : given->get_array()) {
    const json::string* name = each.if_string();
    if (name == nullptr || view(*name).find('/') == std::string_view::npos)
      return Error{"marks: " + to_json(each) + " is no name of the form DOMAIN/NAME"};
    into.emplace_back(view(*name));
  }
  return {};
}

Result<void> read_gives(const json::object& from, std::vector<std::string>& into) {
  const json::value* given = find(from, "gives");
  if (given == nullptr) return {};
  if (!given->is_array()) return Error{"gives: must be a list of paths of fields"};
  for (const json::value& each : given->get_array()) {
    const json::string* path = each.if_string();
    if (path == nullptr || path->empty())
      return Error{"gives: " + to_json(each) + " is no path of a field"};
    into.emplace_back(view(*path));
  }
  return {};
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
  kind.info.singular = kind.info.kind;
  std::transform(
      kind.info.singular.begin(), kind.info.singular.end(), kind.info.singular.begin(),
      [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (kind.info.plural.empty()) return Error{"plural: required for a new kind"};
  kind.info.short_names = decode_texts(find_array(from, "shortNames"));
  kind.info.categories = decode_texts(find_array(from, "categories"));
  const std::string_view scope = find_text(from, "scope");
  if (scope != "Namespaced" && scope != "Cluster") {
    return Error{"scope: must be Namespaced or Cluster"};
  }
  kind.info.namespaced = scope == "Namespaced";
  kind.info.description = find_text(from, "description");
  kind.info.internal = contributor.empty() && find_bool(from, "internal", false);
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

Result<void> add_contribution(std::map<std::string, KindSource>& kinds,
                              const json::object& contribution, const std::string& contributor) {
  const std::string kind_name(find_text(contribution, "kind"));
  if (kind_name.empty()) return Error{"kind: required"};
  if (auto known =
          only_keys(contribution, kind_name,
                    {"kind", "group", "plural", "shortNames", "categories", "scope", "description",
                     "versions", "valueMappings", "internal", "marks", "gives", "job"});
      !known) {
    return known;
  }
  if (!contributor.empty() && find(contribution, "internal") != nullptr)
    return Error{kind_name + ": internal: only the core has kinds that are not served"};
  const std::string key = kind_key(find_text(contribution, "group"), kind_name);
  auto it = kinds.find(key);
  const bool fresh = it == kinds.end();
  if (fresh) {
    auto kind = new_kind(contribution, contributor);
    if (!kind) return kind.error().context(kind_name);
    it = kinds.emplace(key, std::move(*kind)).first;
  } else if (find(contribution, "plural") != nullptr) {
    return Error{kind_name + ": the kind exists already" +
                 (it->second.info.contributed_by.empty()
                      ? std::string(", it belongs to the core")
                      : ", contributed by " + it->second.info.contributed_by)};
  }
  if (auto read = read_job(contribution, contributor, it->second.info); !read)
    return read.error().context(kind_name);
  if (auto read = read_marks(contribution, it->second.info.marks); !read)
    return read.error().context(kind_name);
  if (auto read = read_gives(contribution, it->second.info.effective); !read)
    return read.error().context(kind_name);
  const json::array* versions = find_array(contribution, "versions");
  for (std::size_t i = 0; versions != nullptr && i < versions->size(); ++i) {
    const std::string where = kind_name + ".versions[" + std::to_string(i) + "]";
    const auto* each = (*versions)[i].if_object();
    if (each == nullptr) return Error{where + ": must be an object"};
    if (!fresh && it->second.version(find_text(*each, "version")) == nullptr) {
      return Error{where + ": " + kind_name + " has no version \"" +
                   std::string(find_text(*each, "version")) + "\""};
    }
    if (auto read = read_version(it->second, *each, where, contributor); !read) return read;
  }
  if (auto read = read_mappings(it->second, contribution); !read) {
    return read.error().context(kind_name);
  }
  const auto& list = it->second.info.versions;
  if (std::count_if(list.begin(), list.end(), [](const auto& v) { return v.storage; }) != 1) {
    return Error{kind_name + ": exactly one version must say \"storage\": true"};
  }
  return {};
}

}  // namespace sluice::api
