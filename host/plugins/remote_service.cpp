#include "host/plugins/remote_service.hpp"

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "host/plugins/host_side.hpp"

namespace sluice::host {

namespace {

constexpr const char* kNotHere =
    "objects of other places may be written where objects of this host may be, read and asked for "
    "where those may be read, and only in a host that reaches them";

std::int32_t hand_out(const PortAnswer& answer, const sluice_sink_t* out,
                      const sluice_sink_t* error) {
  const sluice_sink_t* sink = answer.code == SLUICE_OBJECTS_OK ? out : error;
  if (sink != nullptr) sink->write(sink->context, abi_of(answer.text));
  return answer.code;
}

/// Runs fn on the port, when it may be used and judge() finds nothing wrong.
template <typename Judge, typename Fn>
std::int32_t on_port(const sluice_host_t* host, bool writes, Judge&& judge,
                     const sluice_sink_t* out, const sluice_sink_t* error, Fn&& fn) noexcept {
  try {
    HostSide& side = HostSide::of(host);
    RemoteObjectsPort* port = side.remotes(writes);
    if (port == nullptr) return hand_out({SLUICE_OBJECTS_NOT_NOW, kNotHere}, out, error);
    if (const Nonsense wrong = judge())
      return hand_out({SLUICE_OBJECTS_INVALID, wrong.sentence()}, out, error);
    const PortAnswer answer = fn(*port, side);
    side.course().answered(writes, answer.code);
    return hand_out(answer, out, error);
  } catch (const std::exception&) {
    return SLUICE_OBJECTS_FAILED;
  }
}

template <typename Judge, typename Fn>
std::int32_t with_remotes(const sluice_host_t* host, Judge&& judge, const sluice_sink_t* out,
                          const sluice_sink_t* error, Fn&& fn) noexcept {
  return on_port(host, true, judge, out, error, fn);
}

/// The same, for what changes nothing.
template <typename Judge, typename Fn>
std::int32_t reading_remotes(const sluice_host_t* host, Judge&& judge, const sluice_sink_t* out,
                             const sluice_sink_t* error, Fn&& fn) noexcept {
  return on_port(host, false, judge, out, error, fn);
}

Nonsense wrong_remote(sluice_str_t remote) {
  Nonsense nonsense;
  required_name_of(remote, "the remote", nonsense);
  return nonsense;
}

Nonsense wrong_names(sluice_str_t remote, const sluice_object_ref_t* ref, sluice_str_t more) {
  Nonsense nonsense = wrong_remote(remote);
  if (ref == nullptr || !SLUICE_HAS(ref, name)) {
    nonsense.note("the struct that names the object is too short");
    return nonsense;
  }
  required_name_of(ref->api_version, "the apiVersion", nonsense);
  required_name_of(ref->kind, "the kind", nonsense);
  name_of(ref->namespace_of, "the namespace", nonsense);
  name_of(ref->name, "the name", nonsense);
  name_of(more, "the subresource, selector or uid", nonsense);
  return nonsense;
}

std::int32_t remotes_set(const sluice_host_t* host, sluice_str_t remote, sluice_str_t spec,
                         const sluice_sink_t* error) noexcept {
  const auto judge = [&] {
    Nonsense wrong = wrong_remote(remote);
    if (const char* problem = document_problem(view_of(spec))) wrong.note("the spec", problem);
    return wrong;
  };
  return with_remotes(host, judge, nullptr, error,
                      [&](RemoteObjectsPort& port, const HostSide& side) {
                        return port.set(side.plugin(), view_of(remote), view_of(spec));
                      });
}

std::int32_t remotes_remove(const sluice_host_t* host, sluice_str_t remote) noexcept {
  return with_remotes(
      host, [&] { return wrong_remote(remote); }, nullptr, nullptr,
      [&](RemoteObjectsPort& port, const HostSide& side) {
        port.remove(side.plugin(), view_of(remote));
        return PortAnswer{};
      });
}

std::int32_t remotes_state(const sluice_host_t* host, sluice_str_t remote,
                           const sluice_sink_t* out) noexcept {
  return reading_remotes(
      host, [&] { return wrong_remote(remote); }, out, nullptr,
      [&](const RemoteObjectsPort& port, const HostSide& side) {
        return port.state(side.plugin(), view_of(remote));
      });
}

std::int32_t remotes_get(const sluice_host_t* host, sluice_str_t remote,
                         const sluice_object_ref_t* ref, const sluice_sink_t* out,
                         const sluice_sink_t* error) noexcept {
  return reading_remotes(
      host, [&] { return wrong_names(remote, ref, {}); }, out, error,
      [&](const RemoteObjectsPort& port, const HostSide& side) {
        return port.get(side.plugin(), view_of(remote), ref_of(*ref));
      });
}

std::int32_t remotes_list(const sluice_host_t* host, sluice_str_t remote,
                          const sluice_object_ref_t* ref, sluice_str_t selector,
                          const sluice_sink_t* out, const sluice_sink_t* error) noexcept {
  return reading_remotes(
      host, [&] { return wrong_names(remote, ref, selector); }, out, error,
      [&](const RemoteObjectsPort& port, const HostSide& side) {
        return port.list(side.plugin(), view_of(remote), ref_of(*ref), view_of(selector));
      });
}

std::int32_t remotes_writing(const sluice_host_t* host, sluice_str_t remote,
                             const sluice_object_ref_t* ref, const sluice_sink_t* out) noexcept {
  return reading_remotes(
      host, [&] { return wrong_names(remote, ref, {}); }, out, nullptr,
      [&](const RemoteObjectsPort& port, const HostSide& side) {
        return port.writing(side.plugin(), view_of(remote), ref_of(*ref));
      });
}

/// Keeps the write until the call is over.
PortAnswer stage(const RemoteObjectsPort& port, HostSide& side, RemoteWrite write) {
  PortAnswer answer = port.check(side.plugin(), write, side.elsewhere().writes().size());
  if (answer.code == SLUICE_OBJECTS_OK) side.elsewhere().writes().push_back(std::move(write));
  return answer;
}

RemoteWrite write_of(RemoteVerb verb, sluice_str_t remote, const sluice_object_ref_t& ref) {
  RemoteWrite write;
  write.verb = verb;
  write.remote = view_of(remote);
  write.api_version = view_of(ref.api_version);
  write.kind = view_of(ref.kind);
  write.ns = view_of(ref.namespace_of);
  write.name = view_of(ref.name);
  return write;
}

std::int32_t remotes_create(const sluice_host_t* host, sluice_str_t remote, sluice_str_t object,
                            const sluice_sink_t* error) noexcept {
  const auto judge = [&] {
    Nonsense wrong = wrong_remote(remote);
    if (const char* problem = document_problem(view_of(object))) wrong.note("the object", problem);
    return wrong;
  };
  return with_remotes(host, judge, nullptr, error,
                      [&](const RemoteObjectsPort& port, HostSide& side) {
                        RemoteWrite write;
                        write.remote = view_of(remote);
                        write.body = view_of(object);
                        return stage(port, side, std::move(write));
                      });
}

std::int32_t remotes_patch(const sluice_host_t* host, sluice_str_t remote,
                           const sluice_object_ref_t* ref, sluice_str_t subresource,
                           sluice_str_t merge, const sluice_sink_t* error) noexcept {
  const auto judge = [&] {
    Nonsense wrong = wrong_names(remote, ref, subresource);
    if (const char* problem = document_problem(view_of(merge))) wrong.note("the patch", problem);
    return wrong;
  };
  return with_remotes(host, judge, nullptr, error,
                      [&](const RemoteObjectsPort& port, HostSide& side) {
                        RemoteWrite write = write_of(RemoteVerb::kPatch, remote, *ref);
                        write.subresource = view_of(subresource);
                        write.body = view_of(merge);
                        return stage(port, side, std::move(write));
                      });
}

std::int32_t remotes_erase(const sluice_host_t* host, sluice_str_t remote,
                           const sluice_object_ref_t* ref, sluice_str_t uid,
                           const sluice_sink_t* error) noexcept {
  return with_remotes(
      host, [&] { return wrong_names(remote, ref, uid); }, nullptr, error,
      [&](const RemoteObjectsPort& port, HostSide& side) {
        RemoteWrite write = write_of(RemoteVerb::kErase, remote, *ref);
        write.uid = view_of(uid);
        return stage(port, side, std::move(write));
      });
}

std::int32_t remotes_ask(const sluice_host_t* host, sluice_str_t remote,
                         const sluice_object_ref_t* ref, sluice_str_t question,
                         const sluice_sink_t* error) noexcept {
  const auto judge = [&] {
    Nonsense wrong = wrong_names(remote, ref, {});
    const char* problem = question.len == 0 ? nullptr : document_problem(view_of(question));
    if (problem != nullptr) wrong.note("the question", problem);
    return wrong;
  };
  return reading_remotes(
      host, judge, nullptr, error, [&](RemoteObjectsPort& port, const HostSide& side) {
        return port.ask(side.plugin(), view_of(remote), ref_of(*ref), view_of(question));
      });
}

std::int32_t remotes_answer(const sluice_host_t* host, sluice_str_t remote,
                            const sluice_object_ref_t* ref, const sluice_sink_t* out) noexcept {
  return reading_remotes(
      host, [&] { return wrong_names(remote, ref, {}); }, out, nullptr,
      [&](RemoteObjectsPort& port, const HostSide& side) {
        return port.answer(side.plugin(), view_of(remote), ref_of(*ref));
      });
}

constexpr sluice_remotes_t kRemotes{sizeof(sluice_remotes_t),
                                    0,
                                    &remotes_set,
                                    &remotes_remove,
                                    &remotes_state,
                                    &remotes_get,
                                    &remotes_list,
                                    &remotes_create,
                                    &remotes_patch,
                                    &remotes_erase,
                                    &remotes_writing,
                                    &remotes_ask,
                                    &remotes_answer};

}  // namespace

const sluice_remotes_t& remotes_service() { return kRemotes; }

}  // namespace sluice::host
