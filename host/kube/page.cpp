#include "host/kube/page.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/utf8.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kLongestRetryAfter = 300 * kSecond;
constexpr std::size_t kLongestMessage = 300;

}  // namespace

std::uint64_t version_number(std::string_view version) {
  std::uint64_t out = 0;
  const auto [end, bad] = std::from_chars(version.data(), version.data() + version.size(), out);
  return bad == std::errc() && end == version.data() + version.size() ? out : 0;
}

Result<ListPage> parse_page(std::string_view body) {
  std::optional<json::object> list = api::parse_object(body);
  if (!list) return Error{"the list is no JSON object"};
  ListPage out;
  const json::object& metadata = part(*list, "metadata");
  out.version = api::find_text(metadata, "resourceVersion");
  out.continue_token = api::find_text(metadata, "continue");
  if (out.version.empty()) return Error{"the list has no metadata.resourceVersion"};
  json::value* items = list->if_contains("items");
  if (!items || items->is_null()) return out;
  if (!items->is_array()) return Error{"the list's items are no list"};
  const auto is_object = [](const json::value& item) { return item.is_object(); };
  if (!std::all_of(items->get_array().begin(), items->get_array().end(), is_object))
    return Error{"one of the list's items is no object"};
  out.items = std::move(items->get_array());
  return out;
}

Result<WatchEvent> parse_event(std::string_view line) {
  std::optional<json::object> event = api::parse_object(line);
  if (!event) return Error{"the event is no JSON object"};
  const std::string_view type = api::find_text(*event, "type");
  WatchEvent out;
  if (type == "ADDED" || type == "MODIFIED") {
    out.type = WatchEvent::Type::kChanged;
  } else if (type == "DELETED") {
    out.type = WatchEvent::Type::kDeleted;
  } else if (type == "BOOKMARK") {
    out.type = WatchEvent::Type::kBookmark;
  } else if (type == "ERROR") {
    out.type = WatchEvent::Type::kError;
  } else {
    return Error{"the event is of no known type"};
  }
  json::value* object = event->if_contains("object");
  if (!object || !object->is_object()) return Error{"the event has no object"};
  out.object = std::move(object->get_object());
  out.version = api::find_text(part(out.object, "metadata"), "resourceVersion");
  if (out.version.empty() && out.type != WatchEvent::Type::kError)
    return Error{"the event's object has no metadata.resourceVersion"};
  return out;
}

namespace {

bool is_of_the_future(const boost::json::object& status) {
  bool found = false;
  for_each_object(part(status, "details"), "causes", [&](const boost::json::object& cause) {
    found |= api::find_text(cause, "reason") == "ResourceVersionTooLarge";
  });
  return found;
}

}  // namespace

Ended ending_of(int status, std::string_view retry_after, const boost::json::object* said) {
  Ended out;
  std::int64_t seconds = 0;
  std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), seconds);
  // In seconds before it is multiplied: the header may say anything.
  out.retry_after = std::clamp<std::int64_t>(seconds, 0, kLongestRetryAfter / kSecond) * kSecond;
  if (status >= 200 && status < 300) {
    out.how = Ending::kClosed;
  } else if (status == 410 || (said != nullptr && is_of_the_future(*said))) {
    out.how = Ending::kGone;
  } else if (status == 404) {
    out.how = Ending::kMissing;
  } else if (status == 429) {
    out.how = Ending::kBusy;
  } else if (status >= 500) {
    out.how = Ending::kAway;
  } else {
    out.how = Ending::kRefused;
  }
  return out;
}

std::string message_of(int status, std::string_view body) {
  if (const auto answer = api::parse_object(body)) {
    const std::string_view message = api::find_text(*answer, "message");
    if (!message.empty()) return std::string(cut_utf8(message, kLongestMessage));
  }
  return "the server answered " + std::to_string(status);
}

}  // namespace sluice::host
