#include "host/apiserver/health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <memory>
#include <utility>

#include "api/json/json.hpp"
#include "host/apiserver/parameters.hpp"
#include "host/apiserver/route.hpp"
#include "host/base/version.hpp"

namespace sluice::host {
namespace {

// The Kubernetes release whose API this is; kubectl warns when it is far from its own.
constexpr std::string_view kMajor = "1";
constexpr std::string_view kMinor = "33";

Reply version_reply() {
  const boost::json::object out = {
      {"major", kMajor},
      {"minor", kMinor},
      {"gitVersion", fmt::format("v{}.{}.0{}{}", kMajor, kMinor, kHostMark, version())},
      {"gitCommit", ""},
      {"gitTreeState", "clean"},
      {"buildDate", "1970-01-01T00:00:00Z"},
      {"goVersion", "none"},
      {"compiler", "c++"},
      {"platform", "linux/amd64"},
  };
  std::string text;
  api::append_json(out, text);
  return {200, "application/json", std::make_shared<const std::string>(text + "\n"), {}};
}

std::string_view check_name(std::string_view path) {
  const std::size_t slash = path.find('/', 1);
  return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
}

struct Check {
  std::string_view name;
  bool ok = true;
  std::string text;  // why not, or what takes long
};

/// One of the parts that have to come back: is it away for longer than `limit`?
Check check_part(std::string_view part, const HealthState& state, Duration limit) {
  Check out{part, true, {}};
  for (const Busy& busy : state.busy) {
    if (busy.part != part) continue;
    out.ok &= busy.took <= limit;
    out.text += fmt::format("{}{}{}{} has not come back for {} s", out.text.empty() ? "" : "; ",
                            busy.what, state.known && !busy.detail.empty() ? " of " : "",
                            state.known ? busy.detail : "", busy.took / kSecond);
  }
  return out;
}

std::vector<Check> checks_of_parts(const HealthState& state, Duration limit) {
  std::vector<Check> out{{"ping", true, {}}};
  for (const std::string_view part : {"control", "plugins"})
    out.push_back(check_part(part, state, limit));
  return out;
}

/// A host is alive while it can go on: a restart would not repair a store that failed, but it ends
/// a hang.
std::vector<Check> live_checks(const HealthState& state) {
  return checks_of_parts(state, state.limits.not_alive);
}

std::vector<Check> ready_checks(const HealthState& state) {
  std::vector<Check> out = checks_of_parts(state, state.limits.not_ready);
  Check store = check_part("store", state, state.limits.not_ready);
  if (!state.failure.empty()) {
    store.ok = false;
    store.text = state.known ? state.failure : "reason withheld";
  }
  out.push_back(std::move(store));
  return out;
}

}  // namespace

bool is_open_path(std::string_view path) {
  if (path == "/version") return true;
  for (const std::string_view name : {"/healthz", "/livez", "/readyz"})
    if (path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '/'))
      return true;
  return false;
}

Reply open_reply(const Request& request, const HealthState& state) {
  if (request.method != "GET" && request.method != "HEAD") {
    Reply reply = plain_reply(405, "only GET and HEAD are allowed here\n");
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  if (request.path == "/version") return version_reply();
  const std::string_view name = std::string_view(request.path).substr(1);
  const std::string_view path = name.substr(0, name.find('/'));
  const std::string_view only = check_name(request.path);
  std::vector<Check> checks = path == "readyz" ? ready_checks(state) : live_checks(state);
  if (!only.empty()) std::erase_if(checks, [&](const Check& check) { return check.name != only; });
  if (checks.empty()) return plain_reply(404, "not found\n");
  const bool ok = std::all_of(checks.begin(), checks.end(), [](const Check& c) { return c.ok; });
  if (ok && !flag(request, "verbose")) return plain_reply(200, "ok");
  std::string out;
  for (const Check& check : checks)
    out += fmt::format("[{}]{} {}{}{}\n", check.ok ? '+' : '-', check.name,
                       check.ok ? "ok" : "failed", check.text.empty() ? "" : ": ", check.text);
  out += fmt::format("{} check {}\n", path, ok ? "passed" : "failed");
  Reply reply = plain_reply(ok ? 200 : 503, std::move(out));
  if (!ok) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

}  // namespace sluice::host
