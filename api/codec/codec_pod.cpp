// Pod templates: what one pod asks for, where it may run, and the text that stands for both.
#include <map>

#include "api/codec/codec.hpp"
#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "api/schema/no_effect.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

using ResourceList = std::map<std::string, Quantity, std::less<>>;

void read_resources(const json::object* from, ResourceList& into) {
  if (from == nullptr) return;
  for (const auto& member : *from) {
    into.emplace(std::string(view(member.key())), quantity_or_zero(member.value()));
  }
}

/// The requests of a container (or pod), a limit standing in for a missing one.
ResourceList requests_of(const json::object& holder) {
  ResourceList requests;
  if (const json::object* resources = find_object(holder, "resources")) {
    read_resources(find_object(*resources, "requests"), requests);
    read_resources(find_object(*resources, "limits"), requests);  // emplace keeps requests
  }
  return requests;
}

void add(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, quantity] : more) {
    const auto [it, inserted] = sum.emplace(name, quantity);
    if (!inserted) it->second = it->second + quantity;
  }
}

void raise_to(ResourceList& list, const ResourceList& other) {
  for (const auto& [name, quantity] : other) {
    const auto [it, inserted] = list.emplace(name, quantity);
    if (!inserted && it->second < quantity) it->second = quantity;
  }
}

bool pod_level_resource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.substr(0, 10) == "hugepages-";
}

/// As Kubernetes adds them up: the larger of what runs for good (containers and sidecars) and what
/// each init container needs beside the sidecars started before it; a pod-level figure replaces
/// that; overhead comes on top.
ResourceList pod_requests(const json::object& spec) {
  ResourceList total;
  if (const json::array* containers = find_array(spec, "containers")) {
    for (const auto& each : *containers) {
      if (const auto* container = each.if_object()) add(total, requests_of(*container));
    }
  }
  ResourceList sidecars, init_peak;
  if (const json::array* containers = find_array(spec, "initContainers")) {
    for (const auto& each : *containers) {
      const auto* container = each.if_object();
      if (container == nullptr) continue;
      ResourceList requests = requests_of(*container);
      if (find_text(*container, "restartPolicy") == "Always") {
        add(total, requests);
        add(sidecars, requests);
        raise_to(init_peak, sidecars);
      } else {
        add(requests, sidecars);
        raise_to(init_peak, requests);
      }
    }
  }
  raise_to(total, init_peak);
  for (const auto& [name, quantity] : requests_of(spec)) {
    if (pod_level_resource(name)) total.insert_or_assign(name, quantity);
  }
  ResourceList overhead;
  read_resources(find_object(spec, "overhead"), overhead);
  add(total, overhead);
  return total;
}

void check_limits(const json::object& holder, const std::string& path, std::string& out) {
  const json::object* resources = find_object(holder, "resources");
  if (resources == nullptr) return;
  ResourceList requests, limits;
  read_resources(find_object(*resources, "requests"), requests);
  read_resources(find_object(*resources, "limits"), limits);
  for (const auto& [name, request] : requests) {
    const auto limit = limits.find(name);
    if (limit == limits.end() || request <= limit->second) continue;
    if (!out.empty()) out += ", ";
    out += path + "resources.requests: Invalid value: \"" + request.text() +
           "\": must be less than or equal to " + name + " limit of " + limit->second.text();
  }
}

std::string invalid_resources(const json::object& spec) {
  std::string out;
  check_limits(spec, "spec.", out);
  for (const std::string list : {"initContainers", "containers"}) {
    const json::array* containers = find_array(spec, list);
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      const auto* container = (*containers)[i].if_object();
      if (container == nullptr) continue;
      check_limits(*container, "spec." + list + "[" + std::to_string(i) + "].", out);
    }
  }
  return out.empty() ? out : "resources validation failed: " + out;
}

NodeSelectorRequirement::Operator selector_operator(std::string_view name) {
  using Operator = NodeSelectorRequirement::Operator;
  if (name == "NotIn") return Operator::kNotIn;
  if (name == "Exists") return Operator::kExists;
  if (name == "DoesNotExist") return Operator::kDoesNotExist;
  if (name == "Gt") return Operator::kGt;
  if (name == "Lt") return Operator::kLt;
  return Operator::kIn;
}

NodeSelectorTerm decode_term(const json::object& object) {
  NodeSelectorTerm term;
  if (const json::array* expressions = find_array(object, "matchExpressions")) {
    for (const auto& each : *expressions) {
      const auto* from = each.if_object();
      if (from == nullptr) continue;
      NodeSelectorRequirement requirement;
      requirement.key = find_text(*from, "key");
      requirement.op = selector_operator(find_text(*from, "operator"));
      requirement.values = decode_texts(find_array(*from, "values"));
      term.expressions.push_back(std::move(requirement));
    }
  }
  const json::array* fields = find_array(object, "matchFields");
  term.has_fields = fields != nullptr && !fields->empty();
  return term;
}

const json::array* required_terms(const json::object& spec) {
  const json::object* at = find_object(spec, "affinity");
  if (at != nullptr) at = find_object(*at, "nodeAffinity");
  if (at != nullptr) at = find_object(*at, "requiredDuringSchedulingIgnoredDuringExecution");
  return at != nullptr ? find_array(*at, "nodeSelectorTerms") : nullptr;
}

