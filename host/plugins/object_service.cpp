#include "host/plugins/object_service.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "api/json/json.hpp"
#include "host/plugins/host_side.hpp"

namespace sluice::host {

namespace {

constexpr const char* kNotNow =
    "objects and state may be used inside check_changed, begin, cancel, reconcile, notify, fired "
    "and deactivate only, and read inside set_defaults, validate and explain, on the thread of the "
    "call";

std::int32_t give(const PortAnswer& answer, const sluice_sink_t* out, const sluice_sink_t* error) {
  const sluice_sink_t* sink = answer.code == SLUICE_OBJECTS_OK ? out : error;
  if (sink != nullptr) sink->write(sink->context, abi_of(answer.text));
  return answer.code;
}

/// Runs fn on the port; `writes`: what it does is staged.
template <typename Fn>
std::int32_t with_port(const sluice_host_t* host, bool writes, const sluice_sink_t* out,
                       const sluice_sink_t* error, Fn&& fn) noexcept {
  try {
    HostSide& side = HostSide::of(host);
    if (side.in_call() && !side.course().overtaken.empty()) {
      side.course().refused = true;
      return give({SLUICE_OBJECTS_CONFLICT, side.course().overtaken}, out, error);
    }
    ObjectPort* port = writes ? side.port_for_writes() : side.port();
    if (port == nullptr) return give({SLUICE_OBJECTS_NOT_NOW, kNotNow}, out, error);
    const PortAnswer answer = fn(*port, side);
    side.course().answered(writes, answer.code);
    return give(answer, out, error);
  } catch (const std::exception&) {
    return SLUICE_OBJECTS_FAILED;
  }
}

PortAnswer invalid(const Nonsense& nonsense) {
  return {SLUICE_OBJECTS_INVALID, nonsense.sentence()};
}

/// What is wrong with how an object is named, and with a second text beside it.
Nonsense wrong_with(const sluice_object_ref_t* ref, sluice_str_t more) {
  Nonsense nonsense;
  if (ref == nullptr || !SLUICE_HAS(ref, name)) {
    nonsense.note("the struct that names the object is too short");
    return nonsense;
  }
  name_of(ref->api_version, "the apiVersion", nonsense);
  name_of(ref->kind, "the kind", nonsense);
  name_of(ref->namespace_of, "the namespace", nonsense);
  name_of(ref->name, "the name", nonsense);
  name_of(more, "the subresource, selector or uid", nonsense);
  return nonsense;
}

Nonsense wrong_with(sluice_str_t body, sluice_str_t subresource) {
  Nonsense nonsense;
  if (const char* problem = document_problem(view_of(body))) nonsense.note("the object", problem);
  name_of(subresource, "the subresource", nonsense);
  return nonsense;
}

/// What it asks for is not what its library declares. Of the parts of an object there is the status
/// only; another is refused by the port, to those who may write the object.
std::optional<PortAnswer> forbidden(const HostSide& side, std::string_view verb,
                                    std::string_view api_version, std::string_view kind,
                                    std::string_view subresource = {}) {
  if (subresource != "status") subresource = {};
  if (side.origin().declared.allows(verb, api_version, kind, subresource)) return std::nullopt;
  return PortAnswer{
      SLUICE_OBJECTS_FORBIDDEN,
      fmt::format("plugin {} may not {} {}; what its library declares with SLUICE_MAY "
                  "is: {}",
                  side.plugin(), verb, shown_text(right_kind(api_version, kind, subresource)),
                  side.origin().declared.rights())};
}

std::optional<PortAnswer> forbidden(const HostSide& side, std::string_view verb,
                                    const PluginObjectRef& ref, std::string_view subresource = {}) {
  return forbidden(side, verb, ref.api_version, ref.kind, subresource);
}

/// As the object names its kind. One that does not is refused by the port.
std::optional<PortAnswer> forbidden_by_body(const HostSide& side, std::string_view verb,
                                            std::string_view object,
                                            std::string_view subresource = {}) {
  if (side.origin().declared.any_object) return std::nullopt;
  boost::system::error_code error;
  const boost::json::value body = api::parse_deep(object, error);
  if (error || !body.is_object()) return std::nullopt;
  return forbidden(side, verb, api::find_text(body.get_object(), "apiVersion"),
                   api::find_text(body.get_object(), "kind"), subresource);
}

std::int32_t objects_get(const sluice_host_t* host, const sluice_object_ref_t* ref,
                         const sluice_sink_t* out, const sluice_sink_t* error) noexcept {
  return with_port(host, false, out, error, [&](ObjectPort& port, HostSide& side) {
    if (const Nonsense wrong = wrong_with(ref, sluice_str_t{})) return invalid(wrong);
    if (auto no = forbidden(side, "get", ref_of(*ref))) return *no;
    return port.get(ref_of(*ref));
  });
}

std::int32_t objects_list(const sluice_host_t* host, const sluice_object_ref_t* ref,
                          sluice_str_t selector, const sluice_sink_t* out,
                          const sluice_sink_t* error) noexcept {
  return with_port(host, false, out, error, [&](ObjectPort& port, HostSide& side) {
    if (const Nonsense wrong = wrong_with(ref, selector)) return invalid(wrong);
    if (auto no = forbidden(side, "list", ref_of(*ref))) return *no;
    return port.list(ref_of(*ref), view_of(selector));
  });
}

std::int32_t objects_create(const sluice_host_t* host, sluice_str_t object,
                            const sluice_sink_t* out, const sluice_sink_t* error) noexcept {
  return with_port(host, true, out, error, [&](ObjectPort& port, HostSide& side) {
    if (const Nonsense wrong = wrong_with(object, sluice_str_t{})) return invalid(wrong);
    if (auto no = forbidden_by_body(side, "create", view_of(object))) return *no;
    return port.create(view_of(object));
  });
}

std::int32_t objects_update(const sluice_host_t* host, sluice_str_t object,
                            sluice_str_t subresource, const sluice_sink_t* out,
                            const sluice_sink_t* error) noexcept {
  return with_port(host, true, out, error, [&](ObjectPort& port, HostSide& side) {
    const std::string_view part = view_of(subresource);
    if (const Nonsense wrong = wrong_with(object, subresource)) return invalid(wrong);
    if (auto no = forbidden_by_body(side, "update", view_of(object), part)) return *no;
    return port.update(view_of(object), part);
  });
}

std::int32_t objects_patch(const sluice_host_t* host, const sluice_object_ref_t* ref,
                           sluice_str_t subresource, sluice_str_t merge, const sluice_sink_t* out,
                           const sluice_sink_t* error) noexcept {
  return with_port(host, true, out, error, [&](ObjectPort& port, HostSide& side) {
    const std::string_view part = view_of(subresource);
    Nonsense wrong = wrong_with(ref, subresource);
    if (const char* problem = document_problem(view_of(merge))) wrong.note("the patch", problem);
    if (wrong) return invalid(wrong);
    if (auto no = forbidden(side, "patch", ref_of(*ref), part)) return *no;
    return port.patch(ref_of(*ref), part, view_of(merge));
  });
}

std::int32_t objects_remove(const sluice_host_t* host, const sluice_object_ref_t* ref,
                            sluice_str_t uid, const sluice_sink_t* error) noexcept {
  return with_port(host, true, nullptr, error, [&](ObjectPort& port, HostSide& side) {
    if (const Nonsense wrong = wrong_with(ref, uid)) return invalid(wrong);
    if (auto no = forbidden(side, "delete", ref_of(*ref))) return *no;
    return port.remove(ref_of(*ref), view_of(uid));
  });
}

std::int32_t objects_release_claim(const sluice_host_t* host, const sluice_object_ref_t* ref,
                                   const sluice_sink_t* error) noexcept {
  return with_port(host, true, nullptr, error, [&](ObjectPort& port, HostSide&) {
    Nonsense wrong = wrong_with(ref, sluice_str_t{});
    if (!wrong && view_of(ref->kind) != "Workload") wrong.note("only a Workload can be claimed");
    return wrong ? invalid(wrong) : port.release_claim(ref_of(*ref));
  });
}

std::int32_t state_get(const sluice_host_t* host, sluice_str_t key,
                       const sluice_sink_t* out) noexcept {
  return with_port(host, false, out, nullptr, [&](ObjectPort& port, HostSide& side) {
    return port.state(side.plugin(), view_of(key));
  });
}

std::int32_t state_set(const sluice_host_t* host, sluice_str_t key, sluice_str_t value) noexcept {
  return with_port(host, true, nullptr, nullptr, [&](ObjectPort& port, HostSide&) {
    return port.set_state(view_of(key), view_of(value));
  });
}

std::int32_t state_remove(const sluice_host_t* host, sluice_str_t key) noexcept {
  return with_port(host, true, nullptr, nullptr, [&](ObjectPort& port, HostSide&) {
    port.remove_state(view_of(key));
    return PortAnswer{};
  });
}

std::int32_t state_keys(const sluice_host_t* host, sluice_str_t prefix,
                        void (*fn)(void* context, sluice_str_t key), void* context) noexcept {
  return with_port(host, false, nullptr, nullptr, [&](ObjectPort& port, HostSide& side) {
    for (const std::string& key : port.state_keys(side.plugin(), view_of(prefix)))
      fn(context, abi_of(key));
    return PortAnswer{};
  });
}

constexpr sluice_objects_t kObjects{sizeof(sluice_objects_t),
                                    0,
                                    &objects_get,
                                    &objects_list,
                                    &objects_create,
                                    &objects_update,
                                    &objects_patch,
                                    &objects_remove,
                                    &objects_release_claim};
constexpr sluice_state_t kState{sizeof(sluice_state_t), 0,          &state_get, &state_set,
                                &state_remove,          &state_keys};

}  // namespace

const sluice_objects_t& objects_service() { return kObjects; }
const sluice_state_t& state_service() { return kState; }

}  // namespace sluice::host
