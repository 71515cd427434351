#include "shape.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

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

}  // namespace

std::string role_of(const Json& pod_spec) {
  const Json shape =
      shape_of(pod_spec,
               {"affinity", "nodeSelector", "overhead", "priorityClassName", "resourceClaims",
                "resources", "runtimeClassName", "tolerations", "topologySpreadConstraints"},
               {"ports", "resources", "restartPolicy"});
  return sluice::sha1_hex(ordered(shape).dump()).substr(0, kRoleDigits);
}

std::string asks_of(const Json& pod_spec) {
  return ordered(shape_of(pod_spec, {"overhead", "resources"}, {"resources", "restartPolicy"}))
      .dump();
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
