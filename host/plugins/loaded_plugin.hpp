// LoadedPlugin: one instance of one plugin, and the only way in which the host calls it.
//
// call() is the boundary: it measures, counts, catches what the plugin's own guard let through, and
// turns a bad answer into a fault. No lock is held inside. [cycle] hooks may be called from many
// threads; everything else by one thread at a time (the host's control thread).
//
// A plugin with a process of its own may take long to answer. What it is asked with ask() may end
// in a later turn of the control thread (go_on()), so that nobody else waits for it; one question
// is under way at a time, the others wait in line, in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/hooks/hooks.hpp"
#include "host/config/config.hpp"
#include "host/plugins/call_board.hpp"
#include "host/plugins/extensions.hpp"
#include "host/plugins/health.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/pace.hpp"
#include "host/plugins/process/process_root.hpp"

namespace sluice::host {

/// How a call ended. With kClosed the fault is filled in and the closed default applies; with
/// kOpen nothing is filled in and the built-in default applies. kLater: it has not ended; see
/// ask().
enum class Answer : std::uint8_t { kOk, kRetry, kClosed, kOpen, kLater };

/// What the plugin may do with objects in a call.
enum class Access : std::uint8_t { kNothing, kReads, kWrites };

class LoadedPlugin {
 public:
  /// Creates an instance of a library that is loaded already. The error names plugin and cause.
  static Result<std::unique_ptr<LoadedPlugin>> create(const sluice_plugin_t& root,
                                                      const PluginConfig& config,
                                                      const HostServices& services,
                                                      const FaultLimits& limits);
  /// Deactivates (when active) and destroys the instance.
  ~LoadedPlugin();
  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;

  /// Nothing to do for a plugin in quarantine.
  Result<void> activate();
  /// It is called no more. Before activate().
  void quarantine(const std::string& why);
  /// Turned off while the host goes on: it may write what it leaves behind. From then on it is as
  /// if it answered nothing. An error: it failed, and nothing of it was written.
  Result<void> turn_off();

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  bool is_open() const { return policy_ == FailurePolicy::kOpen; }
  bool is_off() const { return off_; }
  const Extensions& extensions() const { return extensions_; }
  sluice_instance_t* self() const { return self_; }
  HostSide& host_side() { return *host_side_; }
  Health& health() { return health_; }
  const Health& health() const { return health_; }

  /// What a call's fn returns: the plugin's code, but a fault when it said OK and its output makes
  /// no sense.
  std::int32_t judged(std::int32_t code, const Nonsense& nonsense) const {
    if (code != SLUICE_OK || !nonsense) [[likely]]
      return code;
    return judged(code, nonsense.sentence());
  }
  std::int32_t judged(std::int32_t code, std::string wrong) const {
    if (code != SLUICE_OK || wrong.empty()) return code;
    host_side_->set_fault_text(std::move(wrong));
    return kNonsense;
  }

  /// Calls fn() → code; `about`: for whom, for those who have to name the call. `fault` is written
  /// only when the answer is kClosed.
  template <typename Fn>
  Answer call(Hook hook, const CallAbout& about, hooks::Fault& fault, Fn&& fn) {
    if (off_) [[unlikely]]
      return Answer::kOpen;
    if (health_.quarantined()) [[unlikely]]
      return refuse_quarantined(fault);
    const PluginClock& clock = *services_.clock;
    const Duration start = clock.steady();
    std::int32_t code = SLUICE_FAILED;
    try {
      const CallBoard::Scope seen(name_, hook, about);
      code = fn();
    } catch (...) {
      return finish_thrown(hook, about, clock.steady() - start, fault);
    }
    const Duration took = clock.steady() - start;
    if (code == kProcessLater && process_ != nullptr) [[unlikely]] {
      health_.spend(hook, took);
      return Answer::kLater;
    }
    health_.count(hook, took);
    const Duration budget = is_cycle_hook(hook) ? limits_.cycle_budget : limits_.control_budget;
    if (code == SLUICE_OK && took <= budget) [[likely]]
      return Answer::kOk;
    return finish_unusual(hook, about, code, took, budget, fault);
  }

