#include "host/cli/explain_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "api/scheme/scheme.hpp"
#include "host/base/log.hpp"
#include "host/objects/parts.hpp"
#include "host/top/top.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr auto kBetween = std::chrono::seconds(1);
// The user may not have the right to watch everything that an explanation depends on.
constexpr auto kAtTheLatest = std::chrono::seconds(10);

/// Rings whenever something changed that may have to do with a queue.
class Bell final : public ClusterSink {
 public:
  void list_begins(const api::KindInfo&, std::uint64_t) override {}
  void list_ends(const api::KindInfo&) override {}
  void put(const api::KindInfo&, const std::string&, json::object) override {}
  void remove(const api::KindInfo&, const json::object&) override {}
  void settle() override {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    changed_.notify_all();
  }

  /// Until it has rung since the last call, and not before `between` is over.
  void wait() {
    std::unique_lock lock(mutex_);
    const auto began = std::chrono::steady_clock::now();
    changed_.wait_until(lock, began + kAtTheLatest, [this] { return rung_; });
    changed_.wait_until(lock, began + kBetween, [] { return false; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;  // guarded by mutex_
};

json::object without_time(json::object document) {
  document.erase("time");
  return document;
}

}  // namespace

Result<int> watch_explanation(const Client& client, const ExplainTarget& target,
                              const std::function<void(const json::object&)>& print) {
  Result<json::object> document = fetch_explanation(client, target);
  if (!document) return document.error();
  set_log(LogFormat::kText, LogLevel::kError);  // what a watch cannot see is asked for
  const api::Scheme scheme;
  Bell bell;
  auto follower = ClusterFollower::make(
      client.config(), queue_kinds(scheme, target.ns.empty() ? client.config().ns : target.ns),
      bell);
  if (!follower) return follower.error();
  (*follower)->start();
  json::object shown;
  std::string trouble;
  for (;;) {
    if (document) {
      trouble.clear();
      json::object now = without_time(*document);
      if (now != shown) print(*document);
      shown = std::move(now);
      if (api::find_text(shown, "state") == "Finished") return 0;
    } else if (is_gone(client, target)) {
      fmt::print(stderr, "{} is gone\n", target.name);
      return 0;
    } else if (trouble != document.error().text) {
      trouble = document.error().text;
      fmt::print(stderr, "warning: {}; trying again\n", trouble);
    }
    bell.wait();
    document = fetch_explanation(client, target);
  }
}

}  // namespace sluice::host
