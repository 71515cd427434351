#include "api/codec/pod_defaults.hpp"

#include <algorithm>

#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "api/json/parts.hpp"

namespace sluice::api {
namespace {

namespace json = boost::json;

constexpr const char* kContainers[] = {"initContainers", "containers"};

void keep_first(auto& into, const auto& from) {
  for (const auto& [name, amount] : from) into.emplace(name, amount);
}

/// Members of `from` that are not in `into` yet.
void fill_in(json::object& into, const json::object& from) {
  for (const auto& member : from) into.emplace(member.key(), member.value());
}

std::string sentence(const std::string& resource, const Quantity& amount, const char* than,
                     const Quantity& bound) {
  return resource + " " + amount.text() + " is " + than + " of " + bound.text();
}

}  // namespace

void PodDefaults::Range::narrow(const Range& other) {
  for (const auto& [name, amount] : other.max) {
    const auto [at, fresh] = max.emplace(name, amount);
    if (!fresh) at->second = std::min(at->second, amount);
  }
  for (const auto& [name, amount] : other.min) {
    const auto [at, fresh] = min.emplace(name, amount);
    if (!fresh) at->second = std::max(at->second, amount);
  }
  keep_first(limits, other.limits);
  keep_first(requests, other.requests);
}

PodDefaults::Range PodDefaults::range_of(const json::object& limits) {
  const auto amounts = [&](std::string_view key) {
    Amounts out;
    for (const auto& member : find_part(limits, key))
      out.emplace(std::string(view(member.key())), quantity_or_zero(member.value()));
    return out;
  };
  return {amounts("max"), amounts("min"), amounts("default"), amounts("defaultRequest")};
}

/// An API server stores defaults of containers that follow from their limits; so they are here
/// where it did not.
PodDefaults::Ranges PodDefaults::ranges_of(const json::object& limit_range) {
  Ranges out;
  const json::array* list = find_array(find_part(limit_range, "spec"), "limits");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const json::object* limits = (*list)[i].if_object();
    if (!limits) continue;
    const std::string_view type = find_text(*limits, "type");
    if (type == "Pod") out.pod.narrow(range_of(*limits));
    if (type != "Container") continue;
    Range range = range_of(*limits);
    keep_first(range.limits, range.max);
    keep_first(range.requests, range.limits);
    keep_first(range.requests, range.min);
    out.container.narrow(range);
  }
  return out;
}

void PodDefaults::put_limit_range(std::string_view ns, std::string_view name,
                                  const json::object& object) {
  auto at = ranges_.find(ns);
  if (at == ranges_.end()) at = ranges_.try_emplace(std::string(ns)).first;
  at->second.insert_or_assign(std::string(name), ranges_of(object));
}

void PodDefaults::erase_limit_range(std::string_view ns, std::string_view name) {
  const auto at = ranges_.find(ns);
  if (at == ranges_.end()) return;
  if (const auto one = at->second.find(name); one != at->second.end()) at->second.erase(one);
  if (at->second.empty()) ranges_.erase(at);
}

void PodDefaults::put_runtime_class(std::string_view name, const json::object& object) {
  erase_runtime_class(name);
  const json::object& fixed = find_part(find_part(object, "overhead"), "podFixed");
  if (!fixed.empty()) overheads_.emplace(name, json::object(fixed, {}));
}

void PodDefaults::erase_runtime_class(std::string_view name) {
  if (const auto at = overheads_.find(name); at != overheads_.end()) overheads_.erase(at);
}

PodDefaults::Ranges PodDefaults::ranges_in(std::string_view ns) const {
  Ranges out;
  const auto at = ranges_.find(ns);
  if (at == ranges_.end()) return out;
  for (const auto& [name, each] : at->second) {
    out.container.narrow(each.container);
    out.pod.narrow(each.pod);
  }
  return out;
}

