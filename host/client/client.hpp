// Client: requests of this program's commands to a host (or any Kubernetes API): https or http,
// bearer token or client certificate, as the kubeconfig says.
//
// Each call makes a connection of its own, so a Client may be used by several threads at once.
// Errors are sentences for a person; an answer with a Status becomes its message.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/client/kubeconfig.hpp"

namespace sluice::host {

struct LinkTarget;

struct ClientAnswer {
  int status = 0;
  std::string body;
};

class Client {
 public:
  /// Gets the status of an answer and pieces of its body; false: that is enough.
  using Take = std::function<bool(int, std::string_view)>;

  /// An error when server address or certificates are malformed.
  static Result<Client> make(Kubeconfig config);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  const Kubeconfig& config() const { return config_; }

  /// Any status is an answer; an error means that there was none. `body` is sent as JSON.
  Result<ClientAnswer> request(std::string_view method, const std::string& target,
                               std::string_view body = {}) const;

  /// The object that a successful answer holds; else why it failed. With `missing`, 404 sets it
  /// and gives an empty object.
  Result<boost::json::object> call(std::string_view method, const std::string& target,
                                   std::string_view body = {}, bool* missing = nullptr) const;

  /// Hands on the body of the answer piece by piece until it ends, or `take` says false.
  Result<void> stream(const std::string& target,
                      const std::function<bool(std::string_view)>& take) const;

 private:
  Client(Kubeconfig config, LinkTarget target);
  Result<int> run(std::string_view method, const std::string& target, std::string_view body,
                  const Take& take) const;

  Kubeconfig config_;
  std::unique_ptr<const LinkTarget> target_;
};

/// The text as part of a URL's path or query.
std::string percent_encoded(std::string_view text);

/// Where an API server has the objects of a kind, in this `group/version`; without a namespace,
/// those of all.
std::string collection_path(std::string_view api_version, std::string_view plural,
                            std::string_view ns);

}  // namespace sluice::host
