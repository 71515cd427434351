// The host's objects, the plugin's own state, and what controller/1 is asked, in C++ terms. See
// svc/objects.h, svc/state.h and ext/controller.h for where they may be used and what they mean.
//
// ObjectRef, ObjectReply and Again are values. Objects and State are two pointers each; they may be
// kept as long as the Context.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/cpp/json.hpp"
#include "sluice/cpp/text.hpp"
#include "sluice/ext/controller.h"
#include "sluice/svc/objects.h"
#include "sluice/svc/state.h"

namespace sluice {

/// Which object: `GROUP/VERSION` (or `VERSION`), kind, namespace (empty: cluster-wide), name.
struct ObjectRef {
  std::string api_version, kind, ns, name;
  std::string remote = {};  ///< for reconcile(): where it is (cpp/remotes.hpp); empty: here
  bool operator==(const ObjectRef&) const = default;
};

enum class ObjectCode : std::int32_t {
  kOk = SLUICE_OBJECTS_OK,
  kNotFound = SLUICE_OBJECTS_NOT_FOUND,
  kAlreadyExists = SLUICE_OBJECTS_ALREADY_EXISTS,
  kConflict = SLUICE_OBJECTS_CONFLICT,
  kInvalid = SLUICE_OBJECTS_INVALID,
  kForbidden = SLUICE_OBJECTS_FORBIDDEN,
  kNotNow = SLUICE_OBJECTS_NOT_NOW,
  kFailed = SLUICE_OBJECTS_FAILED,
  kBusy = 8  ///< of remotes: too many writes have no answer yet
};

/// Thrown by what has no answer without the object. Left to leave the hook, it makes the call fail:
/// nothing of it is written, and it is repeated later. Of a write that was refused that is no step
/// toward quarantine (docs/plugins/faults.md).
class ObjectError : public std::runtime_error {
 public:
  ObjectError(ObjectCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ObjectCode code() const { return code_; }

 private:
  ObjectCode code_;
};

/// The object as it is now, or why not.
struct ObjectReply {
  ObjectCode code = ObjectCode::kOk;
  std::string text;  ///< JSON, or a sentence
  explicit operator bool() const { return code == ObjectCode::kOk; }
  Json json() const { return Json::parse(text); }
  const ObjectReply& or_throw() const {
    if (code != ObjectCode::kOk) throw ObjectError(code, text);
    return *this;
  }
};

/// When reconcile() wants to be called again for the same object.
struct Again {
  std::int64_t after_ms = 0;  ///< 0: when something changes; see ext/controller.h
  static Again on_change() { return {}; }
  static Again in_seconds(std::int64_t seconds) { return {seconds * 1000}; }
  /// After what else is due: for work that is done in pieces.
  static Again at_once() { return {SLUICE_AGAIN_AT_ONCE}; }
};

class Objects {
 public:
  Objects(const sluice_host_t* host, const sluice_objects_t* table) : host_(host), table_(table) {}

