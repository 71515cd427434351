// http-check: an AdmissionCheck that asks a web service of yours.
//
// For each attempt the service gets a POST with the workload and answers with a state. A thread of
// the plugin speaks HTTP; the hooks only hand over what is to be asked, so that a slow service
// holds up no other workload.
#include <condition_variable>
#include <map>
#include <mutex>
#include <sluice/plugin.hpp>
#include <thread>

#include "http.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using sluice::CheckAnswer;
using sluice::CheckAttempt;

/// What the service said: {"state", "message", "requeueAfterSeconds", "podSetUpdates"}.
CheckAnswer answer_of(const std::string& body) {
  const sluice::Json json = sluice::Json::parse(body);
  const std::string state = json.string_or("state", "");
  const std::string message = json.string_or("message", "");
  if (state == "Ready") {
    const sluice::Json* updates = json.find("podSetUpdates");
    return CheckAnswer::ready(message, updates == nullptr ? "" : updates->dump());
  }
  if (state == "Retry") {
    const std::int64_t after = json.int_or("requeueAfterSeconds", -1);
    return after < 0 ? CheckAnswer::retry(message)
                     : CheckAnswer::retry(message, static_cast<std::int32_t>(after));
  }
  if (state == "Rejected") return CheckAnswer::rejected(message);
  if (state == "Pending") return CheckAnswer::pending(message);
  throw http::Error("the service answers the state \"" + state +
                    "\"; Pending, Ready, Retry and Rejected are allowed");
}

class HttpCheck {
 public:
  static constexpr std::string_view kDescription = "asks a web service whether a workload may run";
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object",
    "properties": {
      "url": {"type": "string", "default": "http://127.0.0.1:8080/check",
              "description": "gets a POST per attempt"},
      "controllerName": {"type": "string", "minLength": 1, "default": "example.com/http"},
      "timeoutSeconds": {"type": "integer", "minimum": 1, "maximum": 300, "default": 10},
      "askAgainSeconds": {"type": "integer", "minimum": 1, "default": 15,
                          "description": "after Pending, or when the service is away"}
    }
  })";

  explicit HttpCheck(const sluice::Context& context)
      : context_(context),
        controller_(context.config().string_or("controllerName", "")),
        timeout_(context.config().int_or("timeoutSeconds", 10)),
        ask_again_(context.config().int_or("askAgainSeconds", 15)) {
    try {
      url_ = http::parse_url(context.config().string_or("url", ""));
    } catch (const http::Error& e) {
      throw sluice::Refused(e.what());
    }
  }

  void activate() {
    if (context_.simulated()) return;  // nothing is asked: the check stays Pending
    asked_ = context_.counter("requests", "Requests to the service.", {"result"});
    thread_ = std::thread([this] { work(); });
  }

  void deactivate() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    stop_.stop();
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::vector<std::string> check_controllers() const { return {controller_}; }

  // [control]: comes again after a restart; then the service is asked again.
  void begin_check(const sluice::CheckQuery& query) {
    sluice::Json body = sluice::Json::object();
    body["check"] = query.check();
    body["attempt"] = static_cast<std::int64_t>(query.attempt().attempt);
    body["retryCount"] = query.retry_count();
    body["workload"] = sluice::Json::parse(query.workload_json());
    {
      const std::lock_guard lock(mutex_);
      waiting_.insert_or_assign(query.attempt(), Waiting{body.dump(), Clock::now()});
    }
    wake_.notify_all();
  }

  // [control]: also for attempts that this instance never saw.
  void cancel_check(const sluice::CheckCancel& cancel) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(cancel.attempt());
  }

 private:
  struct Waiting {
    std::string body;
    Clock::time_point when;
  };

  void work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      auto next = waiting_.begin();
      for (auto it = waiting_.begin(); it != waiting_.end(); ++it)
        if (it->second.when < next->second.when) next = it;
      if (next == waiting_.end()) {
        wake_.wait(lock);
        continue;
      }
      if (next->second.when > Clock::now()) {
        wake_.wait_until(lock, next->second.when);
        continue;
      }
      const CheckAttempt attempt = next->first;
      const std::string body = next->second.body;
      lock.unlock();  // never ask under a lock
      const auto [answer, settled] = ask(body);
      lock.lock();
      const auto it = waiting_.find(attempt);
      if (stopping_ || it == waiting_.end()) continue;  // cancelled meanwhile
      if (settled)
        waiting_.erase(it);
      else
        it->second.when = Clock::now() + ask_again_;
      lock.unlock();
      context_.report(attempt, answer);
      lock.lock();
    }
  }

  /// The answer, and whether it is final.
  std::pair<CheckAnswer, bool> ask(const std::string& body) const {
    const std::string_view fine[] = {"answered"}, bad[] = {"failed"};
    try {
      const http::Response response = http::request(url_, "POST", body, timeout_, stop_);
      if (response.status != 200)
        throw http::Error("the service answers with status " + std::to_string(response.status));
      const CheckAnswer answer = answer_of(response.body);
      context_.add(asked_, 1, fine);
      return {answer, answer.state != CheckAnswer::State::kPending};
    } catch (const std::exception& e) {
      context_.add(asked_, 1, bad);
      return {CheckAnswer::pending(std::string("asked again later: ") + e.what()), false};
    }
  }

  sluice::Context context_;
  std::string controller_;
  http::Url url_;
  std::chrono::seconds timeout_, ask_again_;
  http::Stop stop_;
  sluice::Metric asked_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;                    // guarded by mutex_
  std::map<CheckAttempt, Waiting> waiting_;  // guarded by mutex_
};

}  // namespace

SLUICE_PLUGIN(HttpCheck, "http-check", "1.0.0")
