// The objects of other places, in C++ terms. See svc/remotes.h for what is what, and when.
//
// RemoteState and RemoteWriting are values. Remotes is two pointers; it may be kept as long as the
// Context. Without the service every remote is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/cpp/json.hpp"
#include "sluice/cpp/objects.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/svc/remotes.h"

namespace sluice {

/// How it stands with a remote.
struct RemoteState {
  bool connected = false;
  std::int64_t since = 0;  ///< when `connected` became what it is, ns
  bool synced = false;     ///< the mirror may be read
  std::string problem, message;
  std::int64_t objects = 0, writes = 0;
};

/// The last write to an object of a remote that the mirror does not show yet.
struct RemoteWriting {
  std::string verb;
  bool failed = false;  ///< else there is no answer yet, or the mirror waits for what became of it
  std::int64_t code = 0;
  std::string message;
};

/// How it stands with a question.
struct RemoteAnswer {
  bool waiting = true;
  std::int64_t code = 0;       ///< 0: there is no answer
  std::string message;         ///< why there is none
  std::optional<Json> answer;  ///< what was answered; nullopt without success
};

/// Kinds to follow there.
struct RemoteKind {
  std::string api_version, kind, labels;
};

class Remotes {
 public:
  Remotes(const sluice_host_t* host, const sluice_remotes_t* table) : host_(host), table_(table) {}

  /// By a kubeconfig's text, or by the path of one. The reply has a sentence when it is refused.
  ObjectReply set(std::string_view remote, std::string_view kubeconfig,
                  const std::vector<RemoteKind>& kinds) const {
    return set_by("kubeconfig", remote, kubeconfig, kinds);
  }
  ObjectReply set_file(std::string_view remote, std::string_view path,
                       const std::vector<RemoteKind>& kinds) const {
    return set_by("file", remote, path, kinds);
  }
  void remove(std::string_view remote) const {
    if (table_ != nullptr) table_->remove(host_, to_abi(remote));
  }
  /// nullopt: there is no remote of that name.
  std::optional<RemoteState> state(std::string_view remote) const {
    std::string text;
    const sluice_sink_t sink = Sink::into(text);
    if (table_ == nullptr || table_->state(host_, to_abi(remote), &sink) != SLUICE_OBJECTS_OK)
      return std::nullopt;
    const Json json = Json::parse(text);
    return RemoteState{json.bool_or("connected", false), json.int_or("since", 0),
                       json.bool_or("synced", false),    json.string_or("problem", ""),
                       json.string_or("message", ""),    json.int_or("objects", 0),
                       json.int_or("writes", 0)};
  }

  /// As the mirror has it; nullopt when it has none.
  std::optional<Json> find(std::string_view remote, const ObjectRef& ref) const {
    std::string text;
    const sluice_sink_t sink = Sink::into(text);
    const sluice_object_ref_t raw = to_raw(ref);
    if (table_ == nullptr ||
        table_->get(host_, to_abi(remote), &raw, &sink, nullptr) != SLUICE_OBJECTS_OK)
      return std::nullopt;
    return Json::parse(text);
  }
  /// Of the mirror; `ns` empty: of all namespaces. Throws ObjectError.
  std::vector<Json> list(std::string_view remote, std::string_view api_version,
                         std::string_view kind, std::string_view ns = {},
                         std::string_view selector = {}) const {
    const ObjectRef of{std::string(api_version), std::string(kind), std::string(ns), {}};
    const ObjectReply reply = call([&](const sluice_sink_t* out, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(of);
      return table_->list(host_, to_abi(remote), &raw, to_abi(selector), out, error);
    });
    return reply.or_throw().json().items();
  }

