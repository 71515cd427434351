// ObjectAccess: how controllers and plugins read and change objects.
//
// Everything is in hub form (storage version). Later reads on this thread see a change at once; it
// becomes durable, and visible to clients, with the transaction of the step that runs. Only the
// thread that owns the Kernel uses it.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/time.hpp"
#include "core/types/kinds.hpp"
#include "host/objects/api_error.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/write.hpp"

namespace sluice::host {

/// An answer for callers that answer no request: whether it worked, or why not.
template <typename T>
Result<void> plain(const ApiResult<T>& done) {
  if (done) return {};
  return Error{done.error().text};
}

struct ObjectRef {
  const api::KindInfo* kind = nullptr;
  std::string key;  ///< `namespace/name`, or `name`

  std::string_view ns() const { return namespace_of(key); }  ///< empty: in no namespace
  std::string_view name() const { return split_key(key).name; }
  bool operator==(const ObjectRef&) const = default;
  auto operator<=>(const ObjectRef&) const = default;
};

/// A Kubernetes Event to be written; repeated ones are counted.
struct EventNote {
  ObjectRef about;
  bool warning = false;
  std::string reason;  ///< CamelCase
  std::string message;
};

/// The objects as the rules that check a write read them.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  virtual const api::Scheme& scheme() const = 0;
  /// The object with its present status; nullopt when there is none.
  virtual std::optional<boost::json::object> get(const api::KindInfo& kind,
                                                 std::string_view key) const = 0;
  virtual bool exists(const api::KindInfo& kind, std::string_view key) const = 0;
};

class ObjectAccess : public ObjectReader {
 public:
  virtual Time now() const = 0;

  /// Keys in order; `ns` empty: all namespaces.
  virtual std::vector<std::string> keys(const api::KindInfo& kind,
                                        std::string_view ns = {}) const = 0;
  /// What names the object with this UID among its ownerReferences, in order of kind and key: of a
  /// namespace only, since nothing of another one is its owner's. `ns` empty: of all.
  virtual std::vector<ObjectRef> owned_by(std::string_view uid, std::string_view ns) const = 0;

  /// Creates `object` (any served version; apiVersion and kind inside). A missing uid and creation
  /// time are filled in, a status is taken over.
  virtual ApiResult<void> create(boost::json::object object) = 0;
  /// Replaces labels, annotations, owner references, finalizers and the body; not the status. A
  /// change that changes nothing writes nothing.
  virtual ApiResult<void> update(boost::json::object object) = 0;
  /// Replaces the status. A change that changes nothing writes nothing.
  virtual ApiResult<void> update_status(const api::KindInfo& kind, std::string_view key,
                                        boost::json::object status) = 0;
  /// Deletes as the API does: finalizers and propagation are honoured, a running Pod has its grace
  /// period (its own unless one is given; 0: it is gone at once). Nothing to do is no error.
  virtual ApiResult<void> remove(const api::KindInfo& kind, std::string_view key,
                                 Propagation propagation = Propagation::kBackground,
                                 std::optional<std::int64_t> grace_seconds = std::nullopt) = 0;

  virtual void emit(EventNote event) = 0;

  /// One of the workload's admission checks has this state now (name, state, reason, message, delay
  /// and pod set updates count). An error when the workload holds no quota or has no such check.
  virtual ApiResult<void> report_check(std::string_view key,
                                       const api::AdmissionCheckState& check) = 0;

  /// Nothing of an evicted workload runs any more; see Engine::ended().
  virtual void tell_ended(std::string_view key) = 0;

  /// The workload ended, in whatever state it is: Finished with this reason and message, what it
  /// holds is released.
  virtual ApiResult<void> finish_workload(std::string_view key, std::string_view reason,
                                          std::string_view message) = 0;
};

}  // namespace sluice::host
