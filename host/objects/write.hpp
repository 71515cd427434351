// WriteRequest, WriteOutcome and Writes: how a requested change travels from the API server (or any
// other thread) to the one thread that carries out writes, and back.
//
// The values are plain; Writes::submit() may be called from any thread.
#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/objects/api_error.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

enum class WriteVerb : std::uint8_t { kCreate, kUpdate, kPatch, kDelete };
enum class PatchType : std::uint8_t { kMerge, kJson, kStrategic, kApply };
enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };
enum class Propagation : std::uint8_t { kDefault, kBackground, kForeground, kOrphan };

/// What a DELETE says beside the name.
struct DeleteOptions {
  Propagation propagation = Propagation::kDefault;
  std::optional<std::int64_t> grace_period_seconds;
  std::string uid;               ///< precondition; empty: none
  std::string resource_version;  ///< precondition; empty: none
};

struct PreparedObject;
struct Draft;

struct WriteRequest {
  WriteRequest() = default;
  WriteRequest(const WriteRequest& other) = default;  // its body is in no storage of its own
  WriteRequest(WriteRequest&& other) noexcept = default;
  WriteRequest& operator=(const WriteRequest& other) { return *this = WriteRequest(other); }
  WriteRequest& operator=(WriteRequest&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);  // the body before its memory: assigning member by member would not do
    return *std::construct_at(this, std::move(other));
  }

  WriteVerb verb = WriteVerb::kCreate;
  const api::KindInfo* kind = nullptr;
  std::string version;      ///< of the kind, as the URL names it; body and answer are in it
  std::string ns;           ///< empty: cluster-wide
  std::string name;         ///< empty with kCreate: metadata.name or generateName of the body
  std::string subresource;  ///< "", "status" or "scale"
  /// What `body` is made in, where it has a storage of its own: a tree that nothing is taken out
  /// of costs a third when it is built and nothing when it goes.
  std::shared_ptr<boost::json::monotonic_resource> memory;
  boost::json::value body;  ///< the object or the patch; null with kDelete
  PatchType patch_type = PatchType::kMerge;
  /// kCreate: the object as an earlier stage has defaulted, validated and encoded it, in place of
  /// `body`. It is used up.
  std::shared_ptr<PreparedObject> prepared;
  /// What comes of it, as it was worked out beforehand; null: it is worked out on the way.
  std::shared_ptr<Draft> draft;
  /// kCreate: UID, creation time and status that the object brings are kept: a state that is put
  /// back. For clients inside the process; no request over the network can set it.
  bool restore = false;
  bool wants_answer = true;  ///< false: the outcome names no object
  /// Where a plugin takes its time to judge it, the outcome is `later`, and the request is kept to
  /// be carried out again; false: the thread waits for the plugin.
  bool may_wait = false;
  std::string connection;  ///< whose requests take effect in their order; empty: of none
  bool dry_run = false;
  bool force = false;         ///< kApply: take over fields of other managers
  bool may_create = true;     ///< kApply: whether the user may make the object if there is none
  std::string field_manager;  ///< of the request, else derived from the user agent
  FieldValidation field_validation = FieldValidation::kWarn;
  /// Problems found while the body was decoded (duplicate keys), worded as unknown fields are.
  std::vector<std::string> decoding_problems;
  DeleteOptions deletion;
  std::string user;  ///< for the audit line and for what the user may grant
  std::vector<std::string> user_groups;
};

struct WriteOutcome {
  int code = 200;       ///< 200, 201
  StoredObject object;  ///< as it is now; the last form of a deleted one
  std::vector<std::string> warnings;
  bool removed = false;  ///< kDelete: it is gone, not only marked
  bool later = false;    ///< nothing was decided: the answer of a plugin is not there yet
};

using WriteDone = std::function<void(ApiResult<WriteOutcome>)>;

class Writes {
 public:
  virtual ~Writes() = default;
  /// Carries the request out; `done` is called once, on some other thread, when the change is
  /// durable or was refused. It must not block.
  virtual void submit(WriteRequest request, WriteDone done) = 0;
  /// Runs a task that costs with the size of a request of this user's, in turns with those of other
  /// users, on a thread that nothing else waits for. False: too many wait; it is not run. Any
  /// thread.
  virtual bool run_aside(const std::string& user, std::function<void()> task) {
    static_cast<void>(user);
    task();
    return true;
  }
};

}  // namespace sluice::host