  ObjectReply create(std::string_view remote, const Json& object) const {
    return call([&](const sluice_sink_t*, const sluice_sink_t* error) {
      return table_->create(host_, to_abi(remote), to_abi(object.dump()), error);
    });
  }
  /// JSON merge patch.
  ObjectReply patch(std::string_view remote, const ObjectRef& ref, const Json& merge,
                    std::string_view subresource = {}) const {
    return call([&](const sluice_sink_t*, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(ref);
      return table_->patch(host_, to_abi(remote), &raw, to_abi(subresource), to_abi(merge.dump()),
                           error);
    });
  }
  /// `uid`: only if it has this one.
  ObjectReply erase(std::string_view remote, const ObjectRef& ref,
                    std::string_view uid = {}) const {
    return call([&](const sluice_sink_t*, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(ref);
      return table_->erase(host_, to_abi(remote), &raw, to_abi(uid), error);
    });
  }
  /// nullopt: there was no write, or the mirror shows what became of it.
  std::optional<RemoteWriting> writing(std::string_view remote, const ObjectRef& ref) const {
    std::string text;
    const sluice_sink_t sink = Sink::into(text);
    const sluice_object_ref_t raw = to_raw(ref);
    if (table_ == nullptr ||
        table_->writing(host_, to_abi(remote), &raw, &sink) != SLUICE_OBJECTS_OK)
      return std::nullopt;
    const Json json = Json::parse(text);
    return RemoteWriting{json.string_or("verb", ""), json.string_or("state", "") == "failed",
                         json.int_or("code", 0), json.string_or("message", "")};
  }

  /// Asks the remote; `ref` has the kind of the question and a name of the plugin's for it.
  ObjectReply ask(std::string_view remote, const ObjectRef& ref, const Json& question) const {
    if (table_ != nullptr && !SLUICE_HAS(table_, ask))
      return {ObjectCode::kNotNow, "this host asks no questions"};
    return call([&](const sluice_sink_t*, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(ref);
      return table_->ask(host_, to_abi(remote), &raw, to_abi(question.dump()), error);
    });
  }
  /// Asks it for what it works out of one of its objects, of the kind of the answer.
  ObjectReply ask_of(std::string_view remote, const ObjectRef& ref) const {
    if (table_ != nullptr && !SLUICE_HAS(table_, ask))
      return {ObjectCode::kNotNow, "this host asks no questions"};
    return call([&](const sluice_sink_t*, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(ref);
      return table_->ask(host_, to_abi(remote), &raw, {}, error);
    });
  }
  /// Its answer is handed out once. nullopt: there is no such question.
  std::optional<RemoteAnswer> answer(std::string_view remote, const ObjectRef& ref) const {
    std::string text;
    const sluice_sink_t sink = Sink::into(text);
    const sluice_object_ref_t raw = to_raw(ref);
    if (table_ == nullptr || !SLUICE_HAS(table_, answer) ||
        table_->answer(host_, to_abi(remote), &raw, &sink) != SLUICE_OBJECTS_OK)
      return std::nullopt;
    const Json json = Json::parse(text);
    RemoteAnswer out{json.bool_or("waiting", true), json.int_or("code", 0),
                     json.string_or("message", ""), std::nullopt};
    if (const Json* answer = json.find("answer")) out.answer = *answer;
    return out;
  }

 private:
  static sluice_object_ref_t to_raw(const ObjectRef& ref) {
    return {sizeof(sluice_object_ref_t),
            0,
            to_abi(ref.api_version),
            to_abi(ref.kind),
            to_abi(ref.ns),
            to_abi(ref.name)};
  }
  ObjectReply set_by(const char* how, std::string_view remote, std::string_view what,
                     const std::vector<RemoteKind>& kinds) const {
    Json spec = Json::object();
    spec[how] = what;
    spec["kinds"] = Json::array();
    for (const RemoteKind& kind : kinds) {
      Json one = Json::object();
      one["apiVersion"] = kind.api_version;
      one["kind"] = kind.kind;
      if (!kind.labels.empty()) one["labels"] = kind.labels;
      spec["kinds"].push_back(std::move(one));
    }
    return call([&](const sluice_sink_t*, const sluice_sink_t* error) {
      return table_->set(host_, to_abi(remote), to_abi(spec.dump()), error);
    });
  }
  template <typename Fn>
  ObjectReply call(Fn fn) const {
    ObjectReply reply;
    if (table_ == nullptr) return {ObjectCode::kNotNow, "this host has no remotes service"};
    std::string error;
    const sluice_sink_t out_sink = Sink::into(reply.text);
    const sluice_sink_t error_sink = Sink::into(error);
    reply.code = static_cast<ObjectCode>(fn(&out_sink, &error_sink));
    if (!reply) reply.text = std::move(error);
    return reply;
  }

  const sluice_host_t* host_;
  const sluice_remotes_t* table_;
};

}  // namespace sluice
