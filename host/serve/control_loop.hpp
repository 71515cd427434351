// ControlLoop: the one thread that changes anything. It owns the Machine and the store's working
// view.
//
// What a write costs with its size is done in a draft (host/writes/draft.hpp), by the thread that
// submits it, against what is published; large requests are read and drafted by threads of their
// own, in turns by user. A draft that does not hold any more when its turn comes is made anew in
// that turn if that is little work, else by those threads, a few times at most.
//
// A turn is one instant and one transaction: the writes that have come in are carried out, those of
// one user in the order in which they came, of several users in turns and for some milliseconds at
// most, so that no user's writes wait for all those of another; a write of a user whose last one
// took long starts a turn of its own. Then controllers and scheduling cycles run (for a few
// milliseconds at most; a longer queue of work goes on in the next turn, so that writers never wait
// for it), then everything is committed together. While writes keep coming, scheduling rests for
// twice as long as it took: a cycle then decides on what came in several turns, and looks once, not
// again and again, at all that waits; a host with little to do does not notice. Answers go out when
// it is durable. While one transaction is being written the next turn runs; a few may be under way,
// no more.
//
// A write that a plugin's process has to judge, and that it does not answer within a moment, is
// laid aside (WriteRequest::may_wait): others go on, and it is carried out again in the turn in
// which the answer, the death of the process or its time-out is there. Where its object changed
// meanwhile it is drafted, and judged, anew, a few times at most. What comes over the same
// connection after it comes after it.
//
// submit() and post() may be called from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <variant>
#include <vector>

#include "host/base/fair_pool.hpp"
#include "host/base/fair_queue.hpp"
#include "host/base/pulse.hpp"
#include "host/controllers/kernel_thread.hpp"
#include "host/machine/machine.hpp"
#include "host/plugins/clock.hpp"
#include "host/store/live_store.hpp"
#include "host/writes/published_view.hpp"

namespace sluice::host {

struct ControlLoopLimits {
  std::size_t writes_per_turn = 256;
  /// More are refused with 429: those of whoever has most waiting, the latest first.
  std::size_t waiting_writes = 10'000;
  Duration writing_per_turn = 20 * kMillisecond;  ///< then the rest waits for the next turn
  Duration longest_wait = 30 * kSecond;           ///< of a write for its turn; 504 beyond it
  Duration scheduling_per_turn = 4 * kMillisecond;
  Duration longest_pause = 50 * kMillisecond;  ///< of scheduling, while writes come
  Duration long_write = 10 * kMillisecond;     ///< the next one of its user starts a turn
  int transactions_under_way = 4;
  std::size_t drafting_threads = 2;   ///< for what is large
  std::uint64_t long_draft = 20'000;  ///< steps; what takes less is drafted anew in its turn
  /// Beside the turn; then it is drafted in it. Of large writes to one object about every second
  /// draft is overtaken, so that hardly one gets so far.
  int drafts = 10;
  int overtaken = 3;  ///< times, while plugins judged it; then it is a conflict
};

/// What became of drafts.
struct DraftCounts {
  std::uint64_t taken = 0;      ///< as they were
  std::uint64_t anew = 0;       ///< made again in the turn, because something changed meanwhile
  std::uint64_t sent_back = 0;  ///< to be made again beside it
};

/// What a turn has to do with besides the machine and its store. [control thread]
class TurnEnd {
 public:
  virtual ~TurnEnd() = default;
  /// After each turn, with what it changed handed to the store.
  virtual void turn_ended(Duration now) = 0;
  /// When it wants a turn, whatever else happens; nullopt: it does not. By the steady clock.
  virtual std::optional<Duration> wants_turn() const = 0;
};

/// What leaves the host because of a turn, and only when that turn is durable.
struct Outgoing {
  /// What there is belongs to the turn that ends; its number. [control thread]
  std::function<std::uint64_t()> seal;
  /// That turn, and all before it, are durable. [the store's thread]
  std::function<void(std::uint64_t)> release;
};

class ControlLoop final : public Writes, public KernelThread {
 public:
  /// All must outlive the loop.
  ControlLoop(Machine& machine, LiveStore& store, const PluginClock& clock,
              ControlLoopLimits limits = {});
  ~ControlLoop() override;  // as stop()

