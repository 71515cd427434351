#include "host/apiserver/list_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "host/apiserver/parameters.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kTokenDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

template <typename T>
bool read_number(std::string_view text, T& out) {
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), out);
  return bad == std::errc() && end == text.data() + text.size();
}

/// URL-safe base64 without padding.
std::string encode(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) out += kTokenDigits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) out += kTokenDigits[(bits << (6 - count)) & 63];
  return out;
}

std::optional<std::string> decode(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kTokenDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> count) & 255);
  }
  return out;
}

ApiError meaningless(const Route& route, std::string field, std::string text) {
  ApiError out = bad_request(fmt::format("{} is invalid: {}: {}", route.kind->kind, field, text));
  out.code = 422;
  out.reason = "Invalid";
  out.group = route.group;
  out.resource = route.resource;
  out.causes.push_back({"FieldValueForbidden", std::move(text), std::move(field)});
  return out;
}

ApiResult<void> read_paging(const Request& request, ListOptions& out) {
  const auto limit = number_parameter(request, "limit");
  if (!limit) return limit.error();
  if (*limit) out.limit = static_cast<std::size_t>(**limit);
  const auto* token = request.parameter("continue");
  if (!token || token->empty()) return {};
  out.start = read_page_token(*token);
  if (!out.start) return bad_request("continue key is not valid: it is no token of this server");
  if (out.version && *out.version > 0)
    return bad_request("specifying resource version is not allowed when using continue");
  return {};
}

ApiResult<void> read_version(const Request& request, ListOptions& out) {
  if (const auto* version = request.parameter("resourceVersion"); version && !version->empty()) {
    std::uint64_t value = 0;
    if (!read_number(*version, value))
      return wrong_parameter("resourceVersion", *version, "a version that this server gave");
    out.version = value;
  }
  const auto* match = request.parameter("resourceVersionMatch");
  if (!match || match->empty()) return {};
  if (*match == "Exact")
    out.match = ListOptions::Match::kExact;
  else if (*match == "NotOlderThan")
    out.match = ListOptions::Match::kNotOlderThan;
  else
    return wrong_parameter("resourceVersionMatch", *match, "Exact or NotOlderThan");
  return {};
}

ApiResult<void> check_match(const Request& request, const Route& route, const ListOptions& list) {
  const bool exact = list.match == ListOptions::Match::kExact;
  const bool given = list.match != ListOptions::Match::kUnset;
  const bool watch = route.verb == "watch";
  if (watch && list.initial_events_given && list.match != ListOptions::Match::kNotOlderThan)
    return meaningless(route, "resourceVersionMatch",
                       "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                       "NotOlderThan");
  if (watch && given && !list.initial_events_given)
    return meaningless(route, "resourceVersionMatch",
                       "Forbidden: resourceVersionMatch is forbidden for watch unless "
                       "sendInitialEvents is provided");
  if (!watch && list.initial_events_given)
    return meaningless(route, "sendInitialEvents",
                       "Forbidden: sendInitialEvents is forbidden for list");
  if (watch || !given) return {};
  if (request.parameter("continue") && !request.parameter("continue")->empty())
    return meaningless(route, "resourceVersionMatch",
                       "Forbidden: resourceVersionMatch is forbidden when continue is provided");
  if (!list.version)
    return meaningless(route, "resourceVersionMatch",
                       "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
                       "provided");
  if (exact && *list.version == 0)
    return meaningless(route, "resourceVersionMatch",
                       "Forbidden: resourceVersionMatch \"Exact\" is forbidden for "
                       "resourceVersion \"0\"");
  return {};
}

std::string_view text_of(const std::string* value) {
  return value ? std::string_view(*value) : std::string_view();
}

}  // namespace

std::string page_token(const PageStart& start) {
  return encode("1 " + std::to_string(start.version) + " " + start.after);
}

std::optional<PageStart> read_page_token(std::string_view token) {
  const auto text = decode(token);
  if (!text || text->substr(0, 2) != "1 ") return std::nullopt;
  const std::size_t space = text->find(' ', 2);
  if (space == std::string::npos) return std::nullopt;
  PageStart out;
  if (!read_number(std::string_view(*text).substr(2, space - 2), out.version)) return std::nullopt;
  out.after = text->substr(space + 1);
  return out;
}

ApiResult<ListOptions> read_list_options(const Request& request, const Route& route) {
  ListOptions out;
  auto selector =
      parse_selector(text_of(request.parameter("labelSelector")),
                     text_of(request.parameter("fieldSelector")), *route.kind, route.version);
  if (!selector) return selector.error();
  out.selector = std::move(*selector);
  if (auto done = read_version(request, out); !done) return done.error();
  if (auto done = read_paging(request, out); !done) return done.error();
  out.bookmarks = flag(request, "allowWatchBookmarks");
  out.initial_events_given = request.parameter("sendInitialEvents") != nullptr;
  out.initial_events = flag(request, "sendInitialEvents");
  const auto timeout = number_parameter(request, "timeoutSeconds");
  if (!timeout) return timeout.error();
  if (timeout->value_or(0) > 0) out.timeout_seconds = *timeout;
  if (auto done = check_match(request, route, out); !done) return done.error();
  return out;
}

ApiError too_new(std::uint64_t wanted, std::uint64_t current) {
  ApiError out;
  out.code = 504;
  out.reason = "Timeout";
  out.text = fmt::format("Timeout: Too large resource version: {}, current: {}", wanted, current);
  out.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  out.retry_after_seconds = 1;
  return out;
}

ApiError expired(std::string text) {
  ApiError out;
  out.code = 410;
  out.reason = "Expired";
  out.text = std::move(text);
  return out;
}

}  // namespace sluice::host
