#include "host/apiserver/health.hpp"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <memory>
#include <utility>

#include "api/json/json.hpp"
#include "host/apiserver/route.hpp"
#include "host/base/version.hpp"

namespace sluice::host {
namespace {

// The Kubernetes release whose API this is; kubectl warns when it is far from its own.
constexpr std::string_view kMajor = "1";
constexpr std::string_view kMinor = "32";

Reply text_reply(int status, std::string text) {
  return {status,
          "text/plain; charset=utf-8",
          std::make_shared<const std::string>(std::move(text)),
          {}};
}

Reply version_reply() {
  const boost::json::object out = {
      {"major", kMajor},
      {"minor", kMinor},
      {"gitVersion", fmt::format("v{}.{}.0+sluice-{}", kMajor, kMinor, version())},
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

}  // namespace

bool is_open_path(std::string_view path) {
  if (path == "/version") return true;
  for (const std::string_view name : {"/healthz", "/livez", "/readyz"})
    if (path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '/'))
      return true;
  return false;
}

Reply open_reply(const Request& request, std::string_view failure) {
  if (request.method != "GET" && request.method != "HEAD") {
    Reply reply = text_reply(405, "only GET and HEAD are allowed here\n");
    reply.headers.emplace_back("Allow", "GET, HEAD");
    return reply;
  }
  if (request.path == "/version") return version_reply();
  const std::string_view check = check_name(request.path);
  if (!check.empty() && check != "ping" && check != "store") return text_reply(404, "not found\n");
  // Alive is whoever answers: a store that failed gets no better by a restart of somebody else.
  const bool readiness = request.path.starts_with("/readyz");
  const bool asked = readiness && check != "ping";
  const bool ok = !asked || failure.empty();
  if (ok && !flag(request, "verbose")) return text_reply(200, "ok");
  std::string out = "[+]ping ok\n";
  if (readiness)
    // Anybody may ask: where the store lies and what is wrong with it is for the log.
    out += failure.empty() ? "[+]store ok\n" : "[-]store failed: reason withheld\n";
  const std::string_view name = std::string_view(request.path).substr(1);
  out += fmt::format("{} check {}\n", name.substr(0, name.find('/')), ok ? "passed" : "failed");
  Reply reply = text_reply(ok ? 200 : 503, std::move(out));
  if (!ok) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

}  // namespace sluice::host
