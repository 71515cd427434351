// RequestSender: requests to an API server, several at a time over a few connections that stay
// open.
//
//   RequestSender sender(std::move(*target), kubeconfig, {.may_send = …, .answered = …}, {});
//   sender.start();
//   sender.send({.id = 7, .method = "PATCH", …});
//   sender.stop();
//
// Each request is answered exactly once, in any order, unless the sender is stopped before. What
// broke off before an answer came has an unknown outcome: it may have been carried out. Nothing is
// sent again by the sender itself. send() may be called from any thread; the answers come on its
// own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/client/kubeconfig.hpp"
#include "host/client/link.hpp"

namespace sluice::host {

struct ClusterRequest {
  std::uint64_t id = 0;
  std::string_view method = "GET";  ///< of static storage
  std::string path;
  std::string content_type = {};
  std::string body = {};
};

/// One that POSTs a body of JSON.
inline ClusterRequest posting(std::string path, std::string body) {
  return {0, "POST", std::move(path), "application/json", std::move(body)};
}

struct ClusterAnswer {
  std::uint64_t id = 0;
  int status = 0;    ///< 0: there was none, and why is in `body`
  bool sent = true;  ///< false: it certainly was not carried out
  Duration retry_after = 0;
  std::string body;
};

struct SenderLimits {
  std::size_t connections = 16;
  std::size_t answer_bytes = 16U << 20;
  Duration patience = 65 * kSecond;  ///< for the head of an answer, and between two pieces of it
  Duration token_age = 60 * kSecond;
};

struct SenderHooks {
  /// Asked right before each request is written, on a connection that stands: to make one may take
  /// longer than a permission lasts. False: it is not sent. [the sender's thread]
  std::function<bool()> may_send;
  std::function<void(ClusterAnswer)> answered;  ///< [the sender's thread]
};

class RequestSender {
 public:
  RequestSender(LinkTarget target, const Kubeconfig& config, SenderHooks hooks,
                SenderLimits limits);
  ~RequestSender();  ///< stop()

  void start();
  /// What is under way is given up.
  void stop();

  void send(std::vector<ClusterRequest> requests);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::host