  /// Called at the end of each turn. Before start(); it must outlive the loop.
  void at_end(TurnEnd& end) { end_ = &end; }
  /// Before start(); what it calls must outlive the loop.
  void let_out(Outgoing outgoing) { outgoing_ = std::move(outgoing); }
  void start();
  /// Carries out what was submitted before, then ends the thread. Later submissions are refused.
  void stop();

  /// Takes a turn soon: something outside of the kernel has work for it. From any thread.
  void wake();

  void submit(WriteRequest request, WriteDone done) override;
  bool run_aside(const std::string& user, std::function<void()> task) override;
  void post(std::function<void(ObjectAccess&)> task) override;
  /// As post(), and waits until the turn is durable. Not from the kernel's thread.
  Result<void> run_and_wait(const std::function<void(ObjectAccess&)>& task);

  std::uint64_t turns() const { return turns_; }
  /// [kernel's thread]
  const DraftCounts& drafts() const { return drafts_; }

  /// What of it has been under way for longer than that: its thread, the disk. Any thread.
  std::vector<Busy> busy(Duration longer_than) const;

 private:
  struct Write {
    WriteRequest request;
    WriteDone done;
    Duration came = 0;        ///< by the clock that only goes forward
    int drafts = 0;           ///< that were made of it
    std::uint64_t steps = 0;  ///< that the last one took
    bool judged = false;      ///< plugins are at it
    int overtaken = 0;        ///< how often others changed what it was judged by
  };
  struct Work {
    std::function<void(ObjectAccess&)> task;
    std::function<void(const Result<void>&)> done;  // may be empty
  };
  using Task = std::variant<Write, Work>;
  struct Answer {
    WriteDone done;
    ApiResult<WriteOutcome> result;
  };
  using Told = std::function<void(const Result<void>&)>;

  /// What a turn leaves to do.
  enum class Left : std::uint8_t {
    kNothing,  ///< until the next timer
    kCycles,   ///< at once
    kPaused,   ///< when the pause of scheduling is over
  };

  void loop();
  bool wait_for_work(Left left);
  std::optional<Task> next_task(bool first);
  void draft(Write& write) const;
  void push(Write write);
  bool send_back(Write& write);
  ApiResult<WriteOutcome> carry_out(Write& write);
  void answer_or_lay_aside(Write write, std::vector<Answer>& answers);
  void take_up_again(std::vector<Answer>& answers);
  std::optional<ApiError> overtaken(Write& write) const;
  void lay_aside(Write write);
  bool comes_after_another(const Write& write) const;
  bool waits_for_plugins(const Write& write) const;
  Left turn();
  std::size_t carry_out_writes(std::vector<Answer>& answers, std::vector<Told>& told);
  Left schedule(bool writes_came);
  void wait_for_transactions();

  std::optional<Duration> rest() const;

  Machine& machine_;
  TurnEnd* end_ = nullptr;
  Outgoing outgoing_;  // empty: nothing leaves
  LiveStore& store_;
  const PluginClock& clock_;
  ControlLoopLimits limits_;
  const PublishedView published_;
  DraftCounts drafts_;

  Pulse pulse_;
  mutable std::mutex mutex_;
  std::condition_variable work_, durable_;
  std::deque<Duration> commits_;  // guarded by mutex_: when those under way began, oldest first
  FairQueue<Task> queue_;
  int under_way_ = 0;
  bool stopping_ = false;
  bool woken_ = false;
  Duration schedule_from_ = 0;  // by the clock that only goes forward
  Left left_ = Left::kNothing;  // by the scheduling that ran last
  std::string slow_user_;       // the user whose last write took long; may be empty
  std::atomic<std::uint64_t> turns_{0};
  std::deque<Write> laid_aside_;  // of the kernel's thread, in the order in which they came
  std::unordered_set<std::string> held_up_;  // connections of these
  std::atomic<std::size_t> laid_aside_count_{0};
  std::thread thread_;
  FairPool aside_;
};

}  // namespace sluice::host
