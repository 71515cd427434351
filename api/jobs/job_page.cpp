#include "api/jobs/job_page.hpp"

#include <algorithm>
#include <utility>

#include "api/jobs/declared_job.hpp"
#include "api/jobs/page_parts.hpp"
#include "api/json/parts.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostTests = 16;

bool is_kind(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= 63 && text.front() >= 'A' && text.front() <= 'Z' &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// What kubectl shows where the page does not say.
json::array plain_columns(const json::object& page) {
  const std::string_view suspend = find_text(page, "suspend");
  return {{{"name", "Suspended"},
           {"type", suspend.starts_with(".metadata") ? "string" : "boolean"},
           {"path", suspend.empty() ? ".spec.suspend" : json_view(suspend)}},
          {{"name", "Age"}, {"type", "date"}, {"path", ".metadata.creationTimestamp"}}};
}

}  // namespace

/// Reads one page into a DeclaredJob.
class PageReader {
 public:
  explicit PageReader(const json::object& page) : page_(page) {}

  Result<void> run(DeclaredJob& out) {
    if (auto known = only(
            page_, "spec",
            {"group", "kind", "versions", "shortNames", "categories", "description", "columns",
             "podSets", "suspend", "ready", "active", "succeeded", "failed", "message",
             "priorityClass", "successfulPodSets", "unfit", "unfitOnHost", "podsMadeElsewhere"});
        !known)
      return known;
    if (auto read = pod_sets(out); !read) return read;
    if (auto read = suspend(out); !read) return read;
    for (const auto& [key, into] : {std::pair{"ready", &out.ready_},
                                    {"active", &out.active_},
                                    {"succeeded", &out.succeeded_},
                                    {"failed", &out.failed_},
                                    {"unfit", &out.unfit_},
                                    {"unfitOnHost", &out.unfit_on_host_}})
      if (auto read = tests(key, *into); !read) return read;
    for (const auto& [key, into] :
         {std::pair{"message", &out.message_}, {"priorityClass", &out.priority_class_}}) {
      const std::string_view text = find_text(page_, key);
      if (text.empty()) continue;
      auto path = read_path(text, std::string("spec.") + key);
      if (!path) return path.error();
      *into = std::move(*path);
    }
    out.made_elsewhere_ = find_bool(page_, "podsMadeElsewhere", false);
    return ends(out);
  }

 private:
  Result<void> pod_sets(DeclaredJob& out) {
    const json::array* list = find_array(page_, "podSets");
    if (!list || list->empty() || list->size() > kMostEntries)
      return Error{"spec.podSets: found " +
                   (list ? std::to_string(list->size()) : std::string("no")) +
                   " entries; allowed are 1 to " + std::to_string(kMostEntries)};
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string where = "spec.podSets[" + std::to_string(i) + "]";
      const json::object* entry = (*list)[i].if_object();
      if (!entry) return Error{where + ": must be an object"};
      auto read = read_pod_set(*entry, where);
      if (!read) return read.error();
      out.pod_sets_.push_back(std::move(*read));
    }
    return {};
  }

  Result<void> suspend(DeclaredJob& out) {
    const std::string_view text = find_text(page_, "suspend");
    auto place = read_place(text.empty() ? ".spec.suspend" : text, "spec.suspend");
    if (!place) return place.error();
    out.suspend_ = std::move(*place);
    const bool below_spec = out.suspend_.size() > 1 && out.suspend_[0] == "spec";
    const bool annotation = out.suspend_.size() == 3 && out.suspend_[0] == "metadata" &&
                            out.suspend_[1] == "annotations";
    if (!below_spec && !annotation)
      return Error{"spec.suspend: found " + quoted(text) +
                   "; allowed is a path below .spec, or .metadata.annotations['DOMAIN/NAME']"};
    return {};
  }

  Result<void> tests(std::string_view key, std::vector<JobTest>& into) {
    const std::string where = "spec." + std::string(key);
    const json::value* given = find(page_, key);
    if (!given) return {};
    const json::array* list = given->if_array();
    if (!list || list->size() > kMostTests)
      return Error{where + ": must be a list of at most " + std::to_string(kMostTests)};
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string place = where + "[" + std::to_string(i) + "]";
      const json::object* entry = (*list)[i].if_object();
      if (!entry) return Error{place + ": must be an object"};
      auto read = test(*entry, place, key.starts_with("unfit"));
      if (!read) return read.error();
      into.push_back(std::move(*read));
    }
    return {};
  }

  /// `reason`: that it holds has to be explained.
  static Result<JobTest> test(const json::object& from, const std::string& where, bool reason) {
    auto known = reason
                     ? only(from, where, {"condition", "status", "path", "in", "holds", "message"})
                     : only(from, where, {"condition", "status", "path", "in", "holds", "also"});
    if (!known) return known.error();
    JobTest out;
    out.says = find_text(from, "message");
    if (reason && out.says.empty())
      return Error{where + ".message: is not there; allowed is a text that says what is wrong"};
    out.condition = find_text(from, "condition");
    out.status = find_text(from, "status");
    if (out.status.empty()) out.status = "True";
    if (auto read = also(from, where, out); !read) return read.error();
    const std::string_view path = find_text(from, "path");
    const json::value* holds = find(from, "holds");
    if ((out.condition.empty() ? 0 : 1) + (path.empty() ? 0 : 1) + (holds ? 1 : 0) != 1)
      return Error{where + ": allowed is one of condition, path (with in), holds"};
    if (out.status != "True" && out.status != "False" && out.status != "Unknown")
      return Error{where + ".status: found " + quoted(out.status) +
                   "; allowed are True, False, Unknown"};
    if (holds) {
      auto read = read_count(*holds, where + ".holds");
      if (!read) return read.error();
      out.holds = std::move(*read);
    }
    if (path.empty()) return out;
    auto read = read_path(path, where + ".path");
    if (!read) return read.error();
    out.path = std::move(*read);
    const json::array* values = find_array(from, "in");
    for (std::size_t i = 0; values && i < values->size(); ++i)
      out.values.push_back((*values)[i].is_string() ? std::string(view((*values)[i].get_string()))
                                                    : to_json((*values)[i]));
    if (out.values.empty() || out.values.size() > kMostTests)
      return Error{where + ".in: must list 1 to " + std::to_string(kMostTests) + " values"};
    return out;
  }

  static Result<void> also(const json::object& from, const std::string& where, JobTest& out) {
    const json::array* list = find_array(from, "also");
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      const std::string at = where + ".also[" + std::to_string(i) + "]";
      const json::object* entry = (*list)[i].if_object();
      if (!entry || i >= kMostTests)
        return Error{at + ": must be an object, one of at most " + std::to_string(kMostTests)};
      if (auto known = only(*entry, at, {"path", "value"}); !known) return known;
      auto place = read_place(find_text(*entry, "path"), at + ".path");
      if (!place) return place.error();
      if (place->size() < 2 || place->front() != "status")
        return Error{at + ".path: found " + quoted(find_text(*entry, "path")) +
                     "; allowed is a path of names below .status"};
      out.also.emplace_back(std::move(*place), std::string(find_text(*entry, "value")));
    }
    return {};
  }

  /// Both ends, or none; and the host can write them.
  Result<void> ends(DeclaredJob& out) {
    if (out.succeeded_.empty() != out.failed_.empty())
      return Error{"spec: succeeded and failed belong together; a kind without both never ends"};
    for (const auto& [key, list] :
         {std::pair{"succeeded", &out.succeeded_}, {"failed", &out.failed_}})
      if (!list->empty() && !list->front().can_be_set())
        return Error{std::string("spec.") + key +
                     "[0]: the host writes it when it runs the pods, so it must be a condition or "
                     "a path of names below .status"};
    out.by_host_.ends = !out.succeeded_.empty();
    const json::array* names = find_array(page_, "successfulPodSets");
    for (std::size_t i = 0; names && i < names->size() && i < kMostEntries; ++i)
      if (const auto* name = (*names)[i].if_string())
        out.by_host_.successful.emplace_back(view(*name));
    return {};
  }

  const json::object& page_;
};