  ObjectReply get(const ObjectRef& ref) const {
    return call([&](const sluice_sink_t* out, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(ref);
      return table_->get(host_, &raw, out, error);
    });
  }
  /// nullopt when there is none; throws ObjectError for every other reason.
  std::optional<Json> find(const ObjectRef& ref) const {
    const ObjectReply reply = get(ref);
    if (reply.code == ObjectCode::kNotFound) return std::nullopt;
    return reply.or_throw().json();
  }
  /// Throws ObjectError. `selector`: labels, `a=b,c in (d,e)`; empty: all.
  std::vector<Json> list(std::string_view api_version, std::string_view kind,
                         std::string_view ns = {}, std::string_view selector = {}) const {
    const ObjectReply reply = call([&](const sluice_sink_t* out, const sluice_sink_t* error) {
      const sluice_object_ref_t raw{sizeof(sluice_object_ref_t),
                                    0,
                                    to_abi(api_version),
                                    to_abi(kind),
                                    to_abi(ns),
                                    to_abi({})};
      return table_->list(host_, &raw, to_abi(selector), out, error);
    });
    return reply.or_throw().json().items();
  }
  ObjectReply create(const Json& object) const {
    return call([&](const sluice_sink_t* out, const sluice_sink_t* error) {
      return table_->create(host_, to_abi(object.dump()), out, error);
    });
  }
  ObjectReply update(const Json& object, std::string_view subresource = {}) const {
    return call([&](const sluice_sink_t* out, const sluice_sink_t* error) {
      return table_->update(host_, to_abi(object.dump()), to_abi(subresource), out, error);
    });
  }
  /// JSON merge patch.
  ObjectReply patch(const ObjectRef& ref, const Json& merge,
                    std::string_view subresource = {}) const {
    return call([&](const sluice_sink_t* out, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(ref);
      return table_->patch(host_, &raw, to_abi(subresource), to_abi(merge.dump()), out, error);
    });
  }
  /// `uid`: only if it has this one.
  ObjectReply remove(const ObjectRef& ref, std::string_view uid = {}) const {
    return call([&](const sluice_sink_t*, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(ref);
      return table_->remove(host_, &raw, to_abi(uid), error);
    });
  }
  /// Ends the plugin's claim of the Workload, made by answering with a trait once: from now on,
  /// whether the plugin is loaded or not, it is as if the plugin had never answered.
  ObjectReply release_claim(const ObjectRef& workload) const {
    if (table_ != nullptr && !SLUICE_HAS(table_, release_claim))
      return {ObjectCode::kNotNow, "this host cannot release claims"};
    return call([&](const sluice_sink_t*, const sluice_sink_t* error) {
      const sluice_object_ref_t raw = to_raw(workload);
      return table_->release_claim(host_, &raw, error);
    });
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
  template <typename Fn>
  ObjectReply call(Fn fn) const {
    ObjectReply reply;
    if (table_ == nullptr) return {ObjectCode::kNotNow, "this host has no objects service"};
    std::string error;
    const sluice_sink_t out_sink = Sink::into(reply.text);
    const sluice_sink_t error_sink = Sink::into(error);
    reply.code = static_cast<ObjectCode>(fn(&out_sink, &error_sink));
    if (!reply) reply.text = std::move(error);
    return reply;
  }

  const sluice_host_t* host_;
  const sluice_objects_t* table_;
};

/// Keys and values of the plugin's own. All throw ObjectError when they cannot do what they say.
class State {
 public:
  State(const sluice_host_t* host, const sluice_state_t* table) : host_(host), table_(table) {}

  std::optional<std::string> get(std::string_view key) const {
    std::string value;
    const sluice_sink_t sink = Sink::into(value);
    const std::int32_t code =
        table_ == nullptr ? SLUICE_OBJECTS_NOT_NOW : table_->get(host_, to_abi(key), &sink);
    if (code == SLUICE_OBJECTS_NOT_FOUND) return std::nullopt;
    expect(code, "read");
    return value;
  }
  void set(std::string_view key, std::string_view value) const {
    expect(
        table_ == nullptr ? SLUICE_OBJECTS_NOT_NOW : table_->set(host_, to_abi(key), to_abi(value)),
        "written");
  }
  void remove(std::string_view key) const {
    expect(table_ == nullptr ? SLUICE_OBJECTS_NOT_NOW : table_->remove(host_, to_abi(key)),
           "removed");
  }
  std::vector<std::string> keys(std::string_view prefix = {}) const {
    std::vector<std::string> out;
    expect(table_ == nullptr ? SLUICE_OBJECTS_NOT_NOW
                             : table_->keys(host_, to_abi(prefix), &add, &out),
           "listed");
    return out;
  }

 private:
  static void add(void* context, sluice_str_t key) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(to_view(key));
  }
  static void expect(std::int32_t code, const char* what) {
    if (code == SLUICE_OBJECTS_OK) return;
    throw ObjectError(static_cast<ObjectCode>(code), std::string("the plugin's state cannot be ") +
                                                         what + " (code " + std::to_string(code) +
                                                         ")");
  }

  const sluice_host_t* host_;
  const sluice_state_t* table_;
};

}  // namespace sluice
