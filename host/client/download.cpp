#include "host/client/download.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/client/client.hpp"

namespace sluice::host {

namespace {

struct Where {
  std::string server, target;
};

Result<Where> parse_url(const std::string& url) {
  const Error wrong{url +
                    ": it is no URL that is followed; allowed: https://HOST[:PORT]/PATH or "
                    "http://HOST[:PORT]/PATH, without user and fragment"};
  const auto host = url.find("//") + 2;
  const auto slash = url.find('/', host);
  if (slash == std::string::npos || slash == host) return wrong;
  const std::string target = url.substr(slash);
  const bool plain =
      target.find('#') == std::string::npos &&
      std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < 127; });
  if (!plain || url.substr(host, slash - host).find_first_of("@?# ") != std::string::npos)
    return wrong;
  return Where{url.substr(0, slash), target};
}

}  // namespace

bool is_url(std::string_view text) {
  return text.starts_with("https://") || text.starts_with("http://");
}

Result<std::string> download(const std::string& url, std::uint64_t limit) {
  const auto where = parse_url(url);
  if (!where) return where.error();
  Kubeconfig config;
  config.server = where->server;
  const auto client = Client::make(std::move(config));
  if (!client) return Error{url + ": it is no URL; allowed: https://HOST:PORT/PATH"};
  std::string out;
  bool too_long = false;
  const auto done = client->stream(where->target, [&](std::string_view piece) {
    too_long = out.size() + piece.size() > limit;
    if (!too_long) out += piece;
    return !too_long;
  });
  if (!done) return done.error().context(url);
  if (too_long)
    return Error{fmt::format("{}: it has more than {} bytes, which are allowed", url, limit)};
  return out;
}

}  // namespace sluice::host
