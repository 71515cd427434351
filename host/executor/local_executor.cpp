#include "host/executor/local_executor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/log.hpp"
#include "host/base/wall_clock.hpp"
#include "host/executor/pod_status.hpp"
#include "host/executor/process/linked_folder.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

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

bool has_ended(const json::object& pod) {
  const std::string_view phase = api::find_text(part(pod, "status"), "phase");
  return phase == "Succeeded" || phase == "Failed";
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

/// Containers that run now and did not in the status so far.
std::vector<std::string> newly_started(const json::object& status, const RunState& state) {
  std::vector<std::string> out;
  for (const ContainerState& container : state.containers) {
    if (container.now.state != ContainerRun::State::kRunning) continue;
    const std::string id = "process://" + std::to_string(container.now.pid);
    bool known = false;
    for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
      for_each_object(status, list, [&](const json::object& entry) {
        known = known || api::find_text(entry, "containerID") == id;
      });
    }
    if (!known) out.push_back(container.name);
  }
  return out;
}

/// Writes the state of a run into its pod. On the kernel's thread.
void write_state(ObjectAccess& objects, const std::string& uid, const std::string& key,
                 const RunState& state) {
  const api::KindInfo* kind = objects.scheme().find("v1", "Pod");
  const auto pod = kind ? objects.get(*kind, key) : std::nullopt;
  if (!pod || api::find_text(part(*pod, "metadata"), "uid") != uid) return;
  if (has_ended(*pod)) return;
  for (const std::string& name : newly_started(part(*pod, "status"), state)) {
    objects.emit({{kind, key}, false, "Started", "Started container " + name});
  }
  for (const ContainerState& container : state.containers) {
    const ContainerRun& last = container.last ? *container.last : container.now;
    if (last.reason != "StartError") continue;
    objects.emit({{kind, key}, true, "Failed", "Error: " + last.message});
  }
  const ApiResult<void> written =
      objects.update_status(*kind, key, pod_status(*pod, state, objects.now()));
  if (!written) {
    log(LogLevel::kError, "executor", "cannot write the status of a pod",
        {{"pod", key}, {"reason", written.error().text}});
  }
}

}  // namespace

LocalExecutor::LocalExecutor(const LocalExecutorConfig& config,
                             std::unique_ptr<Supervisor> supervisor, LiveStore& store,
                             const api::Scheme& scheme, KernelThread& kernel)
    : config_(config),
      supervisor_(std::move(supervisor)),
      store_(store),
      pods_(*scheme.find("v1", "Pod")),
      config_maps_(scheme.find("v1", "ConfigMap")),
      secrets_(scheme.find("v1", "Secret")),
      kernel_(kernel),
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

/// Where the host may, its jobs do not run as itself: what is the host's is not theirs.
Result<void> LocalExecutor::find_users() {
  using Mode = JobUsersConfig::Mode;
  if (config_.users.mode == Mode::kOff) return {};
  const UserRange range{config_.users.first, config_.users.count};
  std::string why_not = why_no_other_user(range);
  const Result<std::string> name = identity_of(config_.folder);
  if (!name) return name.error();
  work_ = std::filesystem::path(config_.users.work_path) / *name;
  if (why_not.empty())
    if (auto made = make_open_folders(work_); !made) why_not = made.error().text;
  if (!why_not.empty()) {
    if (config_.users.mode == Mode::kOn) return Error{"executor.jobUsers.mode: on: " + why_not};
    log(::geteuid() == 0 ? LogLevel::kWarning : LogLevel::kInfo, "executor",
        "pods run as the user of the host", {{"reason", why_not}});
    return {};
  }
  auto users = JobUsers::open(config_.folder / "users", range);
  if (!users) return users.error();
  users_ = std::move(*users);
  supervisor_->put_work(work_);
  if (auto claim = claim_users(config_.users.work_path, range))
    users_claim_ = std::move(*claim);
  else
    log(LogLevel::kWarning, "executor",
        "another host gives its namespaces the same users: jobs of both can end and read each "
        "other",
        {{"first", std::to_string(range.first)}, {"remedy", "executor.jobUsers.first"}});
  for (const char* own : {"HOME", "USER", "LOGNAME", "TMPDIR"})
    std::erase_if(sources_.environment, [&](const std::string& each) {
      return each.starts_with(std::string(own) + "=");
    });
  log(LogLevel::kInfo, "executor", "pods run as a user of their namespace",
      {{"first", std::to_string(range.first)}, {"work", work_.string()}});
  return {};
}

