#include "host/top/top.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/utf8.hpp"
#include "host/base/log.hpp"
#include "host/objects/kinds.hpp"
#include "host/plugins/clock.hpp"
#include "host/top/terminal.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kLongestTrouble = 1024;
constexpr Duration kFirstLook = 30 * kSecond;
constexpr Duration kBetweenFrames = 100 * kMillisecond;  // eyes are not faster
constexpr Duration kClockTick = kSecond;                 // between updates of waiting times

/// What does not come, and why; what is the same for all kinds is said once. `every`: also what
/// only takes its time.
std::vector<std::string> missing_of(const std::vector<FollowState>& states, const std::string& ns,
                                    bool every) {
  std::vector<std::string> out;
  const std::string& first = states.front().trouble;
  if (!first.empty() && std::all_of(states.begin(), states.end(), [&](const FollowState& state) {
        return state.trouble == first;
      }))
    return {one_line(first, kLongestTrouble)};
  for (const FollowState& state : states) {
    const std::string name = state.kind->plural + "." + state.kind->group;
    if (state.absent && is_workload(*state.kind))
      out.push_back(fmt::format("the server has no {}; is Kueue installed there?", name));
    else if (!state.trouble.empty())
      out.push_back(one_line(state.trouble.find(name) == std::string::npos
                                 ? fmt::format("{}: {}", name, state.trouble)
                                 : state.trouble,
                             kLongestTrouble));
    else if (every && !state.synced)
      out.push_back(name + " did not come in time");
    const bool refused = state.trouble.find(" is forbidden") != std::string::npos;
    if (refused && ns.empty() && is_workload(*state.kind))
      out.back() += "; --namespace NAME shows those of one namespace";
  }
  return out;
}

/// What the query names can be missed when all queues and cohorts came only.
bool knows_queues(const std::vector<FollowState>& states) {
  return std::all_of(states.begin(), states.end(), [](const FollowState& state) {
    const bool asked = state.kind->kind == "ClusterQueue" || state.kind->kind == "Cohort";
    return !asked || (state.synced && state.trouble.empty());
  });
}

class Follows {
 public:
  Follows(Kubeconfig config, std::string ns, std::function<void()> changed)
      : config_(std::move(config)), ns_(std::move(ns)), model_(std::move(changed)) {}

  Result<void> start() {
    set_log(LogFormat::kText, LogLevel::kError);  // what there is to say is on the screen
    auto made = ClusterFollower::make(config_, queue_kinds(scheme_, ns_), model_);
    if (!made) return made.error();
    follower_ = std::move(*made);
    follower_->start();
    return {};
  }
  const TopModel& model() const { return model_; }
  const ClusterFollower& follower() const { return *follower_; }

 private:
  Kubeconfig config_;
  std::string ns_;
  const api::Scheme scheme_;
  TopModel model_;
  std::unique_ptr<ClusterFollower> follower_;  // last: its thread calls the model
};

}  // namespace

std::vector<FollowedKind> queue_kinds(const api::Scheme& scheme, const std::string& ns) {
  std::vector<FollowedKind> out;
  for (const char* name : {"ClusterQueue", "Cohort", "LocalQueue", "Workload"}) {
    const api::KindInfo& kind = api::kueue_kind(scheme, name);
    out.push_back(in_all_versions(kind));
    if (kind.namespaced) out.back().ns = ns;
  }
  return out;
}

Result<TopGlance> glance(Kubeconfig config, const TopQuery& query) {
  Follows follows(std::move(config), query.ns, [] {});
  if (auto started = follows.start(); !started) return started.error();
  follows.follower().wait_for_word(kFirstLook);
  const std::vector<FollowState> states = follows.follower().states();
  TopGlance out{follows.model().view(query), SystemPluginClock().now(),
                missing_of(states, query.ns, true)};
  const bool something = std::any_of(states.begin(), states.end(), [](const FollowState& state) {
    return state.synced && !state.absent;
  });
  if (!something && !out.missing.empty())
    return Error{fmt::format("{}", fmt::join(out.missing, "\n"))};
  if (knows_queues(states))
    if (const auto names = follows.model().not_there(query); !names.empty())
      return Error{fmt::format("{}", fmt::join(names, "\n"))};
  return out;
}

Result<int> look_on(Kubeconfig config, const TopQuery& query) {
  auto terminal = Terminal::open();
  if (!terminal) return terminal.error();
  Terminal& screen = **terminal;
  const SystemPluginClock clock;
  TopLook look;
  look.query = query;
  TopFrame frame;
  frame.server = config.server;
  Follows follows(std::move(config), query.ns, [&screen] { screen.wake(); });
  if (auto started = follows.start(); !started) return started.error();
  TerminalSize shown;
  bool stale = true;
  Duration drawn = clock.steady() - kBetweenFrames;
  for (TopView view;;) {
    Duration since = clock.steady() - drawn;
    if ((stale && since >= kBetweenFrames) || since >= kClockTick) {
      frame.size = screen.size();
      frame.now = clock.now();
      const std::vector<FollowState> states = follows.follower().states();
      std::vector<std::string> notes = missing_of(states, query.ns, false);
      if (knows_queues(states))
        for (std::string& each : follows.model().not_there(query)) notes.push_back(std::move(each));
      frame.note = fmt::format("{}", fmt::join(notes, "; "));
      if (stale || frame.size != shown) view = follows.model().view(query_for(look, frame.size));
      shown = frame.size;
      screen.draw(top_lines(view, look, frame));
      drawn = clock.steady();
      stale = false;
      since = 0;
    }
    const Duration most = (stale ? kBetweenFrames : kClockTick) - since;
    const TerminalEvent event = screen.wait(std::max<Duration>(most, kMillisecond));
    if (event.ended_by != 0) return 128 + event.ended_by;
    for (const Key& key : event.keys) {
      constexpr char kControlZ = 26;
      if (key == Key{Key::What::kChar, kControlZ})
        screen.suspend();
      else if (!press(look, key, view, frame.size))
        return 0;
    }
    stale |= event.woken || event.resized || !event.keys.empty();
    // A key is answered at once.
    if (event.resized || !event.keys.empty()) drawn -= kBetweenFrames;
  }
}

}  // namespace sluice::host