/// Length first, so that no text can imitate a separator.
void append_part(std::string& out, std::string_view text) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

std::string shape_of(const PodTemplate& pod, const json::object* spec) {
  std::string out = "selector ";
  for (const auto& [key, value] : pod.node_selector) {
    append_part(out, key);
    append_part(out, value);
  }
  out += " affinity ";
  const json::value* affinity = spec != nullptr ? find(*spec, "affinity") : nullptr;
  if (affinity != nullptr) append_canonical_json(*affinity, out);
  out += " tolerations ";
  const json::value* tolerations = spec != nullptr ? find(*spec, "tolerations") : nullptr;
  if (tolerations != nullptr) append_canonical_json(*tolerations, out);
  out += " requests ";
  for (const auto& request : pod.requests) {
    append_part(out, request.resource);
    out += std::to_string(request.amount) + ";";
  }
  if (!pod.invalid_resources.empty()) append_part(out += " invalid ", pod.invalid_resources);
  return out;
}

void append_member(const json::object* object, std::string_view key, std::string& out) {
  const json::value* value = object != nullptr ? find(*object, key) : nullptr;
  if (value != nullptr) append_json(*value, out);
  out += '\n';
}

void append_containers(const json::object* spec, std::string_view key, std::string& out) {
  const json::array* containers = spec != nullptr ? find_array(*spec, key) : nullptr;
  for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    append_member((*containers)[i].if_object(), "resources", out);
    append_member((*containers)[i].if_object(), "restartPolicy", out);
  }
  out += '\n';
}

}  // namespace

PodTemplate decode_pod_template(const json::object& pod_template) {
  PodTemplate pod;
  if (const json::object* meta = find_object(pod_template, "metadata")) {
    pod.annotations = find_labels(*meta, "annotations");
  }
  const json::object* spec = find_object(pod_template, "spec");
  if (spec != nullptr) {
    pod.node_selector = find_labels(*spec, "nodeSelector");
    if (const json::array* terms = required_terms(*spec)) {
      pod.required_affinity.emplace();
      for (const auto& each : *terms) {
        if (const auto* term = each.if_object()) {
          pod.required_affinity->push_back(decode_term(*term));
        }
      }
    }
    pod.tolerations = decode_tolerations(find_array(*spec, "tolerations"));
    for (const auto& [name, quantity] : pod_requests(*spec)) {
      pod.requests.push_back({name, engine_amount(name, quantity)});
    }
    pod.invalid_resources = invalid_resources(*spec);
  }
  pod.unmet = unmet_by_pods(pod_template);
  pod.shape = shape_of(pod, spec);
  return pod;
}

namespace {

/// The part of the template that decides anything here.
std::string key_of(const json::object& pod_template) {
  std::string key;
  key.reserve(512);
  append_member(find_object(pod_template, "metadata"), "annotations", key);
  const json::object* spec = find_object(pod_template, "spec");
  for (const char* member : {"nodeSelector", "affinity", "tolerations", "overhead", "resources"}) {
    append_member(spec, member, key);
  }
  append_containers(spec, "containers", key);
  append_containers(spec, "initContainers", key);
  return key;
}

}  // namespace

std::shared_ptr<const PodTemplate> PodTemplateCache::find(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  const auto it = templates_.find(text);
  return it != templates_.end() ? it->second.lock() : nullptr;
}

void PodTemplateCache::sweep() {
  std::erase_if(templates_, [](const auto& entry) { return entry.second.expired(); });
  std::size_t bytes = 0;
  for (const auto& [text, held] : templates_) bytes += text.size();
  pace_.swept(templates_.size(), bytes);
}

std::shared_ptr<const PodTemplate> PodTemplateCache::get(const json::object& pod_template) {
  std::string key = key_of(pod_template);
  if (auto known = find(key)) return known;
  // Decoded without the lock, so that no thread waits for a large one; of two threads with the same
  // template both keep the first result.
  auto pod = std::make_shared<const PodTemplate>(decode_pod_template(pod_template));
  const std::lock_guard lock(mutex_);
  if (pace_.due()) sweep();
  pace_.took(key.size());
  std::weak_ptr<const PodTemplate>& place = templates_[std::move(key)];
  if (auto first = place.lock()) return first;
  place = pod;
  return pod;
}

std::int64_t engine_amount(std::string_view resource, const Quantity& quantity) {
  return resource == "cpu" ? quantity.milli() : quantity.units();
}

Quantity engine_quantity(std::string_view resource, std::int64_t amount) {
  if (resource == "cpu") return Quantity::of_milli(amount);
  // Its format is that of a sum that begins with it.
  static const Quantity kNoBytes = *Quantity::parse("0Ki");
  const bool bytes = resource == "memory" || resource == "ephemeral-storage" ||
                     resource.substr(0, 10) == "hugepages-";
  return bytes ? kNoBytes + Quantity::of_units(amount) : Quantity::of_units(amount);
}

}  // namespace sluice::api
