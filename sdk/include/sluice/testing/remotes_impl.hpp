// The service of FakeHost (host.hpp) for other places: the C table that a plugin finds.
//
// Included by host.hpp only. Usable where objects are.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sluice/testing/host_impl.hpp"

namespace sluice::testing {

struct FakeRemoteServices {
  using Host = const sluice_host_t*;
  using Out = const sluice_sink_t*;
  using Ref = const sluice_object_ref_t*;

  /// fn(remotes, text) → code
  template <typename Fn>
  static std::int32_t with_remotes(Host host, Out out, Out error, Fn fn) noexcept {
    return FakeServices::with_objects(host, out, error, [&](FakeObjects&, std::string& text) {
      return fn(FakeServices::remotes_of(host), text);
    });
  }
  /// fn(place, text) → code, for one that the plugin has named.
  template <typename Fn>
  static std::int32_t with_place(Host host, sluice_str_t remote, Out out, Out error,
                                 Fn fn) noexcept {
    return with_remotes(host, out, error, [&](FakeRemotes& remotes, std::string& text) {
      FakePlace* place = remotes.named(to_view(remote));
      if (place == nullptr) text = "there is no remote " + std::string(to_view(remote));
      return place == nullptr ? SLUICE_OBJECTS_NOT_FOUND : fn(*place, text);
    });
  }
  static ObjectRef ref_of(Ref ref) {
    const auto text = [](sluice_str_t from) { return std::string(to_view(from)); };
    return {text(ref->api_version), text(ref->kind), text(ref->namespace_of), text(ref->name)};
  }
  static std::int32_t stage(Host host, sluice_str_t remote, RemoteWriteMade write,
                            Out error) noexcept {
    return with_place(host, remote, nullptr, error, [&](FakePlace&, std::string&) {
      write.remote = to_view(remote);
      FakeServices::remotes_of(host).stage(std::move(write));
      return SLUICE_OBJECTS_OK;
    });
  }

  static std::int32_t set_remote(Host host, sluice_str_t remote, sluice_str_t spec,
                                 Out error) noexcept {
    return with_remotes(host, nullptr, error, [&](FakeRemotes& remotes, std::string&) {
      remotes.place(std::string(to_view(remote))).spec = to_view(spec);
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t remove_remote(Host host, sluice_str_t remote) noexcept {
    return with_remotes(host, nullptr, nullptr, [&](FakeRemotes& remotes, std::string&) {
      remotes.place(std::string(to_view(remote))).spec.reset();
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t remote_state(Host host, sluice_str_t remote, Out out) noexcept {
    return with_place(host, remote, out, nullptr, [](const FakePlace& place, std::string& text) {
      Json json = Json::object();
      json["connected"] = place.state.connected;
      json["since"] = place.state.since;
      json["synced"] = place.state.synced;
      json["problem"] = place.state.problem;
      json["message"] = place.state.message;
      text = json.dump();
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t get_remote(Host host, sluice_str_t remote, Ref raw, Out out,
                                 Out error) noexcept {
    return with_place(host, remote, out, error, [&](const FakePlace& place, std::string& text) {
      const ObjectRef ref = ref_of(raw);
      const Json* found = place.objects.find(ref.kind, ref.ns, ref.name);
      if (found != nullptr) text = found->dump();
      return found == nullptr ? SLUICE_OBJECTS_NOT_FOUND : SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t list_remote(Host host, sluice_str_t remote, Ref raw, sluice_str_t selector,
                                  Out out, Out error) noexcept {
    return with_place(host, remote, out, error, [&](const FakePlace& place, std::string& text) {
      Json found = Json::array();
      for (Json& object : place.objects.list(to_view(raw->kind), to_view(raw->namespace_of)))
        if (FakeObjects::matches(object, to_view(selector)).value_or(false))
          found.push_back(std::move(object));
      text = found.dump();
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t create_remote(Host host, sluice_str_t remote, sluice_str_t object,
                                    Out error) noexcept {
    const Json made = Json::parse(to_view(object));
    return stage(host, remote,
                 {{},
                  "create",
                  {made.string_or("apiVersion", ""), made.string_or("kind", ""),
                   made.string_or("metadata.namespace", ""), made.string_or("metadata.name", "")},
                  std::string(to_view(object)),
                  {},
                  {}},
                 error);
  }
  static std::int32_t patch_remote(Host host, sluice_str_t remote, Ref ref,
                                   sluice_str_t subresource, sluice_str_t merge,
                                   Out error) noexcept {
    return stage(host, remote,
                 {{},
                  "patch",
                  ref_of(ref),
                  std::string(to_view(merge)),
                  {},
                  std::string(to_view(subresource))},
                 error);
  }
  static std::int32_t erase_remote(Host host, sluice_str_t remote, Ref ref, sluice_str_t uid,
                                   Out error) noexcept {
    return stage(host, remote, {{}, "erase", ref_of(ref), {}, std::string(to_view(uid)), {}},
                 error);
  }
  static std::int32_t remote_writing(Host host, sluice_str_t remote, Ref ref, Out out) noexcept {
    return with_remotes(host, out, nullptr, [&](const FakeRemotes& remotes, std::string& text) {
      const auto state = remotes.writing(to_view(remote), ref_of(ref));
      if (!state) return SLUICE_OBJECTS_NOT_FOUND;
      Json json = Json::object();
      json["verb"] = state->verb;
      json["state"] = state->failed ? "failed" : "waiting";
      json["code"] = state->code;
      json["message"] = state->message;
      text = json.dump();
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t ask_remote(Host host, sluice_str_t remote, Ref ref, sluice_str_t question,
                                 Out error) noexcept {
    return with_place(host, remote, nullptr, error, [&](FakePlace&, std::string&) {
      const std::string_view asked = to_view(question);
      FakeServices::remotes_of(host).ask(std::string(to_view(remote)), ref_of(ref),
                                         asked.empty() ? Json() : Json::parse(asked));
      return SLUICE_OBJECTS_OK;
    });
  }
  static std::int32_t remote_answer(Host host, sluice_str_t remote, Ref ref, Out out) noexcept {
    return with_remotes(host, out, nullptr, [&](FakeRemotes& remotes, std::string& text) {
      const auto answer = remotes.take_answer(to_view(remote), ref_of(ref));
      if (!answer) return SLUICE_OBJECTS_NOT_FOUND;
      Json json = Json::object();
      json["waiting"] = answer->waiting;
      json["code"] = answer->code;
      json["message"] = answer->message;
      if (answer->answer) json["answer"] = *answer->answer;
      text = json.dump();
      return SLUICE_OBJECTS_OK;
    });
  }
};

inline const sluice_remotes_t* FakeServices::remotes_table() {
  using Remotes = FakeRemoteServices;
  static const sluice_remotes_t kRemotes{sizeof(kRemotes),         0,
                                         &Remotes::set_remote,     &Remotes::remove_remote,
                                         &Remotes::remote_state,   &Remotes::get_remote,
                                         &Remotes::list_remote,    &Remotes::create_remote,
                                         &Remotes::patch_remote,   &Remotes::erase_remote,
                                         &Remotes::remote_writing, &Remotes::ask_remote,
                                         &Remotes::remote_answer};
  return &kRemotes;
}

}  // namespace sluice::testing
