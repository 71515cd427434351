// PluginProcess: one plugin in a process of its own: started, asked, watched, started again.
//
// A thread of its own starts the process (which dies with that thread), takes in what the plugin
// says between calls, and starts it again with growing pauses when it is gone. call() is for the
// thread that asks: it sends the question and serves what the plugin asks of the host meanwhile,
// until the answer is there, a deadline passes or the process is gone. A process that does not
// answer in time, or says what makes no sense, is ended. While there is none, every call is
// answered with kAway, at once.
//
// With a patience (set_patience()) call() keeps its thread no longer than that: it answers kLater,
// the thread of the process waits in its place, for the answer, a request, the deadline or the end,
// and wakes the host. The same call() then goes on. What is asked instead finds the process busy
// (kLater as well), or, when the answer to the former question has come, drops that one. Without
// patience the former question is brought to its end first, and its answer kept for the call() that
// goes on with it.
//
// In a simulation nothing is taken in between calls, and a call waits until the process is there
// again, so that a run depends on calls alone.
//
// create() and call() by one thread at a time; the rest by any.
#pragma once

#include <atomic>
#include <boost/json/object.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "host/plugins/process/child.hpp"
#include "host/plugins/process/frames.hpp"
#include "host/plugins/process/messages.hpp"
#include "sluice/abi.h"

namespace sluice::host {

/// What a process says of the plugin that it is.
struct ProcessHello {
  std::string name, version, description, config_schema;
  bool operator==(const ProcessHello&) const = default;
};

struct ProcessAnswer {
  enum class Kind : std::uint8_t {
    kOk,
    kRetry,
    kRefused,
    kFailed,
    kAway,  ///< nobody answered: the process is gone, or was ended for what it did
    kLater  ///< not yet; the host is woken when there is more
  };
  Kind kind = Kind::kAway;
  std::string text;          ///< why it is not kOk
  boost::json::object body;  ///< the whole answer
};

class PluginProcess {
 public:
  /// Begins to start it. `name`: of the plugin, as the configuration has it.
  PluginProcess(std::string name, ChildSpec spec);
  /// Ends the process. Of a start that is under way nobody waits for the end.
  ~PluginProcess();
  PluginProcess(const PluginProcess&) = delete;
  PluginProcess& operator=(const PluginProcess&) = delete;

  /// Waits for it to say what it is. Before create().
  Result<ProcessHello> hello();
  /// Makes the plugin's instance; `host` is what it asks from now on. `simulated`: see above.
  ProcessAnswer create(const sluice_host_t* host, std::string config, bool simulated);
  ProcessAnswer call(std::string_view hook, const api::JsonMembers& members);
  /// How long call() keeps its thread; 0: until the call is over. Gives what it was. [the thread of
  /// call()]
  Duration set_patience(Duration patience) { return std::exchange(patience_, patience); }
  /// A question is under way, and nothing has come that call() could go on with.
  bool is_waiting() const { return waiting_; }
  /// From now on a process that is started again is activated, too; see activate().
  ProcessAnswer activate();
  /// At once where the process is not there, also while it starts.
  ProcessAnswer deactivate();

