#include "host/aggregation/registrar.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "host/aggregation/configuration.hpp"
#include "host/base/log.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kRegistrarPatience = 15 * kSecond;
constexpr Duration kLook = 30 * kSecond;
constexpr Duration kLookAgain = 2 * kSecond;  // while something is missing
constexpr const char* kConfigMap =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

}  // namespace

std::optional<json::object> slice_to(const AdvertisedPlace& place, const std::string& ns,
                                     const json::object& present) {
  const char* family = place.ip.find(':') == std::string::npos ? "IPv4" : "IPv6";
  const json::array endpoints{json::object{{"addresses", json::array{json::string(place.ip)}},
                                           {"conditions", json::object{{"ready", true}}}}};
  const json::array ports{
      json::object{{"name", kVisibilityPortName}, {"port", place.port}, {"protocol", "TCP"}}};
  const json::object labels{{"kubernetes.io/service-name", kVisibilityService},
                            {"endpointslice.kubernetes.io/managed-by", "sluice.dev"}};
  const auto same = [&present](const char* key, const json::array& wanted) {
    const json::array* found = api::find_array(present, key);
    return found && *found == wanted;
  };
  if (api::find_text(present, "addressType") == family && same("endpoints", endpoints) &&
      same("ports", ports) && part(part(present, "metadata"), "labels") == labels)
    return std::nullopt;
  json::object metadata{{"name", kVisibilityService}, {"namespace", ns}, {"labels", labels}};
  // Against the version that was read: a replica that was stopped in between writes over nobody.
  if (!present.empty())
    metadata["resourceVersion"] = text_in(part(present, "metadata"), "resourceVersion");
  return json::object{{"apiVersion", "discovery.k8s.io/v1"},
                      {"kind", "EndpointSlice"},
                      {"metadata", std::move(metadata)},
                      {"addressType", family},
                      {"endpoints", endpoints},
                      {"ports", ports}};
}

Registrar::Registrar(LinkTarget target, const Kubeconfig& config, std::string ns,
                     RegistrarHooks hooks)
    : ns_(std::move(ns)),
      hooks_(std::move(hooks)),
      caller_(std::move(target), config, kRegistrarPatience),
      lookout_("registrar", [this] { return look(); }) {}

void Registrar::start() {
  caller_.start();
  lookout_.start();
}

void Registrar::stop() {
  lookout_.stop();
  caller_.stop();
}

/// Until when it need not look again.
Duration Registrar::look() {
  auto done = learn();
  if (done && hooks_.decides()) done = publish();
  trouble_.tell(done ? std::string() : done.error().text);
  return done ? kLook : kLookAgain;
}

Result<void> Registrar::learn() {
  ClusterRequest asked;
  asked.path = kConfigMap;
  const ClusterAnswer answer = caller_.ask(std::move(asked));
  const auto object = api::parse_object(answer.body);
  if (answer.status != 200 || !object)
    return Error{"cannot read configmap kube-system/extension-apiserver-authentication: " +
                 trouble_of(answer)};
  auto proxy = front_proxy_of(*object);
  if (!proxy)
    return proxy.error().context("configmap kube-system/extension-apiserver-authentication");
  if (known_ == *proxy) return {};
  if (auto trusted = hooks_.trust(*proxy); !trusted) return trusted;
  known_ = std::move(*proxy);
  return {};
}

Result<void> Registrar::publish() {
  const AdvertisedPlace place = hooks_.place();
  if (place.ip.empty()) return {};
  if (place.port == 0) return Error{"the webhook does not listen yet"};
  const std::string slices =
      fmt::format("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", ns_);
  const std::string what = fmt::format("endpointslice {}/{}", ns_, kVisibilityService);
  ClusterRequest asked;
  asked.path = slices + "/" + kVisibilityService;
  const ClusterAnswer found = caller_.ask(std::move(asked));
  std::optional<json::object> present = json::object();
  if (found.status != 404) present = api::parse_object(found.body);
  if ((found.status != 404 && found.status != 200) || !present)
    return Error{fmt::format("cannot read {}: {}", what, trouble_of(found))};
  const auto wanted = slice_to(place, ns_, *present);
  if (!wanted || !hooks_.decides()) return {};
  ClusterRequest write;
  write.method = present->empty() ? "POST" : "PUT";
  write.path = present->empty() ? slices : slices + "/" + kVisibilityService;
  write.content_type = "application/json";
  write.body = api::to_json(*wanted);
  const ClusterAnswer written = caller_.ask(std::move(write));
  if (written.status != 200 && written.status != 201)
    return Error{fmt::format("cannot write {}: {}", what, trouble_of(written))};
  log(LogLevel::kInfo, "visibility", "API servers find it at " + place.ip);
  return {};
}

}  // namespace sluice::host
