// Remote: one place whose objects a plugin follows: its connection, its mirror, the writes to it,
// and how it stands.
//
// tend() and close() are called by the one thread that keeps all remotes: connecting, reading
// files and joining threads may wait there, and nowhere else. Everything else may be called from
// any thread and never waits. The connection's own threads call in through ClusterSink. Whoever
// has to look at something is told with `changed`, outside of the lock.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/kube/follower.hpp"
#include "host/kube/sender.hpp"
#include "host/remotes/remote_mirror.hpp"
#include "host/remotes/remote_questions.hpp"
#include "host/remotes/remote_spec.hpp"
#include "host/remotes/remote_writes.hpp"

namespace sluice::host {

struct RemoteLimits {
  std::size_t remotes = 64;       ///< of all plugins
  std::size_t objects = 200'000;  ///< of one remote
  std::size_t bytes = std::size_t{256} << 20;
  std::size_t writes = 2'000;           ///< without an answer
  std::size_t questions = 64;           ///< without an answer that was taken
  Duration probe_every = 10 * kSecond;  ///< whether it still answers
  Duration probe_patience = 15 * kSecond;
  Duration first_wait = kSecond;  ///< before it is connected to anew; doubled
  Duration longest_wait = 60 * kSecond;
  ReflectorLimits reflector = {.watch_for = 60 * kSecond};
};

/// How it stands with a remote, for plugins and for metrics.
struct RemoteHealth {
  std::string plugin, remote;
  bool connected = false, synced = false;
  Time since = 0;  ///< when `connected` became what it is
  RemoteProblem problem;
  std::size_t objects = 0, bytes = 0, outstanding = 0;
  std::uint64_t requests = 0, failures = 0, connections = 0, questions = 0;
};

class Remote final : public ClusterSink {
 public:
  struct Around {
    std::function<Time()> now;        ///< the host's clock
    std::function<void()> changed;    ///< somebody has to look; any thread
    std::function<void()> tend_soon;  ///< any thread
  };
  Remote(std::string plugin, std::string name, RemoteSpec spec, const RemoteLimits& limits,
         Around around);
  ~Remote() override { close(); }

  const std::string& plugin() const { return plugin_; }
  const std::string& name() const { return name_; }
  const RemoteSpec& spec() const { return spec_; }

  /// Connects where it is due, looks whether the place answers and whether a file has changed.
  /// When it wants to be called again, by the clock that only goes forward. [keeper]
  Duration tend(Duration now);
  /// Ends connection and threads. [keeper]
  void close();

  RemoteHealth health() const;
  /// nullptr: it does not follow such a kind in this version.
  const RemoteKind* kind_of(std::string_view api_version, std::string_view kind) const;
  std::optional<std::string> get(const RemoteKey& key) const;
  std::string list(const api::KindInfo& kind, std::string_view ns, const LabelQuery& labels) const;
  std::optional<WriteState> writing(const RemoteKey& key) const;
  /// Has room for so many writes more.
  bool takes(std::size_t more) const;
  /// It leaves when it is released.
  void add(const RemoteKey& key, RemoteWrite write);
  void release(const std::vector<RemoteKey>& keys);
  /// It leaves at once, to `path`. False: too many are open.
  bool ask(const RemoteChange& name, std::string path, std::string body);
  std::optional<RemoteReply> take_reply(const RemoteChange& name);
  /// What has to be looked at since the last time; a key without a kind: the remote.
  std::vector<RemoteKey> take_changes();
  /// Which questions have been answered since the last time.
  std::vector<RemoteChange> take_answered();

  // of the follower, on its thread
  void list_begins(const api::KindInfo& kind, std::uint64_t version) override;
  void list_ends(const api::KindInfo& kind) override;
  void put(const api::KindInfo& kind, const std::string& api_version,
           boost::json::object object) override;
  void remove(const api::KindInfo& kind, const boost::json::object& object) override;
  void settle() override { around_.changed(); }
  void noted() override;

 private:
  struct Connection {
    std::unique_ptr<ClusterFollower> follower;
    std::shared_ptr<RequestSender> sender;
  };

  void connect(Duration now);
  bool file_changed();
  bool make(const Kubeconfig& config);
  void give_up_connection();
  void fail(RemoteProblem problem);
  void set_connected(bool connected, RemoteProblem problem);
  void probe(Duration now);
  void answered(const ClusterAnswer& answer);
  static void send(const std::shared_ptr<RequestSender>& sender,
                   std::vector<ClusterRequest> requests);

  const std::string plugin_, name_;
  const RemoteSpec spec_;
  const RemoteLimits limits_;
  const Around around_;

  // of the keeper
  Connection connection_;
  std::string kubeconfig_;  // the text that was used last
  Duration due_ = 0, file_due_ = 0, probe_due_ = 0, next_probe_ = 0;
  int failures_ = 0;
  bool closed_ = false;

  mutable std::mutex mutex_;  // guards all below
  RemoteMirror mirror_;
  std::map<const api::KindInfo*, std::uint64_t> listed_as_of_;
  RemoteWrites writes_;
  RemoteQuestions questions_;
  std::set<RemoteKey> changes_;
  std::vector<RemoteChange> answered_;     // questions, since somebody asked
  std::shared_ptr<RequestSender> sender_;  // of the present connection
  ClusterFollower* follower_ = nullptr;    // the same
  bool connected_ = false, synced_ = false;
  bool overflown_ = false;  // the place has more than is kept: the connection is to be ended
  Time since_;
  RemoteProblem problem_;
  std::uint64_t connections_ = 0, asked_ = 0;
  std::optional<Duration> probed_;  // when the first probe left that has no answer yet
  bool broke_off_ = false;          // the last of them
};

}  // namespace sluice::host
