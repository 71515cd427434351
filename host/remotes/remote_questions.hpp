// RemoteQuestions: what a plugin asked one remote, until it took the answer.
//
// A question is a request that changes nothing: it may leave at any time, it is not repeated, and
// an answer that is lost is no loss. Pure: it says which request to send. Not locked: its owner
// does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/kube/sender.hpp"
#include "host/plugins/remote_port.hpp"

namespace sluice::host {

/// How it stands with a question.
struct RemoteReply {
  bool waiting = true;
  int code = 0;         ///< of the answer; 0: there was none
  std::string message;  ///< why it was not answered
  std::string body;     ///< what was answered
};

class RemoteQuestions {
 public:
  /// Ids of its requests have this bit, those of others have not.
  static constexpr std::uint64_t kId = std::uint64_t{1} << 63U;

  /// The request to send to `path`; without a body it only reads. Nobody waits any more for an
  /// answer to the one before of this name.
  ClusterRequest ask(const RemoteChange& name, std::string path, std::string body);
  /// What is answered; nullopt: nobody waits for this answer.
  std::optional<RemoteChange> answered(const ClusterAnswer& answer);
  /// No answer will come to those that wait for one. They are named in `about`.
  void give_up(const std::string& why, std::vector<RemoteChange>& about);

  /// An answer is handed out once. nullopt: it was not asked, or its answer was handed out.
  std::optional<RemoteReply> take(const RemoteChange& name);

  /// Those that wait for an answer, and those whose answer nobody took.
  std::size_t size() const { return open_.size(); }

 private:
  struct Open {
    std::uint64_t id = 0;
    RemoteReply reply;
  };
  std::map<RemoteChange, Open> open_;
  std::map<std::uint64_t, RemoteChange> waiting_;  // by the id of the request
  std::uint64_t last_ = 0;
};

}  // namespace sluice::host
