#include "host/aggregation/front_proxy.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/text.hpp"
#include "host/access/denial.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// A list of texts, which stands in the ConfigMap as JSON; absent: none.
Result<std::vector<std::string>> texts_of(const json::object& data, std::string_view key) {
  std::vector<std::string> out;
  const std::string_view text = api::find_text(data, key);
  if (text.empty()) return out;
  boost::system::error_code bad;
  const json::value value = json::parse(api::json_view(text), bad);
  const json::array* list = bad ? nullptr : value.if_array();
  const bool good = list && std::all_of(list->begin(), list->end(),
                                        [](const json::value& each) { return each.is_string(); });
  if (!good)
    return Error{std::string(key) + ": found " + std::string(text.substr(0, 64)) +
                 "; allowed: a list of texts as JSON"};
  for (const json::value& each : *list) out.emplace_back(api::view(each.get_string()));
  return out;
}

Result<std::vector<std::string>> headers_of(const json::object& data, std::string_view key) {
  auto out = texts_of(data, key);
  if (!out) return out;
  for (std::string& each : *out) each = lower_ascii(each);
  return out;
}

std::string first_value(const Request& request, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const std::string* value = request.header(name); value && !value->empty()) return *value;
  return {};
}

/// Keys of extras may hold what a header's name may not; such bytes come as %XX.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                        hex_digit(text[i + 2]) >= 0;
    out +=
        escape ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return out;
}

bool is_front_proxy(const FrontProxy& proxy, const Request& request) {
  if (!request.certificate) return false;
  const std::vector<std::string>& names = proxy.allowed_names;
  return names.empty() ||
         std::find(names.begin(), names.end(), request.certificate->common_name) != names.end();
}

}  // namespace

Result<FrontProxy> front_proxy_of(const json::object& config_map) {
  const json::object& data = part(config_map, "data");
  FrontProxy out;
  out.client_ca = text_in(data, "requestheader-client-ca-file");
  if (out.client_ca.empty())
    return Error{"requestheader-client-ca-file is missing: the API server passes nothing on"};
  const std::pair<const char*, std::vector<std::string>*> lists[] = {
      {"requestheader-username-headers", &out.user_headers},
      {"requestheader-uid-headers", &out.uid_headers},
      {"requestheader-group-headers", &out.group_headers},
      {"requestheader-extra-headers-prefix", &out.extra_prefixes}};
  for (const auto& [key, into] : lists) {
    auto read = headers_of(data, key);
    if (!read) return read.error();
    *into = std::move(*read);
  }
  auto names = texts_of(data, "requestheader-allowed-names");
  if (!names) return names.error();
  out.allowed_names = std::move(*names);
  if (out.user_headers.empty()) return Error{"requestheader-username-headers is missing"};
  return out;
}

ApiResult<ProxiedUser> proxied_user(const FrontProxy& proxy, const Request& request) {
  if (!is_front_proxy(proxy, request)) return unauthorized();
  ProxiedUser out;
  out.who.user = first_value(request, proxy.user_headers);
  if (out.who.user.empty()) return unauthorized();
  out.who.uid = first_value(request, proxy.uid_headers);
  for (const auto& [name, value] : request.headers) {
    const std::vector<std::string>& groups = proxy.group_headers;
    if (std::find(groups.begin(), groups.end(), name) != groups.end())
      out.who.groups.push_back(value);
    for (const std::string& prefix : proxy.extra_prefixes)
      if (name.size() > prefix.size() && name.starts_with(prefix))
        out.extra[lower_ascii(unescaped(std::string_view(name).substr(prefix.size())))].push_back(
            value);
  }
  return out;
}

}  // namespace sluice::host