  /// How long a call should wait; 0: it is there. A simulation never waits.
  Duration pause() const;
  bool is_up() const { return up_; }
  /// How often it was started again. A plugin knows nothing of what it was told in another life.
  std::uint64_t lives() const { return lives_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  /// A question and what came of it.
  struct Settled {
    std::string hook, members;
    ProcessAnswer answer;
  };

  void run();
  bool start(Lock& lock);
  Result<void> greet(Clock::time_point until);
  Result<std::optional<std::string>> receive(Clock::time_point until);
  Result<bool> flush(Clock::time_point until);
  void watch(Lock& lock);
  void take_in();
  void look_at_deadline(Lock& lock);
  int time_to_deadline() const;
  void take_lines(bool last);
  void bury(Lock& lock);
  void rest(Lock& lock);
  ProcessAnswer ask(std::string_view hook, const api::JsonMembers& members, Clock::duration most);
  ProcessAnswer ask_create();
  ProcessAnswer ask_now(std::string_view hook);
  std::optional<Lock> hold(std::string& why);
  bool is_asked(std::string_view hook, const std::string& members) const;
  std::optional<Settled> settled();
  std::optional<ProcessAnswer> take_kept(std::string_view hook, const std::string& members);
  void finish_former();
  std::optional<ProcessAnswer> begin(std::string_view hook, const api::JsonMembers& members,
                                     Clock::time_point until);
  std::optional<ProcessAnswer> go_on(Clock::time_point until);
  void forget_asked();
  void refuse_request();
  ProcessAnswer wait_aside(Lock& lock);
  std::uint64_t number_under_way() const;
  std::optional<ProcessAnswer> converse(std::uint64_t number, std::string_view hook,
                                        Clock::time_point until, Clock::time_point deadline);
  bool wake_with(Message& said);
  Result<void> check_if_answer(const Message& said) const;
  static Result<Message> read(std::string_view frame);
  Result<bool> take(const Message& said, std::uint64_t number, Clock::time_point until);
  void drop_notes();
  static ProcessAnswer away(const std::string& why);
  ProcessAnswer lose(const std::string& why);
  ProcessAnswer too_long(std::size_t bytes) const;
  std::string too_late(std::string_view hook) const;
  std::string how_it_went(const std::string& otherwise) const;
  static std::string seconds(std::chrono::nanoseconds time);
  void fell_silent(const std::string& otherwise);
  void give_up(const std::string& why);
  void arm(bool socket);
  void wake_host() const;
  void hand_back(Lock& lock);
  void nudge() const;
  void log(int level, const std::string& text) const;
  api::JsonMembers call_head(std::string_view hook);

  const std::string name_;
  const ChildSpec spec_;
  int events_ = -1;  // epoll
  int nudged_ = -1;  // eventfd

  mutable std::mutex mutex_;  // who speaks with the process
  std::condition_variable changed_;
  std::unique_ptr<FrameSocket> socket_;  // guarded by mutex_, as all below
  Child child_;
  std::string config_;
  bool simulated_ = false, created_ = false, hurry_ = false, greeted_ = false;
  ProcessHello hello_;
  std::string why_;       // why there is none
  std::string last_end_;  // why_ of the last life that is over, with what it printed
  std::uint64_t calls_ = 0, tries_ = 0;
  Clock::time_point born_{}, again_at_{};
  Clock::duration next_pause_{};
  std::string line_, last_line_;  // what it printed; of the thread
  Duration patience_ = 0;         // of the thread that asks
  std::uint64_t requests_ = 0;    // of all that it made; guarded by mutex_
  std::optional<Settled> kept_;   // of the thread that asks: nobody came for it yet

  /// The question of call() that is under way.
  struct Asked {
    std::uint64_t number = 0;  ///< 0: none is
    std::string hook, members;
    Clock::time_point deadline{};  ///< while the process is the one that others wait for
    std::optional<Message> came;   ///< what it said and nobody looked at: the answer, or a request
    Clock::time_point came_at{};
    std::string lost;  ///< why no answer comes any more; empty: one may
  };
  /// Held for moments only, also while mutex_ is: what is under way may be looked at while another
  /// life of the process begins.
  mutable std::mutex asked_mutex_;
  Asked asked_;  // guarded by asked_mutex_
  std::atomic<bool> waiting_{false};

  std::atomic<const sluice_host_t*> host_{nullptr};  // set once
  std::atomic<bool> ending_{false}, up_{false}, activated_{false};
  std::atomic<std::int64_t> again_at_ns_{0};
  std::atomic<std::uint64_t> lives_{0};
  std::thread thread_;
};

}  // namespace sluice::host
