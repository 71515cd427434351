#include "host/plugins/object_service.hpp"

#include <exception>
#include <string>
#include <string_view>

#include "host/plugins/host_side.hpp"

namespace sluice::host {

namespace {

constexpr const char* kNotNow =
    "objects and state may be used inside check_changed, begin, cancel, reconcile, notify, fired "
    "and deactivate only, and read inside validate, on the thread of the call";

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
    ObjectPort* port = writes ? side.port_for_writes() : side.port();
    if (port == nullptr) return give({SLUICE_OBJECTS_NOT_NOW, kNotNow}, out, error);
    return give(fn(*port, side), out, error);
  } catch (const std::exception&) {
    return SLUICE_OBJECTS_FAILED;
  }
}

PluginObjectRef ref_of(const sluice_object_ref_t& raw) {
  return {view_of(raw.api_version), view_of(raw.kind), view_of(raw.namespace_of),
          view_of(raw.name)};
}

bool is_whole(const sluice_object_ref_t* ref) { return ref != nullptr && SLUICE_HAS(ref, name); }

PortAnswer short_struct() {
  return {SLUICE_OBJECTS_INVALID, "the struct that names the object is too short"};
}

std::int32_t objects_get(const sluice_host_t* host, const sluice_object_ref_t* ref,
                         const sluice_sink_t* out, const sluice_sink_t* error) noexcept {
  return with_port(host, false, out, error, [&](ObjectPort& port, HostSide&) {
    return is_whole(ref) ? port.get(ref_of(*ref)) : short_struct();
  });
}

std::int32_t objects_list(const sluice_host_t* host, const sluice_object_ref_t* ref,
                          sluice_str_t selector, const sluice_sink_t* out,
                          const sluice_sink_t* error) noexcept {
  return with_port(host, false, out, error, [&](ObjectPort& port, HostSide&) {
    return is_whole(ref) ? port.list(ref_of(*ref), view_of(selector)) : short_struct();
  });
}

std::int32_t objects_create(const sluice_host_t* host, sluice_str_t object,
                            const sluice_sink_t* out, const sluice_sink_t* error) noexcept {
  return with_port(host, true, out, error,
                   [&](ObjectPort& port, HostSide&) { return port.create(view_of(object)); });
}

std::int32_t objects_update(const sluice_host_t* host, sluice_str_t object,
                            sluice_str_t subresource, const sluice_sink_t* out,
                            const sluice_sink_t* error) noexcept {
  return with_port(host, true, out, error, [&](ObjectPort& port, HostSide&) {
    return port.update(view_of(object), view_of(subresource));
  });
}

std::int32_t objects_patch(const sluice_host_t* host, const sluice_object_ref_t* ref,
                           sluice_str_t subresource, sluice_str_t merge, const sluice_sink_t* out,
                           const sluice_sink_t* error) noexcept {
  return with_port(host, true, out, error, [&](ObjectPort& port, HostSide&) {
    return is_whole(ref) ? port.patch(ref_of(*ref), view_of(subresource), view_of(merge))
                         : short_struct();
  });
}

std::int32_t objects_remove(const sluice_host_t* host, const sluice_object_ref_t* ref,
                            sluice_str_t uid, const sluice_sink_t* error) noexcept {
  return with_port(host, true, nullptr, error, [&](ObjectPort& port, HostSide&) {
    return is_whole(ref) ? port.remove(ref_of(*ref), view_of(uid)) : short_struct();
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
                                    &objects_remove};
constexpr sluice_state_t kState{sizeof(sluice_state_t), 0,          &state_get, &state_set,
                                &state_remove,          &state_keys};

}  // namespace

const sluice_objects_t& objects_service() { return kObjects; }
const sluice_state_t& state_service() { return kState; }

}  // namespace sluice::host