  template <typename Fn>
  Answer call(Hook hook, hooks::Fault& fault, Fn&& fn) {
    return call(hook, CallAbout{}, fault, std::forward<Fn>(fn));
  }

  /// What the plugin names in a function of its tables that writes a line for each: kinds, events,
  /// controllers. `what`: of what a line is the name ("a kind"). The error is the plugin's fault.
  using NamesFunction = std::int32_t (*)(sluice_instance_t* self, const sluice_sink_t* out);
  Result<std::vector<std::string>> names(Hook hook, NamesFunction function, const char* what);

  /// As call(), for hooks in which the plugin may write objects: what it wrote takes effect when
  /// the answer is kOk, and never was when it is another.
  template <typename Fn>
  Answer call_writing(Hook hook, const CallAbout& about, hooks::Fault& fault, Fn&& fn) {
    const Duration began = services_.clock->steady();
    lost_ = false;
    host_side_->begin_call();
    const Answer answer = call(hook, about, fault, std::forward<Fn>(fn));
    const Duration ended = services_.clock->steady();
    pace_.spent(began, ended);
    health_.hold(ended - began);
    if (answer == Answer::kLater) {
      host_side_->suspend_call();
      return answer;
    }
    const Result<void> written = host_side_->end_call(answer == Answer::kOk);
    if (written) return answer;
    return process_ == nullptr ? finish_fault(hook, about, written.error().text, fault)
                               : finish_uncounted(hook, written.error().text, fault);
  }

  /// The call for what the plugin may do in it.
  template <typename Fn>
  Answer call_with(Access access, Hook hook, const CallAbout& about, hooks::Fault& fault, Fn&& fn) {
    if (access == Access::kWrites) return call_writing(hook, about, fault, std::forward<Fn>(fn));
    if (access == Access::kReads) host_side_->begin_reading();
    const Answer answer = call(hook, about, fault, std::forward<Fn>(fn));
    if (access == Access::kReads) host_side_->end_reading();
    return answer;
  }

  /// As that, for those who cannot go on without the answer: it is never kLater, whatever the
  /// patience. REQUIRES: no writing. [control]
  template <typename Fn>
  Answer call_to_the_end(Access access, Hook hook, hooks::Fault& fault, Fn&& fn) {
    const Duration patience = process_ == nullptr ? 0 : process_->set_patience(0);
    const Answer answer = call_with(access, hook, {}, fault, std::forward<Fn>(fn));
    if (process_ != nullptr) process_->set_patience(patience);
    return answer;
  }

  /// As call_with(), and then done(answer, fault, late): in this call where the answer is there at
  /// once, else within a later go_on(); `late` says which. Both functions and what `about` names
  /// are kept until then; done() is not called when the plugin is turned off or destroyed before.
  /// [control]
  template <typename Fn, typename Done>
  void ask(Hook hook, const CallAbout& about, Fn fn, Done done, Access access = Access::kWrites) {
    hooks::Fault fault;
    if (in_line_.empty()) {
      const Answer answer = call_with(access, hook, about, fault, fn);
      if (answer != Answer::kLater) return done(answer, fault, false);
    } else if (in_line_.size() >= kMostInLine) {
      lost_ = false;
      const auto refused = finish_uncounted(hook, "too many questions wait for its answer", fault);
      return done(refused, fault, false);
    }
    in_line_.push_back([this, hook, about, access, fn = std::move(fn), done = std::move(done),
                        life = lives()](bool began) mutable {
      hooks::Fault wrong;
      // What judges a write is asked of any life; all else it has to be told again.
      const bool gone = access == Access::kWrites && !began && life != lives();
      const Answer answer = gone ? finish_lost(hook, "its process was started again", wrong)
                                 : call_with(access, hook, about, wrong, fn);
      if (answer != Answer::kLater) done(answer, wrong, true);
      return answer != Answer::kLater;
    });
    first_began_ |= in_line_.size() == 1;
  }

