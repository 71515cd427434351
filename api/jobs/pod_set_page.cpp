#include <algorithm>
#include <utility>

#include "api/jobs/page_parts.hpp"
#include "api/json/parts.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

Result<void> read_paths(const json::object& from, const std::string& where, DeclaredPodSet& out) {
  for (const auto& [key, into] : {std::pair{"forEach", &out.for_each},
                                  {"each", &out.each},
                                  {"unless", &out.unless},
                                  {"templateAt", &out.template_at},
                                  {"reports", &out.reports}}) {
    const std::string_view text = find_text(from, key);
    if (text.empty()) continue;
    auto path = read_path(text, where + "." + key);
    if (!path) return path.error();
    *into = std::move(*path);
  }
  if (out.each && !out.for_each)
    return Error{where + ".each: found " + quoted(find_text(from, "each")) +
                 "; allowed only with forEach, below whose values it leads"};
  return {};
}

Result<void> read_name(const json::object& from, const std::string& where, DeclaredPodSet& out) {
  const std::string_view name = find_text(from, "name");
  out.name_is_key = out.for_each && name.empty();
  out.name = name;
  if (out.for_each && name.starts_with('.')) {
    auto path = read_path(name, where + ".name");
    if (!path) return path.error();
    out.name_path = std::move(*path);
    return {};
  }
  std::string plain(name);
  if (const std::size_t at = plain.find('#'); out.for_each && at != std::string::npos)
    plain[at] = '0';
  if (out.name_is_key || is_name(plain, "-")) return {};
  return Error{where + ".name: found " + quoted(name) +
               "; allowed are small letters, digits and -, and with forEach a path, or one # for "
               "the number of the pod set"};
}

Result<void> read_start(std::string_view given, const std::string& where, bool flat,
                        DeclaredPodSet& out) {
  if (given.empty()) {
    if (!out.pod_template.empty() || out.template_at) return {};
    return Error{where +
                 ": is not there; without a template it has to say where a start puts node "
                 "selectors"};
  }
  std::string text(given);
  constexpr std::string_view kNumber = "[#]";
  if (const std::size_t at = text.find(kNumber); out.for_each && at != std::string::npos)
    text.replace(at, kNumber.size(), ".#");
  auto path = read_path(text, where);
  if (!path) return path.error();
  out.start = path->ones();
  out.flat = flat;
  if (out.start.empty() || (!out.for_each && (out.start.size() < 2 || out.start[0].name != "spec")))
    return Error{where + ": found " + quoted(given) +
                 "; allowed is a path below .spec that leads to one place, such as "
                 ".spec.patches[?(@.by==\"us\")].template"};
  return {};
}

/// Where the template is, and the fields that stand beside or instead of it.
Result<void> read_places(const json::object& from, const std::string& where, DeclaredPodSet& out) {
  const std::string_view text = find_text(from, "template");
  if (!text.empty() && out.template_at)
    return Error{where + ": allowed is one of template, templateAt"};
  if (!text.empty() || (!out.template_at && !out.has_requests())) {
    auto place = read_place(text, where + ".template");
    if (!place) return place.error();
    out.pod_template = std::move(*place);
  }
  const bool flat = !find_text(from, "pod").empty();
  if (flat && !find_text(from, "start").empty())
    return Error{where + ": allowed is one of pod, start"};
  return read_start(find_text(from, flat ? "pod" : "start"), where + (flat ? ".pod" : ".start"),
                    flat, out);
}

Result<DeclaredRequest> read_request(const json::object& from, const std::string& where) {
  if (auto known = only(from, where, {"resource", "amount", "suffix"}); !known)
    return known.error();
  DeclaredRequest out;
  const std::string_view resource = find_text(from, "resource");
  if (resource.starts_with('.')) {
    auto path = read_path(resource, where + ".resource");
    if (!path) return path.error();
    out.resource_path = std::move(*path);
  } else if (!is_name(resource, "-./")) {
    return Error{where + ".resource: found " + quoted(resource) +
                 "; allowed is a resource such as cpu, or a path to its name"};
  }
  out.resource = out.resource_path ? std::string() : std::string(resource);
  out.suffix = find_text(from, "suffix");
  constexpr std::string_view kSuffixes[] = {"", "m", "k", "M", "G", "Ki", "Mi", "Gi"};
  if (std::find(std::begin(kSuffixes), std::end(kSuffixes), out.suffix) == std::end(kSuffixes))
    return Error{where + ".suffix: found " + quoted(out.suffix) +
                 "; allowed are m, k, M, G, Ki, Mi, Gi, or none"};
  const json::value* amount = find(from, "amount");
  auto read = read_count(amount ? *amount : json::value(), where + ".amount");
  if (!read) return read.error();
  out.amount = std::move(*read);
  return out;
}

Result<void> read_requests(const json::object& from, const std::string& where,
                           DeclaredPodSet& out) {
  const json::value* given = find(from, "requests");
  if (!given) return {};
  const json::array* list = given->if_array();
  if (!list || list->empty() || list->size() > kMostEntries)
    return Error{where + ".requests: must be a list of 1 to " + std::to_string(kMostEntries)};
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string at = where + ".requests[" + std::to_string(i) + "]";
    const json::object* entry = (*list)[i].if_object();
    if (!entry) return Error{at + ": must be an object"};
    auto read = read_request(*entry, at);
    if (!read) return read.error();
    out.requests.push_back(std::move(*read));
  }
  return {};
}

Result<void> read_counts(const json::object& from, const std::string& where, DeclaredPodSet& out) {
  for (const auto& [key, into] :
       {std::pair{"count", &out.count}, {"minCount", &out.min_count}, {"total", &out.total}}) {
    const json::value* value = find(from, key);
    if (!value) continue;
    auto read = read_count(*value, where + "." + key);
    if (!read) return read.error();
    *into = std::move(*read);
  }
  if (const json::value* value = find(from, "finished")) {
    auto read = read_count(*value, where + ".finished", out.reports.has_value());
    if (!read) return read.error();
    out.finished = std::move(*read);
  }
  if (out.reports.has_value() != out.finished.has_value())
    return Error{where + ": allowed are both of reports, finished, or none"};
  if (!out.min_count) return {};
  const JsonPlace at = out.count ? out.count->lone_place() : JsonPlace();
  if (at.empty() || (!out.for_each && (at.size() < 2 || at.front() != "spec")))
    return Error{where +
                 ".minCount: a job can start with fewer pods only where count is one path "
                 "below spec, such as .spec.replicas ?? 1, so that the host can set it"};
  return {};
}

}  // namespace

Result<DeclaredPodSet> read_pod_set(const json::object& from, const std::string& where) {
  if (auto known = only(from, where,
                        {"forEach", "each", "unless", "name", "template", "templateAt", "pod",
                         "start", "requests", "requestsFrom", "count", "minCount", "total",
                         "optional", "reports", "finished"});
      !known)
    return known.error();
  DeclaredPodSet out;
  out.optional = find_bool(from, "optional", false);
  if (const std::string_view text = find_text(from, "requestsFrom"); !text.empty()) {
    auto path = read_path(text, where + ".requestsFrom");
    if (!path) return path.error();
    out.requests_from = std::move(*path);
  }
  for (const auto read : {read_paths, read_name, read_requests, read_places, read_counts})
    if (auto done = read(from, where, out); !done) return done.error();
  return out;
}

}  // namespace sluice::api
