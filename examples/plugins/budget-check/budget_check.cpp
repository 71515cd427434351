// budget-check: workloads run while their namespace has budget left this week.
//
// A kind Budget, which this plugin adds, says how much a namespace may use in a week. What it used
// is asked from Prometheus, or from the history of a host (core-hours), by a thread. When figures
// or Budgets change, the check holds what wants to start, releases what was held, and stops what
// runs. No workload is stopped because Prometheus is away.
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <sluice/plugin.hpp>
#include <string>
#include <thread>

#include "budget.hpp"
#include "http.hpp"

namespace {

using budget::Verdict;
using sluice::CheckAnswer;
using sluice::CheckAttempt;
using sluice::Json;

constexpr std::string_view kApiVersion = "budgets.example.com/v1";

class BudgetCheck {
 public:
  static constexpr std::string_view kDescription = "weekly budgets per namespace, by Prometheus";
  static constexpr std::string_view kConfigSchema = R"json({
    "type": "object",
    "properties": {
      "prometheus": {"type": "string", "default": "http://127.0.0.1:9090"},
      "query": {"type": "string", "minLength": 1,
                "default": "sum by (namespace) (increase(job_cost_total[$week]))",
                "description": "what each namespace used; $week is the range since Monday, UTC"},
      "label": {"type": "string", "minLength": 1, "default": "namespace"},
      "history": {"type": "string",
                  "description": "a host whose history is asked in place of Prometheus"},
      "tokenFile": {"type": "string", "description": "of who may list its runs"},
      "resource": {"type": "string", "minLength": 1, "default": "cpu",
                   "description": "whose hours count: cpu are core-hours"},
      "intervalSeconds": {"type": "integer", "minimum": 1, "default": 60},
      "controllerName": {"type": "string", "minLength": 1, "default": "example.com/budget"}
    }
  })json";

  explicit BudgetCheck(const sluice::Context& context)
      : context_(context),
        query_(context.config().string_or("query", "")),
        label_(context.config().string_or("label", "namespace")),
        controller_(context.config().string_or("controllerName", "")),
        token_file_(context.config().string_or("tokenFile", "")),
        resource_(context.config().string_or("resource", "")),
        interval_(context.config().int_or("intervalSeconds", 60)) {
    try {
      prometheus_ = http::parse_url(context.config().string_or("prometheus", ""));
      const std::string history = context.config().string_or("history", "");
      if (!history.empty()) history_ = http::parse_url(history);
    } catch (const http::Error& e) {
      throw sluice::Refused(e.what());
    }
  }

  void activate() {
    if (context_.simulated()) return;  // nothing is asked: checks stay Pending
    thread_ = std::thread([this] { watch_consumption(); });
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

  std::string schema() const {
    return R"([{
      "kind": "Budget", "group": "budgets.example.com", "plural": "budgets", "scope": "Namespaced",
      "description": "How much a namespace may use in a week.",
      "versions": [{
        "version": "v1", "storage": true, "status": true,
        "columns": [
          {"name": "Weekly", "path": ".spec.weekly", "type": "integer"},
          {"name": "Used", "path": ".status.used", "type": "integer"},
          {"name": "State", "path": ".status.state", "type": "string"}
        ],
        "fields": [
          {"path": "spec", "type": "object", "required": true},
          {"path": "spec.weekly", "type": "integer", "min": 0, "required": true,
           "description": "units per week, from Monday 00:00 UTC"},
          {"path": "status", "type": "object"},
          {"path": "status.used", "type": "integer"},
          {"path": "status.state", "type": "string", "enum": ["Open", "Exhausted"]}
        ]
      }]
    }])";
  }

  // ---- check-controller/1, all [control]: one call at a time

  std::vector<std::string> check_controllers() const { return {controller_}; }

  /// Comes again after a restart, also for workloads that run, and perhaps before any reconcile().
  void begin_check(const sluice::CheckQuery& query) {
    if (!limits_.contains(query.attempt().workload_namespace))
      read_budgets(query.attempt().workload_namespace);
    Attempt& attempt = attempts_[query.attempt()];
    const Json workload = Json::parse(query.workload_json());
    const Json* states = workload.find("status.admissionChecks");
    if (states != nullptr)
      for (const Json& check : states->items())
        if (check.string_or("name", "") == query.check())
          attempt.runs = check.string_or("state", "") == "Ready";
    look_at(query.attempt(), attempt);
  }

  void cancel_check(const sluice::CheckCancel& cancel) { attempts_.erase(cancel.attempt()); }

  // ---- controller/1

  std::vector<std::string> watched_kinds() const { return {std::string(kApiVersion) + " Budget"}; }

  sluice::Again reconcile(const sluice::ObjectRef& ref) {
    const auto object = context_.objects().find(ref);
    read_budgets(ref.ns);
    if (object) show_status(ref, *object);
    look_at_all(ref.ns);
    return sluice::Again::on_change();
  }

  // ---- timers/1: the thread has new figures

  void timer(std::uint64_t, std::int64_t) {
    for (const auto& [ns, budgets] : limits_) {
      for (const auto& [name, weekly] : budgets) {
        const sluice::ObjectRef ref{std::string(kApiVersion), "Budget", ns, name};
        if (const auto object = context_.objects().find(ref)) show_status(ref, *object);
      }
    }
    look_at_all({});
  }

 private:
  struct Attempt {
    bool runs = false;  ///< it was Ready
    std::string told;   ///< the message that was reported last
  };

  void read_budgets(const std::string& ns) {
    auto& budgets = limits_[ns];
    budgets.clear();
    for (const Json& object : context_.objects().list(kApiVersion, "Budget", ns))
      budgets[object.string_or("metadata.name", "")] = object.int_or("spec.weekly", 0);
  }

  std::optional<std::int64_t> limit_of(std::string_view ns) const {
    const auto it = limits_.find(ns);
    if (it == limits_.end() || it->second.empty()) return std::nullopt;
    std::int64_t sum = 0;
    for (const auto& [name, weekly] : it->second) sum += weekly;
    return sum;
  }

  std::optional<budget::Consumption> figures() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }

  void look_at_all(std::string_view only_namespace) {
    for (auto it = attempts_.begin(); it != attempts_.end();) {
      const auto next = std::next(it);
      if (only_namespace.empty() || it->first.workload_namespace == only_namespace)
        look_at(it->first, it->second);
      it = next;
    }
  }

  void look_at(const CheckAttempt& id, Attempt& attempt) {
    const auto limit = limit_of(id.workload_namespace);
    const auto used = figures();
    const budget::Decision decision =
        budget::decide(id.workload_namespace, limit ? &*limit : nullptr, used ? &*used : nullptr);
    if (attempt.runs) {
      if (decision.verdict != Verdict::kHold) return;
      const CheckAttempt stopped = id;
      attempts_.erase(stopped);  // the next attempt is another one
      context_.report(stopped, CheckAnswer::retry("stopped: " + decision.message));
      return;
    }
    if (attempt.told == decision.message) return;
    attempt.runs = decision.verdict == Verdict::kRun;
    attempt.told = decision.message;
    context_.report(id, attempt.runs ? CheckAnswer::ready(decision.message)
                                     : CheckAnswer::pending(decision.message));
  }

  void show_status(const sluice::ObjectRef& ref, const Json& object) const {
    const auto used = figures();
    if (!used) return;
    const auto it = used->find(ref.ns);
    const auto spent = static_cast<std::int64_t>(it == used->end() ? 0 : it->second);
    const std::string state = spent < object.int_or("spec.weekly", 0) ? "Open" : "Exhausted";
    if (object.int_or("status.used", -1) == spent && object.string_or("status.state", "") == state)
      return;
    Json merge = Json::object();
    merge["status"]["used"] = spent;
    merge["status"]["state"] = state;
    context_.objects().patch(ref, merge, "status").or_throw();
  }

  // ---- the thread

  void watch_consumption() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      lock.unlock();
      auto used = fetch();
      lock.lock();
      if (stopping_) return;
      if (used) {
        used_ = std::move(used);
        lock.unlock();
        context_.set_timer(1, context_.now());  // the rest happens in timer()
        lock.lock();
      }
      wake_.wait_for(lock, interval_, [this] { return stopping_; });
    }
  }

  std::optional<budget::Consumption> fetch() const {
    try {
      if (history_) return ask_history(*history_);
      http::Url url = prometheus_;
      if (url.path == "/") url.path.clear();
      url.path += "/api/v1/query?query=" + http::escaped(budget::query_for(query_, context_.now()));
      const auto response = http::request(url, "GET", {}, std::chrono::seconds(10), stop_);
      return budget::consumption_of(response.body, label_);
    } catch (const std::exception& e) {
      context_.warn(std::string("what was used is not known: ") + e.what());
      return std::nullopt;
    }
  }

  /// The token is read each time: another program may renew it.
  budget::Consumption ask_history(http::Url url) const {
    std::string token;
    if (!token_file_.empty() && !std::getline(std::ifstream(token_file_), token))
      throw http::Error(token_file_ + ": cannot be read");
    url.path = "/apis/sluice.dev/v1alpha1/runs?groupBy=namespace&from=" +
               http::escaped(budget::monday(context_.now()));
    const auto response = http::request(url, "GET", {}, std::chrono::seconds(10), stop_, token);
    return budget::hours_of(response.body, resource_);
  }

  sluice::Context context_;
  std::string query_, label_, controller_, token_file_, resource_;
  std::chrono::seconds interval_;
  http::Url prometheus_;
  std::optional<http::Url> history_;
  http::Stop stop_;
  std::thread thread_;

  // [control] only
  std::map<CheckAttempt, Attempt> attempts_;
  std::map<std::string, std::map<std::string, std::int64_t>, std::less<>> limits_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;                    // guarded by mutex_
  std::optional<budget::Consumption> used_;  // guarded by mutex_
};

}  // namespace

SLUICE_MAY("get,list budgets.example.com/Budget");
SLUICE_MAY("patch budgets.example.com/Budget/status");
SLUICE_PLUGIN(BudgetCheck, "budget-check", "1.0.0")
