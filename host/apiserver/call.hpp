// Attachment and Call: what a request needs on its way through the server.
//
// An Attachment is a backend with what was made from it; every Call and everything that goes on
// after it (a stream, a write that is not durable yet) holds it, so that a backend is only released
// when nothing uses it any more. Both may be used from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/apiserver/backend.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/apiserver/form.hpp"
#include "host/apiserver/render.hpp"
#include "host/apiserver/route.hpp"
#include "host/rest/discovery.hpp"
#include "host/rest/openapi/open_api.hpp"

namespace sluice::host {

class WatchHub;

/// An answer that goes on until its client or the server ends it.
class Streaming {
 public:
  virtual ~Streaming() = default;
  /// Ends it in order, soon. Any thread.
  virtual void end() = 0;
};

class Attachment {
 public:
  Attachment(ApiBackend backend, ApiLimits limits);
  ~Attachment();

  const ApiBackend backend;
  const ApiLimits limits;
  const RouteTable routes;
  const Renderer renderer;
  const Discovery discovery;
  const OpenApi open_api;
  const std::unique_ptr<WatchHub> watches;

  /// False, and it is not kept, when the attachment is being closed.
  bool enter(const std::shared_ptr<Streaming>& streaming);
  void leave(const Streaming* streaming);
  /// Ends all streams, those that come later at once.
  void close();

 private:
  std::mutex mutex_;
  bool closed_ = false;                                                        // guarded by mutex_
  std::unordered_map<const Streaming*, std::weak_ptr<Streaming>> streamings_;  // guarded by mutex_
};

/// Counts what each user has under way. Any thread.
class Quota {
 public:
  Quota(std::size_t all, std::size_t each) : all_(all), each_(each) {}

  /// Gives its place back when it is destroyed.
  class Place {
   public:
    Place(Quota& quota, std::string user) : quota_(quota), user_(std::move(user)) {}
    ~Place() { quota_.release(user_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    Quota& quota_;
    const std::string user_;
  };
  void set(std::size_t all, std::size_t each);
  /// nullptr: there is no room.
  std::unique_ptr<Place> take(const std::string& user);
  std::size_t taken() const;

 private:
  void release(const std::string& user);

  mutable std::mutex mutex_;
  std::size_t all_, each_;                              // guarded by mutex_
  std::size_t total_ = 0;                               // guarded by mutex_
  std::unordered_map<std::string, std::size_t> users_;  // guarded by mutex_
};

struct Call {
  std::shared_ptr<Exchange> exchange;
  std::shared_ptr<Attachment> at;
  Route route;
  Form form;
  Headers headers;  ///< of the answer: warnings
  std::unique_ptr<Quota::Place> place;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  const Request& request() const { return exchange->request(); }
  LiveStore& store() const { return *at->backend.store; }
  void fail(const ApiError& error) const;
  void reply(int status, std::string body) const;
  /// A Warning header; what it cannot hold is left out of the text.
  void warn(std::string_view text);
};

/// 404: nothing is served at that path.
ApiError no_such_resource();

using CallPtr = std::shared_ptr<Call>;

// The verbs. Each answers once, now or later.
void serve_get(const CallPtr& call);
void serve_list(const CallPtr& call);
void serve_watch(const CallPtr& call);
void serve_write(const CallPtr& call);
void serve_delete_many(const CallPtr& call);
void serve_log(const CallPtr& call);
void serve_pending(const CallPtr& call);
void serve_explain(const CallPtr& call);
void serve_review(const CallPtr& call);
void serve_what_if(const CallPtr& call);
void serve_history(const CallPtr& call);
void serve_usage(const CallPtr& call);
void serve_document(const CallPtr& call);

}  // namespace sluice::host
