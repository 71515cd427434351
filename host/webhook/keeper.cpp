#include "host/webhook/keeper.hpp"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/base64.hpp"
#include "host/base/log.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kPatience = 15 * kSecond;
constexpr Duration kLook = 30 * kSecond;
constexpr Duration kLookStandingBy = 5 * kSecond;  // one that may soon have to decide
constexpr Duration kLookAgain = 1 * kSecond;       // while something is missing
constexpr const char* kConfigurations = "/apis/admissionregistration.k8s.io/v1/";
constexpr const char* kApiServices = "/apis/apiregistration.k8s.io/v1/apiservices/";
constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";

Result<json::object> object_of_answer(const ClusterAnswer& answer) {
  if (answer.status < 200 || answer.status >= 300) return Error{trouble_of(answer)};
  auto object = api::parse_object(answer.body);
  if (!object) return Error{"the API server's answer is no object"};
  return std::move(*object);
}

/// Where the authority stands in an object that is to have it, and what stands there.
std::vector<std::pair<std::string, std::string>> places_of(const json::object& object) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::string_view kind = api::find_text(object, "kind");
  if (kind == "APIService") {
    out.emplace_back("/spec/caBundle", api::find_text(part(object, "spec"), "caBundle"));
    return out;
  }
  if (kind == "CustomResourceDefinition") {
    const json::object& conversion = part(part(object, "spec"), "conversion");
    const json::object& client = part(part(conversion, "webhook"), "clientConfig");
    if (!client.empty())
      out.emplace_back("/spec/conversion/webhook/clientConfig/caBundle",
                       api::find_text(client, "caBundle"));
    return out;
  }
  std::size_t i = 0;
  for_each_object(object, "webhooks", [&](const json::object& webhook) {
    out.emplace_back(fmt::format("/webhooks/{}/clientConfig/caBundle", i++),
                     api::find_text(part(webhook, "clientConfig"), "caBundle"));
  });
  return out;
}

}  // namespace

WebhookKeeper::WebhookKeeper(LinkTarget target, const Kubeconfig& config, WebhookKeeping keeping,
                             WebhookKeeperHooks hooks)
    : keeping_(std::move(keeping)),
      hooks_(std::move(hooks)),
      caller_(std::move(target), config, kPatience),
      lookout_("webhook-keys", [this] { return look(); }) {}

void WebhookKeeper::start() {
  caller_.start();
  lookout_.start();
}

void WebhookKeeper::stop() {
  lookout_.stop();
  caller_.stop();
}

/// Until when it need not look again.
Duration WebhookKeeper::look() {
  if (!know_self()) return kLookAgain;
  auto keys = current_keys();
  if (!keys) return missing(keys.error());
  if (!*keys) return kLookAgain;  // another replica wrote in between
  if (used_ != *keys) {
    if (auto used = hooks_.use(**keys); !used) return missing(used.error());
    log(LogLevel::kInfo, "webhook", used_ ? "renewed the keys" : "answering");
    used_ = std::move(*keys);
  }
  if (hooks_.decides())
    if (auto done = spread(used_->trust); !done) return missing(done.error());
  trouble_.tell("");
  return hooks_.decides() ? kLook : kLookStandingBy;
}

Duration WebhookKeeper::missing(const Error& what) {
  trouble_.tell(what.text);
  return kLookAgain;
}

