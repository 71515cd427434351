#include "host/objects/claims.hpp"

#include <fmt/format.h>

#include "api/json/json.hpp"
#include "core/base/check.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

void write_claims(json::object& metadata, const Claims& claims) {
  json::object& annotations = object_of(metadata, "annotations");
  annotations.erase(api::json_view(kClaimedBy));
  annotations.erase(api::json_view(kTakesNoPart));
  if (!claims.plugins.empty())
    annotations[api::json_view(kClaimedBy)] = fmt::format("{}", fmt::join(claims.plugins, ","));
  if (claims.aside) annotations[api::json_view(kTakesNoPart)] = "true";
  if (annotations.empty()) metadata.erase("annotations");
}

}  // namespace

void Claims::add(const std::string& plugin) {
  const auto at = std::lower_bound(plugins.begin(), plugins.end(), plugin);
  if (at == plugins.end() || *at != plugin) plugins.insert(at, plugin);
}

void Claims::remove(std::string_view plugin) {
  std::erase(plugins, plugin);
  aside &= !plugins.empty();
}

std::string Claims::first_absent(const std::vector<std::string>& loaded) const {
  for (const std::string& plugin : plugins)
    if (std::find(loaded.begin(), loaded.end(), plugin) == loaded.end()) return plugin;
  return {};
}

Claims claims_of(const StoredObject& workload) {
  Claims out;
  for (const std::string_view name : workload.metadata.claims()) out.add(std::string(name));
  out.aside = workload.metadata.stands_aside();
  return out;
}

Claims claims_of(const json::object& workload) {
  const json::object& annotations = part(part(workload, "metadata"), "annotations");
  Claims out;
  each_claim(api::find_text(annotations, kClaimedBy),
             [&out](std::string_view plugin) { out.add(std::string(plugin)); });
  out.aside = !out.plugins.empty() && annotations.contains(api::json_view(kTakesNoPart));
  return out;
}

void set_claims(StoredObject& workload, const Claims& claims) {
  SLUICE_CHECK(!claims.aside || !claims.plugins.empty(), workload.key,
               " stands aside and no plugin claims it");
  boost::system::error_code code;
  const std::string& text = workload.metadata.text();
  json::value metadata = api::parse_deep(text, code);
  SLUICE_CHECK(!code && metadata.is_object(), "stored text is not an object: ", text);
  write_claims(metadata.get_object(), claims);
  workload.metadata = Header(api::to_json(metadata));
}

void set_claims(json::object& workload, const Claims& claims) {
  write_claims(object_of(workload, "metadata"), claims);
}

void keep_claims(const json::object& before, json::object& after) {
  const Claims claims = claims_of(before);
  if (claims.plugins.empty() && claims_of(after).plugins.empty() &&
      !part(part(after, "metadata"), "annotations").contains(api::json_view(kTakesNoPart)))
    return;
  set_claims(after, claims);
}

void drop_standing_aside(json::object& object) {
  if (!part(part(object, "metadata"), "annotations").contains(api::json_view(kTakesNoPart))) return;
  Claims claims = claims_of(object);
  claims.aside = false;
  write_claims(object_of(object, "metadata"), claims);
}

}  // namespace sluice::host