  /// Goes on with what it was asked, as far as that takes no waiting; whether anything ended.
  bool go_on();
  /// When go_on() has something to do, from now; nullopt: the host is woken then.
  std::optional<Duration> next_turn() const;
  /// How long a call of a plugin with a process of its own may hold up others; 0: until it is
  /// answered, however long that takes.
  void set_patience(Duration patience);
  /// The plugin's answer, which was OK, turns out to make no sense. What follows from that.
  Answer blame(Hook hook, const std::string& wrong, hooks::Fault& fault,
               const CallAbout& about = {});

  /// How long a question should wait, so that others have their turn, or until its process is
  /// there again, or has answered; 0: not at all.
  Duration pause() const {
    const Duration pace = pace_.pause(services_.clock->steady());
    if (process_ == nullptr) return pace;
    return std::max({pace, process_->pause(), in_line_.empty() ? 0 : kUnderWay});
  }
  /// Questions wait for its answer.
  bool owes_answer() const { return !in_line_.empty(); }
  /// It has a process of its own, which is not there.
  bool away() const { return process_ != nullptr && !process_->is_up(); }
  /// Whether the call that ended last did so because its process was gone, or came to be: what it
  /// was told is forgotten, and told again.
  bool was_lost() const { return lost_; }
  /// How often its process was started again: it has forgotten what it was told before. 0 for those
  /// that have none.
  std::uint64_t lives() const { return process_ == nullptr ? 0 : process_->lives(); }

 private:
  static constexpr std::int32_t kNonsense = std::numeric_limits<std::int32_t>::min();
  static constexpr std::size_t kMostInLine = 10'000;
  static constexpr Duration kUnderWay = kSecond;  ///< the host is woken before
  /// Whether it is over.
  using Turn = std::function<bool(bool began)>;

  LoadedPlugin(const sluice_plugin_t& root, const PluginConfig& config,
               const HostServices& services, const FaultLimits& limits);
  Result<void> find_extensions();
  void end();
  Answer refuse_quarantined(hooks::Fault& fault) const;
  Answer finish_thrown(Hook hook, const CallAbout& about, Duration took,
                       hooks::Fault& fault) noexcept;
  Answer finish_unusual(Hook hook, const CallAbout& about, std::int32_t code, Duration took,
                        Duration budget, hooks::Fault& fault);
  Answer finish_fault(Hook hook, const CallAbout& about, const std::string& what,
                      hooks::Fault& fault);
  Answer finish_lost(Hook hook, const std::string& what, hooks::Fault& fault);
  Answer finish_uncounted(Hook hook, const std::string& what, hooks::Fault& fault);
  void log(int level, const std::string& text) const;

  const sluice_plugin_t& root_;
  std::string name_, version_;
  FailurePolicy policy_;
  HostServices services_;
  FaultLimits limits_;
  Health health_;
  Pace pace_;
  std::unique_ptr<HostSide> host_side_;
  sluice_instance_t* self_ = nullptr;
  PluginProcess* process_ = nullptr;  // of self_; null: it is inside of the host
  std::deque<Turn> in_line_;
  bool first_began_ = false;  // of in_line_
  bool lost_ = false;
  Extensions extensions_;
  bool active_ = false;
  bool off_ = false;
};

/// Notices that a plugin's process was started again: it knows nothing of what it was told before.
class RestartWatch {
 public:
  /// `plugin` must outlive it.
  explicit RestartWatch(const LoadedPlugin& plugin) : plugin_(&plugin), lives_(plugin.lives()) {}
  /// Whether it was, since the last call.
  bool take_restarted() {
    const std::uint64_t now = plugin_->lives();
    return std::exchange(lives_, now) != now;
  }
  /// As if it had been, with whatever it was told.
  void begin_anew() { lives_.reset(); }

 private:
  const LoadedPlugin* plugin_;
  std::optional<std::uint64_t> lives_;
};

}  // namespace sluice::host
