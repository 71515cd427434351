// ApiBackend: what the API server serves, behind small interfaces; and its limits.
//
// Plain references. A backend can be replaced while the server runs (a reload of the
// configuration): see ApiServer::attach().
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/scheme/scheme.hpp"
#include "core/engine/explanation.hpp"
#include "host/access/authenticator.hpp"
#include "host/access/authorizer.hpp"
#include "host/access/rbac_index.hpp"
#include "host/executor/logs.hpp"
#include "host/executor/usage_meter.hpp"
#include "host/objects/write.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

/// Answers that are computed from the state of the scheduler, as JSON values. Any thread; `done` is
/// called once, on any thread.
class Insight {
 public:
  using Done = std::function<void(ApiResult<boost::json::value>)>;
  virtual ~Insight() = default;
  /// PendingWorkloadsSummary of a ClusterQueue (`ns` empty) or a LocalQueue, from position `offset`
  /// on, at most `limit` entries.
  virtual void pending_workloads(std::string ns, std::string queue, std::int64_t offset,
                                 std::int64_t limit, Done done) = 0;
  /// Why a workload waits: see docs/explain.md. `may_know` is asked on the kernel's thread.
  virtual void explain(std::string ns, std::string workload, MayKnow may_know, Done done) = 0;
  /// The same document with what became known since of those of its `checks` that are `awaited`;
  /// nothing else of it is worked out again.
  virtual void await(std::string ns, std::string workload, boost::json::object document,
                     Done done) = 0;
};

/// A WhatIf that a client sent.
struct WhatIfRequest {
  Identity who;
  boost::json::object question;  ///< the whole object; its spec was not looked at
  FieldValidation field_validation = FieldValidation::kWarn;
};

/// Answers what would become of objects if they were written: the request with its status. Any
/// thread; `done` is called once, on any thread. It checks whether the user may write them.
class WhatIf {
 public:
  using Done = std::function<void(ApiResult<boost::json::value>)>;
  virtual ~WhatIf() = default;
  virtual void ask(WhatIfRequest request, Done done) = 0;
};

/// A question about workloads of the past, or about quotas.
struct HistoryRequest {
  std::string user;
  std::string ns;                                 ///< empty: all namespaces
  std::map<std::string, std::string> parameters;  ///< of the URL
  bool quotas = false;
};

/// Answers what became of workloads, runs or sums over them, and what quotas were. Any thread;
/// `done` is called once, on any thread. Whether the user may ask is checked before.
class History {
 public:
  using Done = std::function<void(ApiResult<boost::json::value>)>;
  virtual ~History() = default;
  virtual void ask(HistoryRequest request, Done done) = 0;
};

/// All must outlive the attachment; those that may be null say so.
struct ApiBackend {
  const api::Scheme* scheme = nullptr;
  LiveStore* store = nullptr;
  Writes* writes = nullptr;
  const Authorizer* authorizer = nullptr;
  /// For questions about access; null: they are not served (404).
  std::function<std::shared_ptr<const RbacIndex>()> roles;
  std::function<std::optional<Identity>(std::string_view token)> holder_of;
  const LogSource* logs = nullptr;  ///< null: no container ever ran here
  UsageMeter* usage = nullptr;      ///< null: no pod runs here
  Insight* insight = nullptr;       ///< null: 404
  WhatIf* what_if = nullptr;        ///< null: 404
  History* history = nullptr;       ///< null: 404
};

struct ApiLimits {
  std::size_t body_bytes = 3U << 20;  ///< of an object, in any form; 413
  std::size_t body_depth = 100;
  std::size_t watches = 4096;            ///< 429 beyond it
  std::size_t watches_per_user = 3072;   ///< 429
  std::size_t requests_per_user = 4096;  ///< being carried out, watches aside; 429
  std::size_t chunk_objects = 500;     ///< longer lists are sent in pieces as the client takes them
  std::size_t chunk_bytes = 1U << 20;  ///< and those of more text
  std::size_t stream_bytes = 256U << 10;  ///< a watch rests while this much is not sent yet
  std::int64_t bookmark_ms = 60'000;
  std::int64_t watch_ms = 3'600'000;  ///< of a watch without timeoutSeconds
};

}  // namespace sluice::host