Result<void> LocalExecutor::start() {
  if (auto found = find_users(); !found) return found;
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
  subscription_.reset();
  std::error_code in_use;  // by pods that run on
  for (const std::filesystem::path& folder : {groups_, work_})
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
    if (has_ended(pod)) continue;  // accounted for already
    report(uid, run.key, run.state);
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
  if (!is_mine(pod)) return;
  const auto known = runs_.find(uid);
  if (known != runs_.end()) {
    Run& run = known->second;
    run.key = record.key;
    if (is_deleting(pod) && !run.state.ended()) end(uid, run, grace_of(pod));
    return;
  }
  if (has_ended(pod)) return;
  const json::array* gates = api::find_array(part(pod, "spec"), "schedulingGates");
  if (gates && !gates->empty()) return;
  if (is_deleting(pod)) return report_never_started(uid, record.key);
  begin(uid, pod);
}

Result<PodUser, PodProblem> LocalExecutor::user_of(const std::string& uid,
                                                   const json::object& pod) {
  if (!users_) return PodUser{{::geteuid(), ::getegid()}};
  const auto user = users_->of(api::find_text(part(pod, "metadata"), "namespace"));
  if (!user) return PodProblem{"StartError", user.error().text};
  return PodUser{{*user, *user}, (work_ / uid).string()};
}

void LocalExecutor::begin(const std::string& uid, const json::object& pod) {
  const std::string key = key_of(pod);
  const Result<PodUser, PodProblem> user = user_of(uid, pod);
  const Result<RunSpec, PodProblem> spec =
      user ? plan_pod(pod, sources_, *user) : Result<RunSpec, PodProblem>(user.error());
  if (!spec) {
    if (spec.error().may_pass) {
      waiting_[uid] = key;
      try_again_ = wall_clock() + kTryAgain;
    }
    return report_problem(uid, key, spec.error());
  }
  waiting_.erase(uid);
  report_ignored(uid, pod, user->as);
  RunSpec run_spec = *spec;
  if (users_) {
    run_spec.user = user->as.user;
    run_spec.group_id = user->as.group;
  }
  run_spec.log_bytes = log_budget_.pod_bytes;
  run_spec.log_keep_free = log_budget_.keep_free;
  run_spec.all_calls = config_.all_system_calls;
  if (!groups_.empty()) run_spec.group = (groups_ / uid).string();
  const Result<bool> started = supervisor_->start(run_spec);
  if (!started) {
    log(LogLevel::kError, "executor", "cannot start a pod",
        {{"pod", key}, {"reason", started.error().text}});
    return report_problem(uid, key, {"StartError", started.error().text});
  }
  Run& run = runs_[uid];
  run.key = key;
  run.state = fresh_state(*spec);
  run.deadline = deadline_of(pod);
  if (!*started) {  // it was started before: look what became of it
    if (const Result<RunState> state = supervisor_->adopt(uid)) run.state = *state;
  }
  report(uid, key, run.state);
}

void LocalExecutor::end(const std::string& uid, Run& run, std::int64_t grace_seconds) {
  if (run.grace && *run.grace <= grace_seconds) return;
  run.grace = grace_seconds;
  const Result<void> asked = supervisor_->stop(uid, grace_seconds);
  if (!asked) {
    log(LogLevel::kError, "executor", "cannot end a pod",
        {{"pod", run.key}, {"reason", asked.error().text}});
    run.grace.reset();
  }
  if (run.key.empty()) return;
  kernel_.post([key = run.key, uid](ObjectAccess& objects) {
    const api::KindInfo* kind = objects.scheme().find("v1", "Pod");
    if (!kind || !objects.exists(*kind, key)) return;
    objects.emit({{kind, key}, false, "Killing", "Stopping the containers"});
  });
}

