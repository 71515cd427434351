#include "host/writes/space_guard.hpp"

#include <utility>

#include "api/json/json.hpp"
#include "host/base/log.hpp"
#include "host/objects/object_key.hpp"
#include "host/store/use.hpp"

namespace sluice::host {
namespace {

ApiError refusal(int code, const char* reason, const api::KindInfo& kind, std::string text) {
  ApiError out;
  out.code = code;
  out.reason = reason;
  out.text = std::move(text);
  out.group = kind.group;
  out.resource = kind.plural;
  return out;
}

std::string used_of(std::size_t used, std::int64_t limit, const char* unit) {
  return std::to_string(used) + " " + unit + ", limited to " + std::to_string(limit);
}

std::string bytes_of(const StoreUse& use, std::int64_t limit) {
  std::string out = used_of(use.charged, limit, "bytes");
  if (use.charged != use.bytes)
    out += " (of each object, what lies beyond " + std::to_string(kUsualBytes) + " bytes counts " +
           std::to_string(kUnusualFactor) + "-fold)";
  return out;
}

bool reached(std::size_t used, std::int64_t limit) {
  return static_cast<std::int64_t>(used) >= limit;
}

}  // namespace

std::optional<ApiError> SpaceGuard::refuses(const api::KindInfo& kind,
                                            const boost::json::object& object) {
  const auto* metadata = api::find_object(object, "metadata");
  if (metadata == nullptr) return std::nullopt;
  const std::string_view ns = api::find_text(*metadata, "namespace");
  const StoredObject* stored = store_.find(kind, join_key(ns, api::find_text(*metadata, "name")));
  auto refused = beyond(kind, ns, stored == nullptr);
  if (!refused || stored == nullptr) return refused;
  // Only now is it worth to know how large it is.
  std::string text;
  api::append_json(object, text);
  if (text.size() <= stored_bytes(*stored)) return std::nullopt;
  return refused;
}

std::optional<ApiError> SpaceGuard::beyond(const api::KindInfo& kind, std::string_view ns,
                                           bool is_new) {
  const StoreUse all = store_.use(), own = ns.empty() ? StoreUse() : store_.use(ns);
  const std::string name(ns);
  alarm("the store: objects", all.objects, limits_.objects);
  alarm("the store: bytes", all.charged, limits_.bytes);
  if (!ns.empty()) {
    alarm("namespace " + name + ": objects", own.objects, limits_.namespace_objects);
    alarm("namespace " + name + ": bytes", own.charged, limits_.namespace_bytes);
  }
  if (const std::string no_room = store_.no_room(); !no_room.empty())
    return refusal(507, "InsufficientStorage", kind,
                   "the host's disk has no room for more: delete what is not needed, or come again "
                   "when there is room");
  if (is_new && reached(all.objects, limits_.objects))
    return refusal(507, "InsufficientStorage", kind,
                   "the store is full: " + used_of(all.objects, limits_.objects, "objects"));
  if (reached(all.charged, limits_.bytes))
    return refusal(507, "InsufficientStorage", kind,
                   "the store is full: " + bytes_of(all, limits_.bytes));
  if (is_new && reached(own.objects, limits_.namespace_objects))
    return refusal(403, "Forbidden", kind,
                   "exceeded quota: namespace " + name + " holds " +
                       used_of(own.objects, limits_.namespace_objects, "objects"));
  if (reached(own.charged, limits_.namespace_bytes))
    return refusal(
        403, "Forbidden", kind,
        "exceeded quota: namespace " + name + " holds " + bytes_of(own, limits_.namespace_bytes));
  return std::nullopt;
}

void SpaceGuard::alarm(const std::string& what, std::size_t used, std::int64_t limit) {
  const bool near = static_cast<std::int64_t>(used) >= limit - limit / 5;
  if (!near) {
    told_.erase(what);
    return;
  }
  if (!told_.insert(what).second) return;
  log(LogLevel::kWarning, "store", "four fifths of a limit are used",
      {{"of", what}, {"used", std::to_string(used)}, {"limit", std::to_string(limit)}});
}

}  // namespace sluice::host
