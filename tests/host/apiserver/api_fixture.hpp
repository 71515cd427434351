// An API server over a store in memory, with writes that follow no rules but those of the protocol.
// For one test at a time, on its thread.
#pragma once

#include <gtest/gtest.h>
#include <atomic>

#include <boost/json/object.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/apiserver/api_server.hpp"
#include "host/apiserver/listener.hpp"
#include "host/store/live_store.hpp"
#include "tests/host/apiserver/client.hpp"

namespace sluice::host::test {

/// Bearer token NAME stands for user NAME; `bad` is refused.
class NamedUsers final : public Authenticator {
 public:
  ApiResult<Identity> identify(const Credentials& credentials) const override;
};

/// `admin` may do everything, `reader` may read in namespace `open`, others read documents.
class FewRights final : public Authorizer {
 public:
  AccessAnswer may(const Identity& who, const AccessRequest& request) const override;
};

/// Creates, replaces, merges and deletes as told; remembers the last request.
class PlainWrites final : public Writes {
 public:
  PlainWrites(LiveStore& store, const api::Scheme& scheme) : store_(store), scheme_(scheme) {}
  void submit(WriteRequest request, WriteDone done) override;
  bool run_aside(const std::string& user, std::function<void()> task) override;
  /// Tasks that were run beside the threads that others wait for.
  int asides() const { return asides_; }
  /// No more of them are taken.
  void take_none_aside() { takes_aside_ = false; }

  /// Straight into the store; returns the version. `body`: members of the object besides metadata.
  std::uint64_t put(const std::string& kind, const std::string& key,
                    const std::string& labels = "{}", const std::string& body = "{}");
  std::uint64_t erase(const std::string& kind, const std::string& key);
  /// All in one transaction; returns the version of the last.
  std::uint64_t put_all(const std::string& kind, const std::vector<std::string>& keys);
  WriteRequest last() const;
  /// What the next requests are answered with.
  void fail_with(ApiError error);

 private:
  void put_one(const std::string& kind, const std::string& key, const std::string& labels,
               const std::string& body);
  std::uint64_t commit();
  ApiResult<WriteOutcome> carry_out(const WriteRequest& request);

  LiveStore& store_;
  const api::Scheme& scheme_;
  mutable std::mutex mutex_;
  TextPool pool_;
  WriteRequest last_;
  std::optional<ApiError> failure_;
  int uids_ = 0;
  std::atomic<int> asides_{0};
  std::atomic<bool> takes_aside_{true};
};

class ApiFixture : public testing::Test {
 protected:
  explicit ApiFixture(ApiLimits limits = {}, HistoryLimits history = {});
  ~ApiFixture() override;

  ApiBackend backend();
  Client client() const { return Client(listener_->port()); }
  /// A request of the administrator's.
  Answer get(const std::string& path, const std::string& headers = {}) const;
  Answer send(const std::string& method, const std::string& path, const std::string& body,
              const std::string& type = "application/json") const;
  static boost::json::object json(const Answer& answer);

  api::Scheme scheme_;
  LiveStore store_;
  PlainWrites writes_;
  NamedUsers users_;
  FewRights rights_;
  ApiServer api_;
  std::unique_ptr<Listener> listener_;
};

inline const std::string kAdmin = "Authorization: Bearer admin\r\n";
inline const std::string kMaps = "/api/v1/namespaces/open/configmaps";

/// The names of the items of a list.
std::string names(const boost::json::object& list);

/// A watch of the administrator's; reads event by event.
class WatchClient {
 public:
  WatchClient(std::uint16_t port, const std::string& path, const std::string& headers = {});
  int status() const { return head_.status; }
  const Answer& head() const { return head_; }
  /// `ADDED a 17` for type, name and version; empty at the end of the stream.
  std::string next();
  boost::json::object next_event();

 private:
  Client client_;
  Answer head_;
  std::string text_;
};

}  // namespace sluice::host::test