void LocalExecutor::removed(const StoredObject& record) {
  const std::string uid(api::find_text(part(to_object(record), "metadata"), "uid"));
  waiting_.erase(uid);
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
  report(uid, run.key, run.state);
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
  if (waiting_.empty() || wall_clock() < try_again_) return;
  for (const auto& [uid, key] : std::map(std::move(waiting_))) {
    const RecordPtr record = store_.get(pods_, key);
    if (record) consider(*record);
  }
}

/// A pod that only ended adds nothing: it is looked at as long as something runs.
void LocalExecutor::check_logs() {
  if (supervisor_->running() == 0 || wall_clock() < check_logs_) return;
  check_logs_ = wall_clock() + kBetweenLogChecks;
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
  const Time until = wall_clock() + kLastWait;
  while (supervisor_->running() > 0 && wall_clock() < until) {
    pollfd polled{supervisor_->fd(), POLLIN, 0};
    ::poll(&polled, 1, 100);
    supervisor_->poll();
  }
}

void LocalExecutor::report(const std::string& uid, const std::string& key, RunState state) const {
  kernel_.post([uid, key, state = std::move(state)](ObjectAccess& objects) {
    write_state(objects, uid, key, state);
  });
}

void LocalExecutor::report_problem(const std::string& uid, const std::string& key,
                                   const PodProblem& problem) const {
  kernel_.post([uid, key, problem](ObjectAccess& objects) {
    const api::KindInfo* kind = objects.scheme().find("v1", "Pod");
    const auto pod = objects.get(*kind, key);
    if (!pod || api::find_text(part(*pod, "metadata"), "uid") != uid || has_ended(*pod)) return;
    RunState state;
    state.phase = problem.may_pass ? RunPhase::kStarting : RunPhase::kFailed;
    state.reason = problem.may_pass ? "" : problem.reason;
    state.message = problem.may_pass ? "" : problem.text;
    for_each_object(part(*pod, "spec"), "containers", [&](const json::object& container) {
      ContainerState& added = state.containers.emplace_back();
      added.name = api::find_text(container, "name");
      added.now.reason = problem.reason;
      added.now.message = problem.text;
    });
    objects.emit({{kind, key}, true, "Failed", "Error: " + problem.text});
    static_cast<void>(objects.update_status(*kind, key, pod_status(*pod, state, objects.now())));
  });
}

void LocalExecutor::report_ignored(const std::string& uid, const json::object& pod,
                                   const ProcessUser& as) const {
  const PodSupport support = support_of(pod, as, sources_.held);
  if (support.ignored.empty()) return;
  std::string text;
  for (const std::string& each : support.ignored) text += (text.empty() ? "" : "; ") + each;
  kernel_.post([uid, key = key_of(pod), text](ObjectAccess& objects) {
    const api::KindInfo* kind = objects.scheme().find("v1", "Pod");
    if (objects.exists(*kind, key)) objects.emit({{kind, key}, true, "NotSupported", text});
  });
}

/// Deleted before anything ran: it ends here.
void LocalExecutor::report_never_started(const std::string& uid, const std::string& key) const {
  RunState state;
  state.phase = RunPhase::kFailed;
  state.reason = "Terminated";
  state.message = "the pod was deleted before it was started";
  report(uid, key, std::move(state));
}

int LocalExecutor::timeout_ms() const {
  Time next = kNever;
  if (!waiting_.empty()) next = try_again_;
  if (supervisor_->running() > 0) next = std::min(next, check_logs_);
  for (const auto& [uid, run] : runs_) {
    if (run.deadline && !run.deadline_over && !run.state.ended()) {
      next = std::min(next, *run.deadline);
    }
  }
  if (next == kNever) return -1;
  const Duration left = std::max<Duration>(0, next - wall_clock());
  return static_cast<int>(std::min<Duration>(left / kMillisecond + 1, 3'600'000));
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