bool WebhookKeeper::know_self() {
  if (known_) return true;
  auto review = object_of_answer(caller_.ask(
      posting("/apis/authentication.k8s.io/v1/selfsubjectreviews",
              R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})")));
  if (!review) {
    trouble_.tell("cannot ask the API server who this is: " + review.error().text);
    return false;
  }
  hooks_.is(text_in(part(part(*review, "status"), "userInfo"), "username"));
  return known_ = true;
}

Result<std::optional<WebhookKeys>> WebhookKeeper::current_keys() {
  if (keeping_.cert_file.empty()) return shared_keys();
  auto keys = keys_of_files(keeping_.cert_file, keeping_.key_file, keeping_.trust_file);
  if (!keys) return keys.error();
  return std::optional(std::move(*keys));
}

/// Those of the Secret, made or renewed where that is due; nullopt: another one was faster.
Result<std::optional<WebhookKeys>> WebhookKeeper::shared_keys() {
  const std::string secrets = fmt::format("/api/v1/namespaces/{}/secrets", keeping_.ns);
  ClusterRequest asked;
  asked.path = secrets + "/" + keeping_.name;
  const ClusterAnswer found = caller_.ask(std::move(asked));
  json::object secret;
  if (found.status != 404) {
    auto read = object_of_answer(found);
    if (!read)
      return read.error().context(
          fmt::format("cannot read secret {}/{}", keeping_.ns, keeping_.name));
    secret = std::move(*read);
  }
  std::optional<WebhookKeys> present = keys_of_secret(secret);
  std::vector<std::string> names = keeping_.names;
  names.push_back(fmt::format("{}.{}.svc", keeping_.name, keeping_.ns));
  auto next = renewed(present, names, hooks_.seconds());
  if (!next) return next.error();
  if (!*next) return present;
  json::object metadata{{"name", keeping_.name}, {"namespace", keeping_.ns}};
  const bool exists = found.status != 404;
  if (exists) metadata = part(secret, "metadata");
  const json::object body{{"apiVersion", "v1"},
                          {"kind", "Secret"},
                          {"metadata", std::move(metadata)},
                          {"type", exists ? text_in(secret, "type") : std::string("Opaque")},
                          {"data", secret_data(**next)}};
  ClusterRequest write;
  write.method = exists ? "PUT" : "POST";
  write.path = exists ? secrets + "/" + keeping_.name : secrets;
  write.content_type = "application/json";
  write.body = api::to_json(body);
  const ClusterAnswer written = caller_.ask(std::move(write));
  if (written.status == 409) return std::optional<WebhookKeys>();
  if (auto done = object_of_answer(written); !done)
    return done.error().context(
        fmt::format("cannot write secret {}/{}", keeping_.ns, keeping_.name));
  log(LogLevel::kInfo, "webhook", "made certificates",
      {{"secret", join_key(keeping_.ns, keeping_.name)}});
  return std::move(*next);
}

Result<void> WebhookKeeper::spread(const std::string& trust) {
  Result<void> all;  // the first trouble: one object that is not there keeps it from no other
  const auto to = [&](const std::string& path, Absent absent) {
    if (auto done = spread_to(path, trust, absent); !done && all) all = std::move(done);
  };
  for (const char* plural : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"})
    to(fmt::format("{}{}/{}", kConfigurations, plural, keeping_.configuration), Absent::kWrong);
  for (const std::string& name : keeping_.definitions) to(kDefinitions + name, Absent::kWrong);
  for (const std::string& name : keeping_.api_services) to(kApiServices + name, Absent::kFine);
  return all;
}

Result<void> WebhookKeeper::spread_to(const std::string& path, const std::string& trust,
                                      Absent absent) {
  ClusterRequest asked;
  asked.path = path;
  const ClusterAnswer found = caller_.ask(std::move(asked));
  const std::string what = path.substr(path.rfind('/', path.rfind('/') - 1) + 1);
  if (found.status == 404 && absent == Absent::kFine) return {};
  if (found.status == 404)
    return Error{fmt::format("there is no {}: sluice manifests prints it", what)};
  auto object = object_of_answer(found);
  if (!object) return object.error().context("cannot read " + what);
  const json::object& metadata = part(*object, "metadata");
  // An object with the mark of another installation, or without one, stays as it is.
  if (api::find_text(part(metadata, "annotations"), kTrustMark) !=
      join_key(keeping_.ns, keeping_.name))
    return {};
  const std::string wanted = base64_text(trust);
  json::array patch{json::object{{"op", "test"},
                                 {"path", "/metadata/resourceVersion"},
                                 {"value", text_in(metadata, "resourceVersion")}}};
  for (const auto& [place, present] : places_of(*object))
    if (present != wanted)
      patch.push_back(json::object{{"op", "add"}, {"path", place}, {"value", wanted}});
  if (patch.size() == 1) return {};
  ClusterRequest write;
  write.method = "PATCH";
  write.path = path;
  write.content_type = "application/json-patch+json";
  write.body = api::to_json(patch);
  auto done = object_of_answer(caller_.ask(std::move(write)));
  if (!done) return done.error().context("cannot write " + what);
  log(LogLevel::kInfo, "webhook", "its authority is in " + what);
  return {};
}

}  // namespace sluice::host
