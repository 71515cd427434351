#include "host/apiserver/write_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <optional>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/utf8.hpp"
#include "host/apiserver/body.hpp"
#include "host/apiserver/list_options.hpp"
#include "host/apiserver/parameters.hpp"
#include "host/apiserver/route.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestManager = 128;

ApiResult<Propagation> read_propagation(std::string_view text) {
  if (text == "Background") return Propagation::kBackground;
  if (text == "Foreground") return Propagation::kForeground;
  if (text == "Orphan") return Propagation::kOrphan;
  return wrong_parameter("propagationPolicy", text, "Background, Foreground or Orphan");
}

/// `kubectl/v1.32 (linux/amd64) …` → `kubectl`
std::string manager_of(std::string_view user_agent) {
  std::string out = clean_utf8(user_agent.substr(0, user_agent.find('/')));
  std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return out.empty() ? "unknown" : std::string(cut_utf8(out, kLongestManager));
}

ApiResult<void> read_query(const Request& request, WriteRequest& out) {
  if (const auto* policy = request.parameter("propagationPolicy"); policy && !policy->empty()) {
    auto propagation = read_propagation(*policy);
    if (!propagation) return propagation.error();
    out.deletion.propagation = *propagation;
  } else if (request.parameter("orphanDependents") != nullptr) {
    out.deletion.propagation =
        flag(request, "orphanDependents") ? Propagation::kOrphan : Propagation::kBackground;
  }
  const auto grace = number_parameter(request, "gracePeriodSeconds");
  if (!grace) return grace.error();
  if (*grace) out.deletion.grace_period_seconds = *grace;
  return {};
}

ApiResult<void> read_dry_run(const json::object& options, WriteRequest& out) {
  const json::array* dry_run = api::find_array(options, "dryRun");
  if (dry_run == nullptr) return {};
  for (const auto& entry : *dry_run) {
    if (!entry.is_string() || entry.get_string() != "All")
      return wrong_parameter("dryRun", api::to_json(entry), "All");
    out.dry_run = true;
  }
  return {};
}

ApiResult<void> read_body(const json::object& options, WriteRequest& out) {
  if (auto done = read_dry_run(options, out); !done) return done.error();
  const std::string_view policy = api::find_text(options, "propagationPolicy");
  if (!policy.empty()) {
    auto propagation = read_propagation(policy);
    if (!propagation) return propagation.error();
    out.deletion.propagation = *propagation;
  } else if (api::find(options, "orphanDependents") != nullptr) {
    out.deletion.propagation = api::find_bool(options, "orphanDependents", false)
                                   ? Propagation::kOrphan
                                   : Propagation::kBackground;
  }
  if (const auto seconds = api::find_int(options, "gracePeriodSeconds")) {
    if (*seconds < 0)
      return wrong_parameter("gracePeriodSeconds", std::to_string(*seconds),
                             "an integer that is not negative");
    out.deletion.grace_period_seconds = *seconds;
  }
  if (const auto* preconditions = api::find_object(options, "preconditions")) {
    out.deletion.uid = std::string(api::find_text(*preconditions, "uid"));
    out.deletion.resource_version = std::string(api::find_text(*preconditions, "resourceVersion"));
  }
  return {};
}

}  // namespace

ApiResult<void> read_write_options(const Request& request, WriteRequest& out) {
  out.user = request.user.user;
  out.user_groups = request.user.groups;
  if (const auto* dry_run = request.parameter("dryRun")) {
    if (*dry_run != "All") return wrong_parameter("dryRun", *dry_run, "All");
    out.dry_run = true;
  }
  out.force = flag(request, "force");
  const auto* manager = request.parameter("fieldManager");
  const bool given = manager && !manager->empty();
  if (given && manager->size() > kLongestManager)
    return wrong_parameter("fieldManager", *manager, "at most 128 bytes long");
  if (given && std::any_of(manager->begin(), manager->end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      }))
    return wrong_parameter("fieldManager", "", "printable characters only");
  out.field_manager = given ? *manager : manager_of(request.user_agent);
  const auto* validation = request.parameter("fieldValidation");
  if (!validation || validation->empty() || *validation == "Warn")
    out.field_validation = FieldValidation::kWarn;
  else if (*validation == "Strict")
    out.field_validation = FieldValidation::kStrict;
  else if (*validation == "Ignore")
    out.field_validation = FieldValidation::kIgnore;
  else
    return wrong_parameter("fieldValidation", *validation, "Ignore, Warn or Strict");
  return {};
}

ApiResult<void> read_delete_options(const Request& request, const DecodeLimits& limits,
                                    WriteRequest& out) {
  if (auto done = read_query(request, out); !done) return done.error();
  if (request.body.empty()) return {};
  auto body = decode_body(request, limits);
  if (!body) return body.error();
  if (body->value.is_null()) return {};
  const auto* options = body->value.if_object();
  if (options == nullptr) return bad_request("the body of a DELETE must be DeleteOptions");
  const std::string_view kind = api::find_text(*options, "kind");
  if (!kind.empty() && kind != "DeleteOptions")
    return bad_request(
        fmt::format("the body of a DELETE must be DeleteOptions and not a {}", kind));
  return read_body(*options, out);
}

}  // namespace sluice::host
