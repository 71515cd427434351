#include "host/executor/local_executor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/builtin/builtin.hpp"
#include "host/base/files.hpp"
#include "host/base/log.hpp"
#include "host/base/steady_clock.hpp"
#include "host/base/wall_clock.hpp"
#include "host/executor/pod_status.hpp"
#include "host/executor/process/linked_folder.hpp"
#include "host/objects/parts.hpp"
#include "host/objects/pods.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int kStartsInARow = 4;
constexpr Duration kTryAgain = 5 * kSecond;
constexpr Duration kBetweenLogChecks = 10 * kSecond;
constexpr Duration kLastWait = 10 * kSecond;  // for pods that are killed at the end

void ring(const Fd& wake) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto sent = ::write(wake.get(), &one, sizeof one);
}

bool is_deleting(const json::object& pod) {
  return !api::find_text(part(pod, "metadata"), "deletionTimestamp").empty();
}

std::int64_t grace_of(const json::object& pod) {
  const auto asked = api::find_int(part(pod, "metadata"), "deletionGracePeriodSeconds");
  const auto own = api::find_int(part(pod, "spec"), "terminationGracePeriodSeconds");
  return std::max<std::int64_t>(0, asked.value_or(own.value_or(30)));
}

std::optional<Time> deadline_of(const json::object& pod) {
  const auto seconds = api::find_int(part(pod, "spec"), "activeDeadlineSeconds");
  if (!seconds) return std::nullopt;
  const Time start = api::find_time(part(pod, "status"), "startTime").value_or(wall_clock());
  return start + std::clamp<std::int64_t>(*seconds, 0, kNever / kSecond / 4) * kSecond;
}

bool is_bound(const json::object& pod) {
  return !api::find_text(part(pod, "spec"), "nodeName").empty();
}

}  // namespace

LocalExecutor::LocalExecutor(const LocalExecutorConfig& config,
                             std::unique_ptr<Supervisor> supervisor, LiveStore& store,
                             const api::Scheme& scheme, KernelThread& kernel)
    : config_(config),
      supervisor_(std::move(supervisor)),
      store_(store),
      pods_(*scheme.find("v1", "Pod")),
      nodes_(scheme.find("v1", "Node")),
      config_maps_(scheme.find("v1", "ConfigMap")),
      secrets_(scheme.find("v1", "Secret")),
      reports_(kernel),
      logs_(config.folder, store, scheme),
      log_budget_(budget_on_disk(config.logs,
                                 config.log_folder.empty() ? config.folder : config.log_folder)) {
  supervisor_->put_logs(config.log_folder);
  find_groups();
  usage_ = std::make_unique<UsageMeter>(groups_);
  sources_.environment = inherited_environment();
  sources_.images = config.images;
  sources_.find = [this](std::string_view kind,
                         std::string_view key) -> std::optional<json::object> {
    const api::KindInfo* info = kind == "Secret" ? secrets_ : config_maps_;
    const RecordPtr record = info ? store_.get(*info, key) : nullptr;
    if (!record) return std::nullopt;
    return to_object(*record);
  };
}

LocalExecutor::~LocalExecutor() { stop(); }

void LocalExecutor::find_groups() {
  if (!config_.control_groups) return;
  const GroupParent parent = make_group_parent(config_.folder);
  if (parent.folder.empty()) {
    log(LogLevel::kInfo, "executor",
        "pods run without control groups: limits are not held, what they use is counted less well",
        {{"reason", parent.why_not}});
    return;
  }
  groups_ = parent.folder;
  sources_.held = {parent.cpu, parent.memory};
  supervisor_->put_groups(groups_);
  log(LogLevel::kInfo, "executor", "pods run in control groups",
      {{"folder", groups_.string()},
       {"limits", !parent.cpu && !parent.memory ? "none"
                  : !parent.memory              ? "cpu"
                  : !parent.cpu                 ? "memory"
                                                : "cpu, memory"}});
}

/// Without its folder for logs no pod could start, and each job would fail for good.
Result<void> LocalExecutor::make_log_folder() const {
  if (config_.log_folder.empty()) return {};
  std::error_code problem;
  std::filesystem::create_directories(config_.log_folder, problem);
  const std::string folder = config_.log_folder.string();
  if (problem)
    return Error{"executor.logs.path: cannot make the folder " + folder + ": " + problem.message()};
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return system_error("executor.logs.path: cannot write into", config_.log_folder);
}