Result<std::shared_ptr<const JobKind>> declared_job_kind(const json::object& page,
                                                         std::string_view group,
                                                         std::string_view kind) {
  auto job = std::make_shared<DeclaredJob>();
  job->group_kind_ = std::string(group) + "/" + std::string(kind);
  if (auto read = PageReader(page).run(*job); !read) return read.error();
  return std::shared_ptr<const JobKind>(std::move(job));
}

Result<json::array> declared_kind(const json::object& page, std::string_view name) {
  const std::string_view group = find_text(page, "group");
  const std::string_view kind = find_text(page, "kind");
  if (!is_name(group, "-."))
    return Error{"spec.group: found " + quoted(group) + "; allowed is a name such as example.com"};
  if (!is_kind(kind))
    return Error{"spec.kind: found " + quoted(kind) +
                 "; allowed are letters and digits, a capital first"};
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || name.substr(dot + 1) != group ||
      !is_name(name.substr(0, dot), ""))
    return Error{"metadata.name: found " + quoted(name) + "; allowed is PLURAL." +
                 std::string(group) + ", as in the name of a CustomResourceDefinition"};
  if (auto read = declared_job_kind(page, group, kind); !read) return read.error();
  const json::array* names = find_array(page, "versions");
  if (!names || names->empty() || names->size() > kMostEntries)
    return Error{"spec.versions: must list 1 to " + std::to_string(kMostEntries) +
                 " versions, the one that is stored first"};
  json::array versions;
  for (const json::value& each : *names) {
    const auto* version = each.if_string();
    if (!version || !is_name(view(*version), "") || version->front() != 'v')
      return Error{"spec.versions: found " + to_json(each) +
                   "; allowed is a name such as v1 or v1alpha2"};
    json::object one{{"version", *version}};
    if (versions.empty()) {
      one["storage"] = true;
      one["status"] = true;
      one["fields"] = {{{"path", "spec"}, {"type", "object"}},
                       {{"path", "status"}, {"type", "object"}, {"open", true}}};
      const json::array* columns = find_array(page, "columns");
      one["columns"] = columns ? *columns : plain_columns(page);
    } else {
      one["basedOn"] = versions[0].at("version");
    }
    versions.push_back(std::move(one));
  }
  json::object out{{"kind", json_view(kind)},
                   {"group", json_view(group)},
                   {"plural", json_view(name.substr(0, dot))},
                   {"scope", "Namespaced"},
                   {"versions", std::move(versions)},
                   {"job", page}};
  for (const char* key : {"shortNames", "categories", "description"})
    if (const json::value* value = find(page, key)) out[key] = *value;
  return json::array{std::move(out)};
}

}  // namespace sluice::api
