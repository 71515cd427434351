// ClusterFollower: follows kinds of a cluster through its API server, reading only: for each kind a
// list and then watches, kept up over whatever happens to connections and server.
//
//   ClusterFollower follower(client_config, {{&workloads, {"kueue.x-k8s.io/v1beta2"}}, …}, sink);
//   follower.start();
//   if (!follower.wait(30 * kSecond)) …     // until each kind was listed once
//   …
//   follower.stop();
//
// One thread of its own, on which the sink is called; each kind has connections of its own, so that
// none waits for another. What arrives is handed on in the order of the server, for each kind.
// Public members may be called from any thread, except by the sink.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/schema/kind_info.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/client/kubeconfig.hpp"
#include "host/kube/reflector.hpp"

namespace sluice::host {

/// Takes what the cluster has of each kind. [the follower's thread]
class ClusterSink {
 public:
  virtual ~ClusterSink() = default;
  /// All objects follow with put(), as the cluster had them at `version` (0: it is no number); …
  virtual void list_begins(const api::KindInfo& kind, std::uint64_t version) = 0;
  /// … what was not among them is gone.
  virtual void list_ends(const api::KindInfo& kind) = 0;
  /// It came or changed. `api_version`: that in which it is.
  virtual void put(const api::KindInfo& kind, const std::string& api_version,
                   boost::json::object object) = 0;
  virtual void remove(const api::KindInfo& kind, const boost::json::object& object) = 0;
  /// What was handed on belongs together up to here.
  virtual void settle() = 0;
  /// It stands otherwise with a kind than before: states() tells.
  virtual void noted() {}
};

struct FollowedKind {
  const api::KindInfo* kind = nullptr;
  std::vector<std::string> api_versions;  ///< understood ones, the preferred one first
  std::string ns = {};                    ///< only what is in there; empty: everything
  std::string labels = {};                ///< only what this selects; empty: everything
};

/// In all versions that are known of it, the stored one first.
FollowedKind in_all_versions(const api::KindInfo& kind);

struct FollowLimits {
  std::size_t page_bytes = 128U << 20;
  std::size_t event_bytes = 16U << 20;
  Duration token_age = 60 * kSecond;  ///< then a token of a file is read again
  std::string called = "cluster";     ///< in the log
  ReflectorLimits reflector;
};

/// How it stands with a kind.
struct FollowState {
  const api::KindInfo* kind = nullptr;
  bool synced = false;  ///< it was listed, or the cluster has none of its versions
  bool absent = false;
  bool refused = false;  ///< the trouble: whoever asks has not the right to
  std::string trouble;   ///< why nothing comes at present; empty: all is well
};

class ClusterFollower {
 public:
  /// An error when the server's address or the certificates cannot be used. `sink` must outlive it.
  static Result<std::unique_ptr<ClusterFollower>> make(const Kubeconfig& config,
                                                       std::vector<FollowedKind> kinds,
                                                       ClusterSink& sink, FollowLimits limits = {});
  ~ClusterFollower();  ///< stop()

  void start();
  void stop();

  /// Until every kind is synced, or `most` is over; whether every kind is.
  bool wait(Duration most) const;
  /// Until every kind is synced or has said why not, or `most` is over.
  void wait_for_word(Duration most) const;
  /// In the order of the kinds.
  std::vector<FollowState> states() const;

 private:
  struct State;
  explicit ClusterFollower(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