/// A limit that the container says comes before what it would get as a request.
void PodDefaults::fill(const Range& range, json::object& container) {
  const auto fill_in_amounts = [](json::object& into, const Amounts& from) {
    for (const auto& [name, amount] : from) into.emplace(json_view(name), amount.text());
  };
  if (range.limits.empty() && range.requests.empty()) return;
  json::object& resources = object_of(container, "resources");
  json::object requests = find_part(resources, "requests");
  fill_in(requests, find_part(resources, "limits"));
  fill_in_amounts(requests, range.requests);
  resources["requests"] = std::move(requests);
  fill_in_amounts(object_of(resources, "limits"), range.limits);
}

std::string PodDefaults::beyond(const Range& range, const json::object& container) {
  for (const char* const list : {"requests", "limits"}) {
    const json::object& said = find_part(find_part(container, "resources"), list);
    for (const auto& member : said) {
      const std::string name(view(member.key()));
      const Quantity amount = quantity_or_zero(member.value());
      const auto max = range.max.find(name), min = range.min.find(name);
      const std::string what = std::string("resources.") + list + ": ";
      if (max != range.max.end() && amount > max->second)
        return what + sentence(name, amount, "above the maximum", max->second);
      if (min != range.min.end() && amount < min->second)
        return what + sentence(name, amount, "below the minimum", min->second);
    }
  }
  return {};
}

std::string PodDefaults::beyond(const Range& range, const PodTemplate& pod) {
  for (const ResourceRequest& each : pod.requests) {
    const auto max = range.max.find(each.resource), min = range.min.find(each.resource);
    const Quantity amount = engine_quantity(each.resource, each.amount);
    if (max != range.max.end() && each.amount > engine_amount(each.resource, max->second))
      return "all requests: " + sentence(each.resource, amount, "above the maximum", max->second);
    if (min != range.min.end() && each.amount < engine_amount(each.resource, min->second))
      return "all requests: " + sentence(each.resource, amount, "below the minimum", min->second);
  }
  return {};
}

std::string PodDefaults::refusal(const Ranges& ranges, const json::object& spec,
                                 const PodTemplate& pod) {
  std::string why;
  for (const char* const list : kContainers) {
    const json::array* containers = find_array(spec, list);
    for (std::size_t i = 0; why.empty() && containers && i < containers->size(); ++i) {
      const json::object* container = (*containers)[i].if_object();
      if (container) why = beyond(ranges.container, *container);
      if (!why.empty()) why = "spec." + std::string(list) + "[" + std::to_string(i) + "]." + why;
    }
  }
  if (why.empty()) why = beyond(ranges.pod, pod);
  return why.empty() ? why : "resources didn't satisfy LimitRange constraints: " + why;
}

std::shared_ptr<const PodTemplate> PodDefaults::read(std::string_view ns,
                                                     const json::object& pod_template,
                                                     PodTemplateCache& templates) const {
  if (!concern(ns)) return templates.get(pod_template);
  const Ranges ranges = ranges_in(ns);
  json::object made = pod_template;
  json::object& spec = object_of(made, "spec");
  for (const char* const list : kContainers) {
    json::array* containers = find_array(spec, list);
    for (std::size_t i = 0; containers && i < containers->size(); ++i)
      if (json::object* container = (*containers)[i].if_object())
        fill(ranges.container, *container);
  }
  const auto overhead = overheads_.find(find_text(spec, "runtimeClassName"));
  if (overhead != overheads_.end() && find_part(spec, "overhead").empty())
    spec["overhead"] = overhead->second;
  std::shared_ptr<const PodTemplate> pod = templates.get(made);
  if (!pod->invalid_resources.empty()) return pod;
  const std::string why = refusal(ranges, spec, *pod);
  if (why.empty()) return pod;
  auto refused = std::make_shared<PodTemplate>(*pod);
  refused->invalid_resources = why;
  refused->shape += " invalid " + why;
  return refused;
}

}  // namespace sluice::api
