#include "host/remotes/remote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/backoff.hpp"
#include "host/base/log.hpp"

namespace sluice::host {
namespace {

constexpr std::uint64_t kProbe = 0;  // id of the request; writes have others
constexpr const char* kGivenUp = "the connection was given up before an answer came";
constexpr Duration kProbeAgain = kSecond;
constexpr Duration kLookAtFile = 5 * kSecond;
// No endless wait for a place that has more than fits: it may be cleaned up.
constexpr Duration kAfterTooLarge = 300 * kSecond;

std::string called(const std::string& plugin, const std::string& name) {
  return "remote " + plugin + "/" + name;
}

RemoteProblem connection_problem(const std::string& text) { return {"Connection", text}; }

}  // namespace

Remote::Remote(std::string plugin, std::string name, RemoteSpec spec, const RemoteLimits& limits,
               Around around)
    : plugin_(std::move(plugin)),
      name_(std::move(name)),
      spec_(std::move(spec)),
      limits_(limits),
      around_(std::move(around)),
      since_(around_.now()) {}

Duration Remote::tend(Duration now) {
  if (closed_) return now + limits_.longest_wait;
  bool overflown = false;
  {
    const std::lock_guard lock(mutex_);
    overflown = overflown_;
  }
  if (overflown) {
    give_up_connection();
    fail({"TooLarge", fmt::format("it has more than {} objects or {} MiB of the kinds that are "
                                  "followed",
                                  limits_.objects, limits_.bytes >> 20)});
    due_ = now + kAfterTooLarge;
    const std::lock_guard lock(mutex_);
    overflown_ = false;
    mirror_.clear();
  }
  if (!spec_.file.empty() && now >= file_due_) {
    file_due_ = now + kLookAtFile;
    if (connection_.follower && file_changed()) {
      give_up_connection();
      failures_ = 0;
      due_ = now;
    }
  }
  if (!connection_.follower && now >= due_) connect(now);
  if (connection_.follower) probe(now);
  Duration next = connection_.follower ? probe_due_ : due_;
  if (!spec_.file.empty()) next = std::min(next, file_due_);
  return next;
}

bool Remote::file_changed() {
  const auto text = read_remote_kubeconfig(spec_);
  return text && *text != kubeconfig_;
}

void Remote::connect(Duration now) {
  RemoteProblem problem{"Kubeconfig", {}};
  const Duration wait = backoff(limits_.first_wait, failures_, limits_.longest_wait);
  ++failures_;
  due_ = now + wait;
  auto text = read_remote_kubeconfig(spec_);
  if (!text) return fail({"Kubeconfig", text.error().text});
  kubeconfig_ = std::move(*text);
  const auto config = remote_credentials(kubeconfig_, !spec_.file.empty(), spec_.file, problem);
  if (!config) return fail(std::move(problem));
  if (!make(*config)) return;
  failures_ = 0;
  next_probe_ = probe_due_ = now + limits_.probe_every;
}

bool Remote::make(const Kubeconfig& config) {
  std::vector<FollowedKind> kinds;
  for (const RemoteKind& kind : spec_.kinds)
    kinds.push_back({kind.kind, {kind.api_version}, {}, kind.labels});
  FollowLimits limits;
  limits.called = called(plugin_, name_);
  limits.reflector = limits_.reflector;
  auto follower = ClusterFollower::make(config, std::move(kinds), *this, limits);
  auto target = link_target(config);
  if (!follower || !target) {
    fail({"Kubeconfig", follower ? target.error().text : follower.error().text});
    return false;
  }
  connection_.follower = std::move(*follower);
  connection_.sender = std::make_shared<RequestSender>(
      std::move(*target), config,
      SenderHooks{[] { return true; }, [this](const ClusterAnswer& answer) { answered(answer); }},
      SenderLimits{.connections = 8, .patience = limits_.probe_patience});
  std::vector<ClusterRequest> send_now;
  {
    const std::lock_guard lock(mutex_);
    sender_ = connection_.sender;
    follower_ = connection_.follower.get();
    ++connections_;
    probed_.reset();
    writes_.resume(send_now);
  }
  connection_.sender->start();
  connection_.follower->start();
  send(connection_.sender, std::move(send_now));
  return true;
}

/// Its threads have ended afterwards; what had left has no answer.
void Remote::give_up_connection() {
  {
    const std::lock_guard lock(mutex_);
    sender_.reset();
    follower_ = nullptr;
  }
  if (connection_.follower) connection_.follower->stop();
  if (connection_.sender) connection_.sender->stop();
  connection_ = {};
  std::vector<RemoteKey> about;
  bool told = false;
  {
    const std::lock_guard lock(mutex_);
    writes_.give_up(about);
    changes_.insert(about.begin(), about.end());
    questions_.give_up(kGivenUp, answered_);
    told = !about.empty() || !answered_.empty();
  }
  if (told) around_.changed();
}

void Remote::close() {
  closed_ = true;
  give_up_connection();
}

void Remote::fail(RemoteProblem problem) { set_connected(false, std::move(problem)); }

void Remote::set_connected(bool connected, RemoteProblem problem) {
  {
    const std::lock_guard lock(mutex_);
    if (connected_ == connected && problem_.what == problem.what &&
        problem_.message == problem.message)
      return;
    if (connected_ != connected) since_ = around_.now();
    connected_ = connected;
    problem_ = problem;
    changes_.insert(RemoteKey{});
  }
  if (connected)
    log(LogLevel::kInfo, called(plugin_, name_), "connected");
  else
    log(LogLevel::kWarning, called(plugin_, name_), "not connected: " + problem.message);
  around_.changed();
}

/// A place that goes silent without closing its connections is found out by asking.
void Remote::probe(Duration now) {
  bool silent = false;
  std::shared_ptr<RequestSender> sender;
  {
    const std::lock_guard lock(mutex_);
    silent = probed_ && now - *probed_ >= limits_.probe_patience;
    if (now >= probe_due_) {
      const bool next = !probed_ && now >= next_probe_;
      if (next) {
        probed_ = now;
        next_probe_ = now + limits_.probe_every;
      }
      if (next || broke_off_) sender = sender_;
      broke_off_ = false;
      probe_due_ = probed_ ? now + kProbeAgain : next_probe_;
    }
  }
  if (sender) {
    std::vector<ClusterRequest> ask(1);
    ask[0].id = kProbe;
    ask[0].path = "/version";
    send(sender, std::move(ask));
  }
  if (!silent) return;
  give_up_connection();
  fail(connection_problem(
      fmt::format("it has not answered for {} s", limits_.probe_patience / kSecond)));
  due_ = now;
}

void Remote::noted() {
  RemoteProblem problem;
  bool connected = true;
  std::vector<FollowState> states;
  {
    const std::lock_guard lock(mutex_);
    if (!follower_) return;
    states = follower_->states();
  }
  bool synced = true;
  for (const FollowState& state : states) {
    synced &= state.synced && !state.absent;
    if (state.synced && !state.absent && state.trouble.empty()) continue;
    connected = false;
    if (!problem.what.empty()) continue;
    if (state.absent)
      problem = {"Missing", "it has no kind " + state.kind->kind};
    else if (!state.trouble.empty())
      problem = {state.refused ? "Refused" : "Connection",
                 state.kind->plural + ": " + state.trouble};
  }
  {
    const std::lock_guard lock(mutex_);
    synced_ |= synced;
  }
  // While it is looked at anew what was known stays.
  if (connected || !problem.what.empty()) set_connected(connected, std::move(problem));
}

void Remote::answered(const ClusterAnswer& answer) {
  if (answer.id == kProbe) {
    // One that broke off says nothing: it is sent again, while there is patience.
    const std::lock_guard lock(mutex_);
    broke_off_ = answer.status == 0;
    if (!broke_off_) probed_.reset();
    return;
  }
  std::vector<ClusterRequest> requests;
  std::shared_ptr<RequestSender> sender;
  {
    const std::lock_guard lock(mutex_);
    if ((answer.id & RemoteQuestions::kId) != 0) {
      if (auto name = questions_.answered(answer)) answered_.push_back(std::move(*name));
    } else if (const auto key = writes_.answered(answer, mirror_, requests)) {
      changes_.insert(*key);
    }
    sender = sender_;
  }
  send(sender, std::move(requests));
  around_.changed();
}

void Remote::send(const std::shared_ptr<RequestSender>& sender,
                  std::vector<ClusterRequest> requests) {
  if (sender && !requests.empty()) sender->send(std::move(requests));
}

RemoteHealth Remote::health() const {
  const std::lock_guard lock(mutex_);
  return {plugin_,
          name_,
          connected_,
          synced_,
          since_,
          problem_,
          mirror_.size(),
          mirror_.bytes(),
          writes_.outstanding(),
          writes_.sent(),
          writes_.failed(),
          connections_,
          asked_};
}

const RemoteKind* Remote::kind_of(std::string_view api_version, std::string_view kind) const {
  for (const RemoteKind& each : spec_.kinds)
    if (each.api_version == api_version && each.kind->kind == kind) return &each;
  return nullptr;
}

std::optional<std::string> Remote::get(const RemoteKey& key) const {
  const std::lock_guard lock(mutex_);
  const RemoteObject* object = mirror_.find(key);
  return object ? std::optional(object->json) : std::nullopt;
}

std::string Remote::list(const api::KindInfo& kind, std::string_view ns,
                         const LabelQuery& labels) const {
  const std::lock_guard lock(mutex_);
  return mirror_.list(kind, ns, labels);
}

std::optional<WriteState> Remote::writing(const RemoteKey& key) const {
  const std::lock_guard lock(mutex_);
  return writes_.state(key);
}

bool Remote::takes(std::size_t more) const {
  const std::lock_guard lock(mutex_);
  return writes_.outstanding() + more < limits_.writes;
}

void Remote::add(const RemoteKey& key, RemoteWrite write) {
  const std::lock_guard lock(mutex_);
  writes_.add(key, std::move(write));
}

void Remote::release(const std::vector<RemoteKey>& keys) {
  std::vector<ClusterRequest> requests;
  std::shared_ptr<RequestSender> sender;
  bool none = false;
  {
    const std::lock_guard lock(mutex_);
    for (const RemoteKey& key : keys) writes_.release(key, requests);
    sender = sender_;
    if (!sender) {  // nobody would send them: they fail, and are tried again by whoever wants to
      std::vector<RemoteKey> about;
      writes_.give_up(about);
      changes_.insert(about.begin(), about.end());
      none = !about.empty();
    }
  }
  if (none) around_.changed();
  send(sender, std::move(requests));
}

bool Remote::ask(const RemoteChange& name, std::string path, std::string body) {
  std::vector<ClusterRequest> requests;
  std::shared_ptr<RequestSender> sender;
  {
    const std::lock_guard lock(mutex_);
    if (questions_.size() >= limits_.questions) return false;
    requests.push_back(questions_.ask(name, std::move(path), std::move(body)));
    sender = sender_;
    if (!sender) questions_.give_up("it is not connected", answered_);
    asked_ += sender ? 1U : 0U;
  }
  if (!sender) around_.changed();
  send(sender, std::move(requests));
  return true;
}

std::optional<RemoteReply> Remote::take_reply(const RemoteChange& name) {
  const std::lock_guard lock(mutex_);
  return questions_.take(name);
}

std::vector<RemoteChange> Remote::take_answered() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answered_, {});
}