Result<void> LocalExecutor::start() {
  if (auto made = make_log_folder(); !made) return made;
  auto users = PodUsers::open(config_.users, config_.folder);
  if (!users) return users.error();
  users_ = std::move(*users);
  if (users_.apart()) {
    supervisor_->put_work(users_.work());
    drop_own_variables(sources_.environment);
  }
  wake_ = Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake_) return system_error("cannot make an event descriptor in", config_.folder);
  Result<LiveStore::Cursor> cursor = store_.watch(pods_, store_.version());
  if (!cursor) return cursor.error();
  cursor_ = std::move(*cursor);
  subscription_ = store_.subscribe(pods_, [this] { ring(wake_); });
  thread_ = std::thread([this] { loop(); });
  return {};
}

void LocalExecutor::stop() {
  stopping_ = true;
  if (!thread_.joinable()) return;
  ring(wake_);
  thread_.join();
  supervisor_->stop_removals();
  subscription_.reset();
  std::error_code in_use;  // by pods that run on
  for (const std::filesystem::path& folder : {groups_, users_.work()})
    if (!folder.empty()) std::filesystem::remove(folder, in_use);
}

void LocalExecutor::loop() {
  take_over();
  while (!stopping_) {
    std::array<pollfd, 2> polled{{{wake_.get(), POLLIN, 0}, {supervisor_->fd(), POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), timeout_ms());
    std::uint64_t rings = 0;
    [[maybe_unused]] const auto taken = ::read(wake_.get(), &rings, sizeof rings);
    take_changes();
    take_reports();
    check_deadlines();
    try_again();
    start_some();
    check_logs();
    running_ = supervisor_->running();
  }
  if (config_.end_pods_on_stop && !keep_pods_) end_all();
}

/// What an earlier host left: runs whose pods exist are followed, the others are ended.
void LocalExecutor::take_over() {
  std::unordered_map<std::string, RecordPtr> existing;
  Result<Listing> listing = store_.read(pods_, "");
  if (!listing) return;
  for (const RecordPtr& record : listing->objects) {
    existing[std::string(api::find_text(part(to_object(*record), "metadata"), "uid"))] = record;
  }
  for (const std::string& uid : supervisor_->known()) {
    const auto found = existing.find(uid);
    // Not started yet, and still to be run: it is like any other pod.
    if (found != existing.end() && !supervisor_->claimed(uid) &&
        !is_deleting(to_object(*found->second)))
      continue;
    const Result<RunState> state = supervisor_->adopt(uid);
    if (!state) {
      log(LogLevel::kError, "executor", "cannot take over a run",
          {{"uid", uid}, {"reason", state.error().text}});
      continue;
    }
    Run& run = runs_[uid];
    run.state = *state;
    if (found == existing.end()) {
      run.gone = true;
      end(uid, run, 0);
      if (!supervisor_->running(uid)) forget(uid);
      continue;
    }
    const json::object pod = to_object(*found->second);
    run.key = key_of(pod);
    run.deadline = deadline_of(pod);
    if (has_ended(part(pod, "status"))) continue;  // accounted for already
    reports_.state(uid, run.key, run.state);
    log(LogLevel::kInfo, "executor",
        run.state.ended() ? "a pod ended while the host was away" : "took over a running pod",
        {{"pod", run.key}, {"uid", uid}});
  }
  for (const RecordPtr& record : listing->objects) consider(*record);
}

void LocalExecutor::take_changes() {
  std::vector<Change> changes;
  for (bool more = true; more && !stopping_;) {
    changes.clear();
    if (!cursor_.take(changes, 256)) {
      // So far behind that the history is gone: everything is looked at again.
      Result<LiveStore::Cursor> fresh = store_.watch(pods_, store_.version());
      if (fresh) cursor_ = std::move(*fresh);
      runs_.clear();
      to_start_.clear();
      return take_over();
    }
    for (const Change& change : changes) {
      if (change.type == ChangeType::kDeleted) {
        removed(*change.object);
      } else {
        consider(*change.object);
      }
    }
    more = !changes.empty();
  }
}

bool LocalExecutor::is_mine(const json::object& pod) const {
  if (!is_bound(pod)) return false;
  const std::string_view node = api::find_text(part(pod, "spec"), "nodeName");
  return config_.nodes.empty() ||
         std::find(config_.nodes.begin(), config_.nodes.end(), node) != config_.nodes.end();
}

void LocalExecutor::consider(const StoredObject& record) {
  const json::object pod = to_object(record);
  const std::string uid(api::find_text(part(pod, "metadata"), "uid"));
  const auto known = runs_.find(uid);  // also of nodes that are no longer configured
  if (known != runs_.end()) {
    Run& run = known->second;
    run.key = record.key;
    if (is_deleting(pod) && !run.state.ended()) end(uid, run, grace_of(pod));
    return;
  }
  const bool lost = is_lost(pod);
  if (!lost && !is_mine(pod)) return;
  if (has_ended(part(pod, "status"))) return;
  if (api::has_scheduling_gates(part(pod, "spec"))) return;
  if (is_deleting(pod)) {
    to_start_.drop(uid);
    return reports_.never_started(uid, record.key);
  }
  if (lost) {
    const std::string node(api::find_text(part(pod, "spec"), "nodeName"));
    return reports_.problem(uid, record.key, {"NodeLost", "there is no node " + node});
  }
  // One that names its node itself waits for room there (Binder).
  if (is_scheduled(part(pod, "status"))) to_start_.add({uid, record.key});
}

/// Of what changed since they came to stand there, take_changes() will say more.
void LocalExecutor::start_some() {
  for (int i = 0; i < kStartsInARow && !stopping_; ++i) {
    const auto next = to_start_.next();
    if (!next) return;
    const RecordPtr record = store_.get(pods_, next->key);
    if (!record) continue;
    const json::object pod = to_object(*record);
    const bool same = api::find_text(part(pod, "metadata"), "uid") == next->uid;
    if (same && !is_deleting(pod) && !has_ended(part(pod, "status"))) begin(next->uid, pod);
  }
}

/// Bound to a node of which there is no object any more, so that nobody will start or end it.
bool LocalExecutor::is_lost(const json::object& pod) const {
  if (!nodes_ || !is_bound(pod)) return false;
  return store_.get(*nodes_, api::find_text(part(pod, "spec"), "nodeName")) == nullptr;
}

/// What the pod asks for and is not given here.
std::string LocalExecutor::ignored_of(const json::object& pod, const ProcessUser& as) const {
  std::vector<std::string> ignored = support_of(pod, as, sources_.held).ignored;
  const auto grace = api::find_int(part(pod, "spec"), "terminationGracePeriodSeconds");
  if (grace.value_or(0) > config_.longest_grace_seconds)
    ignored.push_back(fmt::format("spec.terminationGracePeriodSeconds {}: it is ended after {} s",
                                  *grace, config_.longest_grace_seconds));
  return fmt::format("{}", fmt::join(ignored, "; "));
}

void LocalExecutor::begin(const std::string& uid, const json::object& pod) {
  const std::string key = key_of(pod);
  const Result<PodUser, PodProblem> user = users_.of(uid, pod);
  const Result<RunSpec, PodProblem> spec =
      user ? plan_pod(pod, sources_, *user) : Result<RunSpec, PodProblem>(user.error());
  if (!spec) {
    if (spec.error().may_pass) {
      waiting_[uid] = key;
      try_again_ = steady_now() + kTryAgain;
    }
    return reports_.problem(uid, key, spec.error());
  }
  waiting_.erase(uid);
  if (const std::string ignored = ignored_of(pod, user->as); !ignored.empty())
    reports_.not_supported(key, ignored);
  RunSpec run_spec = *spec;
  if (users_.apart()) {
    run_spec.user = user->as.user;
    run_spec.group_id = user->as.group;
    run_spec.own_memory = users_.own_memory();
  }
  run_spec.log_bytes = log_budget_.pod_bytes;
  run_spec.log_keep_free = log_budget_.keep_free;
  run_spec.all_calls = config_.all_system_calls;
  run_spec.grace_seconds = std::min(run_spec.grace_seconds, config_.longest_grace_seconds);
  if (!groups_.empty()) run_spec.group = (groups_ / uid).string();
  const Result<bool> started = supervisor_->start(run_spec);
  Run& run = runs_[uid];  // what is left of one that cannot be started goes with its pod, too
  run.key = key;
  run.state = fresh_state(*spec);
  if (!started) {
    log(LogLevel::kError, "executor", "cannot start a pod",
        {{"pod", key}, {"reason", started.error().text}});
    run.state.phase = RunPhase::kFailed;
    return reports_.problem(uid, key, {"StartError", started.error().text});
  }
  run.deadline = deadline_of(pod);
  if (!*started) {  // it was started before: look what became of it
    if (const Result<RunState> state = supervisor_->adopt(uid)) run.state = *state;
  }
  reports_.state(uid, key, run.state);
}

/// Who has to leave decides how, not when: another's job waits for the place.
void LocalExecutor::end(const std::string& uid, Run& run, std::int64_t grace_seconds) {
  grace_seconds = std::min(grace_seconds, config_.longest_grace_seconds);
  if (run.grace && *run.grace <= grace_seconds) return;
  run.grace = grace_seconds;
  const Result<void> asked = supervisor_->stop(uid, grace_seconds);
  if (!asked) {
    log(LogLevel::kError, "executor", "cannot end a pod",
        {{"pod", run.key}, {"reason", asked.error().text}});
    run.grace.reset();
  }
  if (!run.key.empty()) reports_.stopping(run.key);
}

void LocalExecutor::removed(const StoredObject& record) {
  const std::string uid(api::find_text(part(to_object(record), "metadata"), "uid"));
  waiting_.erase(uid);
  to_start_.drop(uid);
  const auto found = runs_.find(uid);
  if (found == runs_.end()) return;
  found->second.gone = true;
  if (supervisor_->running(uid)) {
    found->second.key.clear();
    end(uid, found->second, 0);
  } else {
    forget(uid);
  }
}

void LocalExecutor::forget(const std::string& uid) {
  supervisor_->forget(uid);
  runs_.erase(uid);
}

void LocalExecutor::take_reports() {
  for (RunReport& found : supervisor_->poll()) learned(found.uid, std::move(found.state));
}

void LocalExecutor::learned(const std::string& uid, RunState state) {
  const auto found = runs_.find(uid);
  if (found == runs_.end()) return;
  Run& run = found->second;
  if (run.gone) {
    if (!supervisor_->running(uid)) forget(uid);
    return;
  }
  if (run.state.ended()) return;
  run.state = std::move(state);
  if (run.deadline_over && run.state.ended()) {
    run.state.phase = RunPhase::kFailed;
    run.state.reason = "DeadlineExceeded";
    run.state.message = "Pod was active on the node longer than the specified deadline";
  }
  reports_.state(uid, run.key, run.state);
}

void LocalExecutor::check_deadlines() {
  const Time now = wall_clock();
  for (auto& [uid, run] : runs_) {
    if (!run.deadline || run.deadline_over || run.state.ended() || *run.deadline > now) continue;
    run.deadline_over = true;
    end(uid, run, 0);
  }
}

void LocalExecutor::try_again() {
  if (waiting_.empty() || steady_now() < try_again_) return;
  for (const auto& [uid, key] : std::map(std::move(waiting_))) {
    const RecordPtr record = store_.get(pods_, key);
    if (record) consider(*record);
  }
}

/// A pod that only ended adds nothing: it is looked at as long as something runs.
void LocalExecutor::check_logs() {
  if (supervisor_->running() == 0 || steady_now() < check_logs_) return;
  check_logs_ = steady_now() + kBetweenLogChecks;
  std::vector<std::string> ended;
  for (const auto& [uid, run] : runs_)
    if (run.state.ended()) ended.push_back(uid);
  const std::int64_t used = keep_log_budget(config_.folder, log_budget_, ended);
  if (used <= log_budget_.all_bytes) return;
  log(LogLevel::kWarning, "executor",
      "the logs of pods have reached their budget: output is dropped",
      {{"bytes", std::to_string(used)}, {"allowed", std::to_string(log_budget_.all_bytes)}});
}

void LocalExecutor::end_all() {
  for (auto& [uid, run] : runs_) {
    if (supervisor_->running(uid)) static_cast<void>(supervisor_->stop(uid, 0));
  }
  const Duration until = steady_now() + kLastWait;
  while (supervisor_->running() > 0 && steady_now() < until) {
    pollfd polled{supervisor_->fd(), POLLIN, 0};
    ::poll(&polled, 1, 100);
    supervisor_->poll();
  }
}

int LocalExecutor::timeout_ms() const {
  if (!to_start_.empty()) return 0;
  constexpr Duration kLongest = 3'600 * kSecond;
  Duration left = kLongest;
  const auto at_most = [&left](Duration one) { left = std::min(left, std::max<Duration>(0, one)); };
  if (!waiting_.empty()) at_most(try_again_ - steady_now());
  if (supervisor_->running() > 0) at_most(check_logs_ - steady_now());
  const Time now = wall_clock();
  for (const auto& [uid, run] : runs_)
    if (run.deadline && !run.deadline_over && !run.state.ended()) at_most(*run.deadline - now);
  return static_cast<int>(left / kMillisecond + 1);
}

Result<std::unique_ptr<Executor>> start_local_executor(const LocalExecutorConfig& config,
                                                       LiveStore& store, const api::Scheme& scheme,
                                                       KernelThread& kernel) {
  if (!scheme.find("v1", "Pod")) return Error{"the kind Pod is not known"};
  LocalExecutorConfig complete = config;
  if (complete.runner.empty()) complete.runner = {"/proc/self/exe", "pod-runner"};
  auto supervisor = Supervisor::open(complete.folder, complete.runner);
  if (!supervisor) return supervisor.error();
  auto made =
      std::make_unique<LocalExecutor>(complete, std::move(*supervisor), store, scheme, kernel);
  const Result<void> started = made->start();
  if (!started) return started.error();
  return std::unique_ptr<Executor>(std::move(made));
}

}  // namespace sluice::host
