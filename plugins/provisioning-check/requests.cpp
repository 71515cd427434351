#include "requests.hpp"

#include <charconv>

#include "names.hpp"

namespace provisioning {

namespace {

using sluice::Json;

constexpr std::string_view kCheck = "sluice.dev/check";
constexpr std::string_view kNumber = "sluice.dev/check-attempt";  // as people count
constexpr std::string_view kId = "sluice.dev/check-attempt-id";   // as reports name it

Json owner(std::string_view api_version, std::string_view kind, std::string_view name,
           std::string_view uid) {
  Json out = Json::object();
  out["apiVersion"] = api_version;
  out["kind"] = kind;
  out["name"] = name;
  out["uid"] = uid;
  out["controller"] = true;
  return out;
}

Json as_object(const Pairs& parameters) {
  Json out = Json::object();
  for (const auto& [key, value] : parameters) out[key] = value;
  return out;
}

template <typename Number>
bool read(const Json* text, Number& out) {
  if (text == nullptr) return false;
  const std::string& digits = text->as_string();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return error == std::errc() && end == digits.data() + digits.size();
}

}  // namespace

Json request_for(const Attempt& attempt, const Config& config, const Pairs& parameters,
                 const std::vector<Share>& shares) {
  const std::string name = request_name(attempt.id.workload, attempt.id.check, attempt.number);
  Json out = Json::object();
  out["apiVersion"] = kRequestVersion;
  out["kind"] = "ProvisioningRequest";
  Json& metadata = out["metadata"];
  metadata["name"] = name;
  metadata["namespace"] = attempt.id.workload_namespace;
  metadata["labels"]["kueue.x-k8s.io/managed"] = "true";
  metadata["labels"][kWorkloadUid] = attempt.id.uid;
  metadata["annotations"][kCheck] = attempt.id.check;
  metadata["annotations"][kNumber] = std::to_string(attempt.number);
  metadata["annotations"][kId] = std::to_string(attempt.id.attempt);
  metadata["ownerReferences"].push_back(
      owner(kWorkloadVersion, "Workload", attempt.id.workload, attempt.id.uid));
  Json& spec = out["spec"];
  spec["provisioningClassName"] = config.class_name;
  if (!parameters.empty()) spec["parameters"] = as_object(parameters);
  for (const Share& share : shares) {
    Json set = Json::object();
    set["podTemplateRef"]["name"] = template_name(name, share.pod_set);
    set["count"] = share.count;
    spec["podSets"].push_back(std::move(set));
  }
  return out;
}

bool asks_for(const Json& request, const Config& config, const Pairs& parameters) {
  const Json* has = request.find("spec.parameters");
  return request.string_or("spec.provisioningClassName", "") == config.class_name &&
         (has == nullptr ? parameters.empty() : *has == as_object(parameters));
}

std::vector<Json> templates_for(const Json& request, const std::vector<Share>& shares) {
  const std::string name = request.string_or("metadata.name", "");
  std::vector<Json> out;
  for (const Share& share : shares) {
    Json one = Json::object();
    one["apiVersion"] = "v1";
    one["kind"] = "PodTemplate";
    one["metadata"]["name"] = template_name(name, share.pod_set);
    one["metadata"]["namespace"] = request.string_or("metadata.namespace", "");
    one["metadata"]["labels"]["kueue.x-k8s.io/managed"] = "true";
    one["metadata"]["ownerReferences"].push_back(
        owner(kRequestVersion, "ProvisioningRequest", name, request.string_or("metadata.uid", "")));
    one["template"] = *share.pod_template;
    out.push_back(std::move(one));
  }
  return out;
}

std::optional<Attempt> attempt_of(const Json& request) {
  const Json* labels = request.find("metadata.labels");
  const Json* annotations = request.find("metadata.annotations");
  const Json* owners = request.find("metadata.ownerReferences");
  if (labels == nullptr || annotations == nullptr || owners == nullptr || owners->size() == 0)
    return std::nullopt;
  const Json* uid = labels->member(kWorkloadUid);
  const Json* check = annotations->member(kCheck);
  Attempt out;
  if (uid == nullptr || check == nullptr || !read(annotations->member(kNumber), out.number) ||
      !read(annotations->member(kId), out.id.attempt))
    return std::nullopt;
  out.id.workload_namespace = request.string_or("metadata.namespace", "");
  out.id.workload = owners->items()[0].string_or("name", "");
  out.id.uid = uid->as_string();
  out.id.check = check->as_string();
  return out;
}

}  // namespace provisioning
