// RemoteWrites: the writes to the objects of one remote that are not done with: those to one object
// leave one after the other, in their order, each when the one before was answered.
//
// A write is done with when the mirror shows what became of it, so that nobody acts twice on an
// older picture; one that failed stays until the next write to its object, or until the mirror
// shows the object anew. Pure: it says which requests to send. Not locked: its owner does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/kube/sender.hpp"
#include "host/plugins/remote_port.hpp"
#include "host/remotes/remote_mirror.hpp"

namespace sluice::host {

/// How it stands with the last write to an object.
struct WriteState {
  RemoteVerb verb = RemoteVerb::kCreate;
  bool failed = false;
  int code = 0;  ///< of a failure; 0: there was no answer
  std::string message;
};

/// The request by which a write is made. `plural`: of its kind.
ClusterRequest request_of(const RemoteWrite& write, const std::string& plural);

class RemoteWrites {
 public:
  /// Behind those to the same object; it may not leave yet.
  void add(const RemoteKey& key, RemoteWrite write);
  /// One more of those to the object may leave.
  void release(const RemoteKey& key, std::vector<ClusterRequest>& send);
  /// The object it was about; nullopt: nobody waits for this answer.
  std::optional<RemoteKey> answered(const ClusterAnswer& answer, const RemoteMirror& mirror,
                                    std::vector<ClusterRequest>& send);

  /// The mirror has a newer form of the object, or none any more. Whether that is news of a write.
  bool shown(const RemoteKey& key, const RemoteMirror& mirror);
  /// The whole kind was listed as it was at `version` (0: it is no number): what was written before
  /// is in it. Of whose writes that is news.
  std::vector<RemoteKey> listed(const api::KindInfo& kind, std::uint64_t version);
  /// The connection is given up: what has left has no answer. The objects are named.
  void give_up(std::vector<RemoteKey>& about);
  /// There is a connection again: what may leave.
  void resume(std::vector<ClusterRequest>& send);

  /// nullopt: nothing is to be told.
  std::optional<WriteState> state(const RemoteKey& key) const;
  std::size_t outstanding() const { return outstanding_; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t failed() const { return failed_; }

 private:
  struct Slot {
    std::deque<RemoteWrite> waiting;  // the first of them may have left
    std::size_t released = 0;         // so many of them may leave
    std::uint64_t id = 0;             // of the request that has left; 0: none
    std::optional<WriteState> last;   // what became of the one before
    std::string version;              // of an object that was written: when the mirror shows it
  };
  void send_first(const RemoteKey& key, Slot& slot, std::vector<ClusterRequest>& send);
  void judge(Slot& slot, const ClusterAnswer& answer);
  static bool is_shown(const Slot& slot, const RemoteObject* object);
  void drop_if_idle(const RemoteKey& key);

  std::map<RemoteKey, Slot> slots_;
  std::map<std::uint64_t, RemoteKey> by_id_;
  std::uint64_t last_id_ = 0, sent_ = 0, failed_ = 0;
  std::size_t outstanding_ = 0;
};

}  // namespace sluice::host
