#include "shape.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "sluice/cpp/quantity.hpp"
#include "sluice/cpp/sha1.hpp"

namespace pods {
namespace {

using sluice::Json;

constexpr std::size_t kRoleDigits = 8;
constexpr std::size_t kNameDigits = 5;

/// With the members of all objects in one order.
Json ordered(const Json& value) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value.items()) out.push_back(ordered(item));
    return out;
  }
  if (!value.is_object()) return value;
  std::vector<Json::Member> members = value.members();
  std::sort(members.begin(), members.end(),
            [](const Json::Member& a, const Json::Member& b) { return a.first < b.first; });
  Json out = Json::object();
  for (const auto& [name, member] : members) out[name] = ordered(member);
  return out;
}

Json parts_of(const Json& from, std::initializer_list<std::string_view> fields) {
  Json out = Json::object();
  for (const std::string_view field : fields)
    if (const Json* value = from.member(field); value != nullptr) out[field] = *value;
  return out;
}

Json shape_of(const Json& spec, std::initializer_list<std::string_view> of_pod,
              std::initializer_list<std::string_view> of_container) {
  Json out = parts_of(spec, of_pod);
  for (const std::string_view list : {"initContainers", "containers"}) {
    const Json* containers = spec.member(list);
    if (containers == nullptr) continue;
    out[list] = Json::array();
    for (const Json& each : containers->items()) out[list].push_back(parts_of(each, of_container));
  }
  return out;
}

Json* member_of(Json& object, std::string_view name) {
  return object.member(name) == nullptr ? nullptr : &object[name];
}

/// Amounts as numbers, whatever they were written as; limits, which nobody counts, left out.
Json as_amounts(Json holder) {
  const auto count = [](Json* amounts) {
    if (amounts == nullptr) return;
    Json counted = Json::object();
    for (const auto& [name, amount] : amounts->members()) {
      const std::string text = amount.is_string() ? amount.as_string() : amount.dump();
      const auto number = sluice::quantity_of(name, text);
      counted[name] = number ? Json(*number) : Json(text);
    }
    *amounts = std::move(counted);
  };
  count(member_of(holder, "overhead"));
  if (Json* resources = member_of(holder, "resources")) {
    resources->erase("limits");
    count(member_of(*resources, "requests"));
  }
  return holder;
}

}  // namespace

std::string role_of(const Json& pod_spec) {
  const Json shape =
      shape_of(pod_spec,
               {"affinity", "nodeSelector", "overhead", "priorityClassName", "resourceClaims",
                "resources", "runtimeClassName", "tolerations", "topologySpreadConstraints"},
               {"ports", "resources", "restartPolicy"});
  return sluice::sha1_hex(ordered(shape).dump()).substr(0, kRoleDigits);
}

Json with_requests(Json holder) {
  Json* resources = member_of(holder, "resources");
  const Json* present = resources == nullptr ? nullptr : resources->member("limits");
  if (present == nullptr) return holder;
  const Json limits = *present;
  for (const auto& [name, amount] : limits.members())
    if (const Json* requests = resources->member("requests");
        requests == nullptr || requests->member(name) == nullptr)
      (*resources)["requests"][name] = amount;
  return holder;
}

std::string asks_of(const Json& pod_spec) {
  Json shape = shape_of(pod_spec, {"overhead", "resources"}, {"resources", "restartPolicy"});
  shape = as_amounts(with_requests(std::move(shape)));
  for (const std::string_view list : {"initContainers", "containers"}) {
    const Json* containers = shape.member(list);
    if (containers == nullptr) continue;
    Json counted = Json::array();
    for (const Json& each : containers->items()) counted.push_back(as_amounts(with_requests(each)));
    shape[list] = std::move(counted);
  }
  return ordered(shape).dump();
}

Json shown_spec(const Json& pod_spec) {
  Json out =
      parts_of(pod_spec, {"affinity", "nodeSelector", "overhead", "priorityClassName", "resources",
                          "runtimeClassName", "tolerations", "topologySpreadConstraints"});
  out = with_requests(std::move(out));
  for (const std::string_view list : {"initContainers", "containers"}) {
    const Json* containers = pod_spec.member(list);
    if (containers == nullptr) continue;
    out[list] = Json::array();
    for (const Json& each : containers->items())
      out[list].push_back(
          with_requests(parts_of(each, {"name", "image", "ports", "resources", "restartPolicy"})));
  }
  return out;
}

std::string workload_name(std::string_view kind, std::string_view group, std::string_view name,
                          std::string_view uid, std::size_t longest) {
  std::string hashed(kind);
  hashed.append("\n").append(group).append("\n").append(name).append("\n").append(uid);
  std::string out(kind);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  out.append("-").append(name);
  out.resize(std::min(out.size(), longest - kNameDigits - 1));
  return out.append("-").append(sluice::sha1_hex(hashed), 0, kNameDigits);
}

std::string workload_name(std::string_view pod, std::string_view uid) {
  return workload_name("Pod", "", pod, uid, kLongestName);
}

}  // namespace pods