std::vector<RemoteKey> Remote::take_changes() {
  const std::lock_guard lock(mutex_);
  std::vector<RemoteKey> out(changes_.begin(), changes_.end());
  changes_.clear();
  return out;
}

void Remote::list_begins(const api::KindInfo& kind, std::uint64_t version) {
  const std::lock_guard lock(mutex_);
  listed_as_of_[&kind] = version;
  mirror_.list_begins(kind);
}

void Remote::list_ends(const api::KindInfo& kind) {
  const std::lock_guard lock(mutex_);
  std::vector<RemoteKey> gone;
  mirror_.list_ends(kind, gone);
  changes_.insert(gone.begin(), gone.end());
  for (RemoteKey& key : writes_.listed(kind, listed_as_of_[&kind])) changes_.insert(std::move(key));
}

void Remote::put(const api::KindInfo& kind, const std::string& api_version,
                 boost::json::object object) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    const auto [key, changed] = mirror_.put(kind, api_version, std::move(object));
    if (key.kind == nullptr) return;
    const bool news = writes_.shown(key, mirror_);
    if (changed || news) changes_.insert(key);
    full = !overflown_ && (mirror_.size() > limits_.objects || mirror_.bytes() > limits_.bytes);
    overflown_ |= full;
  }
  if (full) around_.tend_soon();
}

void Remote::remove(const api::KindInfo& kind, const boost::json::object& object) {
  const std::lock_guard lock(mutex_);
  const RemoteKey key{&kind, remote_key_of(kind, object)};
  mirror_.erase(key);
  writes_.shown(key, mirror_);
  changes_.insert(key);
}

}  // namespace sluice::host
