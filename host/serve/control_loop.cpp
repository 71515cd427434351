#include "host/serve/control_loop.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "api/json/steps.hpp"
#include "host/base/log.hpp"
#include "host/objects/api_error.hpp"
#include "host/writes/draft.hpp"

namespace sluice::host {
namespace {

// Times of the API have microseconds at the finest.
Time floor_to_microseconds(Time time) { return time - time % 1'000; }

ApiError overloaded() { return too_many_requests("too many writes are waiting; try again later"); }

ApiError waited_too_long(Duration waited, Duration longest) {
  ApiError out;
  out.code = 504;
  out.reason = "Timeout";
  out.text =
      fmt::format("the request waited {} s for its turn, the limit is {} s; nothing was changed",
                  waited / kSecond, longest / kSecond);
  out.retry_after_seconds = 1;
  return out;
}

// The host's own tasks have a lane beside those of the users.
constexpr const char* kHost = "";

// A condition variable adds the time to now, which must not overflow.
constexpr Duration kLongestWait = 3600 * kSecond;

}  // namespace

ControlLoop::ControlLoop(Machine& machine, LiveStore& store, const PluginClock& clock,
                         ControlLoopLimits limits)
    : machine_(machine),
      store_(store),
      clock_(clock),
      limits_(limits),
      published_(store, *machine.rules().intake, clock, machine.ids()),
      aside_("drafts", limits.drafting_threads, limits.waiting_writes) {}

ControlLoop::~ControlLoop() { stop(); }

void ControlLoop::start() {
  thread_ = std::thread([this] { loop(); });
}

void ControlLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
  aside_.stop();
}

void ControlLoop::submit(WriteRequest request, WriteDone done) {
  Write write{std::move(request), std::move(done), clock_.steady()};
  write.request.may_wait = true;
  draft(write);
  push(std::move(write));
}

bool ControlLoop::run_aside(const std::string& user, std::function<void()> task) {
  return aside_.post(user, std::move(task));
}

void ControlLoop::draft(Write& write) const {
  if (write.request.verb == WriteVerb::kDelete) return;
  const std::uint64_t steps = api::Steps::taken();
  write.request.draft = machine_.draft(write.request, published_);
  write.steps = api::Steps::taken() - steps;
  ++write.drafts;
}

void ControlLoop::push(Write write) {
  bool stopping = false;
  WriteDone refused;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
    const std::string user = write.request.user;
    bool room = !stopping_ && queue_.size() + laid_aside_count_ < limits_.waiting_writes;
    if (!stopping_ && !room) {
      // Whoever has most waiting makes room for who has less: a flood refuses itself.
      if (auto shed = queue_.shed(queue_.size_of(user) + 1, kHost)) {
        refused = std::move(std::get<Write>(*shed).done);
        room = true;
      }
    }
    if (room)
      queue_.push(user, std::move(write));
    else
      refused = std::move(write.done);
  }
  work_.notify_one();
  if (refused) refused(stopping ? unavailable("the host is shutting down", 1) : overloaded());
}

/// What it was drafted from has changed, and to do it again would take long here: false else.
bool ControlLoop::send_back(Write& write) {
  if (!write.request.draft) return false;
  if (machine_.holds(write.request)) {
    if (!write.judged) ++drafts_.taken;  // else that was counted before plugins were asked
    return false;
  }
  if (write.steps >= limits_.long_draft && write.drafts < limits_.drafts) {
    auto again = std::make_shared<Write>(std::move(write));
    const std::string user = again->request.user;
    if (aside_.post(user, [this, again] {
          draft(*again);
          push(std::move(*again));
        })) {
      ++drafts_.sent_back;
      return true;
    }
    write = std::move(*again);
  }
  ++drafts_.anew;
  return false;
}

void ControlLoop::post(std::function<void(ObjectAccess&)> task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    queue_.push(kHost, Work{std::move(task), nullptr});
  }
  work_.notify_one();
}

void ControlLoop::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  work_.notify_one();
}

Result<void> ControlLoop::run_and_wait(const std::function<void(ObjectAccess&)>& task) {
  auto promise = std::make_shared<std::promise<Result<void>>>();
  auto future = promise->get_future();
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Error{"the host is shutting down"};
    queue_.push(kHost, Work{task, [promise](const Result<void>& r) { promise->set_value(r); }});
  }
  work_.notify_one();
  return future.get();
}

/// How long there is nothing to do; nullopt: until something comes.
std::optional<Duration> ControlLoop::rest() const {
  std::optional<Duration> out;
  if (const Time next = machine_.next_timer(); next != kNever) out = next - clock_.now();
  if (const auto wanted = end_ ? end_->wants_turn() : std::nullopt)
    out = std::min(out.value_or(kLongestWait), *wanted - clock_.steady());
  for (const Write& each : laid_aside_)
    out = std::min(out.value_or(kLongestWait),
                   each.came + limits_.longest_wait + 1 - clock_.steady());
  return out;
}

/// False: it is time to end.
bool ControlLoop::wait_for_work(Left left) {
  const std::optional<Duration> time = left == Left::kNothing ? rest() : std::nullopt;
  const bool answered =
      std::any_of(laid_aside_.begin(), laid_aside_.end(),
                  [this](const Write& each) { return each.judged && !waits_for_plugins(each); });
  std::unique_lock lock(mutex_);
  const auto ends = [&] { return stopping_ && laid_aside_.empty(); };
  const auto ready = [&] { return answered || !queue_.empty() || ends() || woken_; };
  const auto wait = [&](Duration most) {
    work_.wait_for(lock, std::chrono::nanoseconds(std::min(most, kLongestWait)), ready);
  };
  if (left == Left::kPaused) {
    if (const Duration pause = schedule_from_ - clock_.steady(); pause > 0) wait(pause);
  } else if (left == Left::kNothing) {
    if (!time)
      work_.wait(lock, ready);
    else if (*time > 0)
      wait(*time);
  }
  woken_ = false;
  return !ends() || !queue_.empty();
}

/// nullopt: nothing waits, or the turn has to end here: what others wrote in it is answered before
/// the next long write begins.
std::optional<ControlLoop::Task> ControlLoop::next_task(bool first) {
  const std::lock_guard lock(mutex_);
  const std::string* user = queue_.next();
  if (!first && user && !user->empty() && *user == slow_user_) return std::nullopt;
  return queue_.pop();
}

/// A write that plugins take their time to judge keeps its request.
ApiResult<WriteOutcome> ControlLoop::carry_out(Write& write) {
  const Duration start = clock_.steady(), waited = start - write.came;
  if (waited > limits_.longest_wait) return waited_too_long(waited, limits_.longest_wait);
  const std::string user = write.request.user;
  auto outcome = machine_.attempt(write.request);
  write.judged = outcome && outcome->later;
  if (clock_.steady() - start > limits_.long_write)
    slow_user_ = user;
  else if (user == slow_user_)
    slow_user_.clear();
  return outcome;
}

void ControlLoop::loop() {
  pthread_setname_np(pthread_self(), "control");
  for (Left left = Left::kNothing; wait_for_work(left);) left = turn();
  std::unique_lock lock(mutex_);
  durable_.wait(lock, [this] { return under_way_ == 0; });
}

void ControlLoop::wait_for_transactions() {
  std::unique_lock lock(mutex_);
  durable_.wait(lock, [this] { return under_way_ < limits_.transactions_under_way; });
  ++under_way_;
}

void ControlLoop::answer_or_lay_aside(Write write, std::vector<Answer>& answers) {
  auto outcome = carry_out(write);
  if (outcome && outcome->later)
    lay_aside(std::move(write));
  else
    answers.push_back({std::move(write.done), std::move(outcome)});
}

bool ControlLoop::waits_for_plugins(const Write& write) const {
  const auto& draft = write.request.draft;
  return write.judged && draft->questions->wait() &&
         clock_.steady() - write.came <= limits_.longest_wait;
}

/// What plugins judged is not what it is about any more, so they have to be asked anew. Why not, if
/// that was too often.
std::optional<ApiError> ControlLoop::overtaken(Write& write) const {
  if (!write.judged || machine_.holds(write.request)) return std::nullopt;
  write.judged = false;
  if (++write.overtaken <= limits_.overtaken) return std::nullopt;
  return conflict(*write.request.kind, write.request.name,
                  fmt::format("others changed it {} times while plugins judged this write; "
                              "try again",
                              write.overtaken));
}

void ControlLoop::lay_aside(Write write) {
  if (!write.request.connection.empty()) held_up_.insert(write.request.connection);
  laid_aside_.push_back(std::move(write));
}

/// One of the same connection was laid aside before it.
bool ControlLoop::comes_after_another(const Write& write) const {
  return held_up_.contains(write.request.connection);
}

/// Those that were laid aside and whose plugins have answered, and what came after them.
void ControlLoop::take_up_again(std::vector<Answer>& answers) {
  if (laid_aside_.empty()) return;
  machine_.hear_plugins();
  held_up_.clear();
  for (Write& write : std::exchange(laid_aside_, {})) {
    if (waits_for_plugins(write) || comes_after_another(write))
      lay_aside(std::move(write));
    else if (auto refused = overtaken(write))
      answers.push_back({std::move(write.done), *std::move(refused)});
    else if (!send_back(write))
      answer_or_lay_aside(std::move(write), answers);
  }
}

/// How many tasks there were.
std::size_t ControlLoop::carry_out_writes(std::vector<Answer>& answers, std::vector<Told>& told) {
  pulse_.beat("the turn of the control thread, which carries out writes", clock_.steady());
  const Duration until = clock_.steady() + limits_.writing_per_turn;
  take_up_again(answers);
  std::size_t tasks = answers.size();
  for (; tasks < limits_.writes_per_turn && clock_.steady() <= until; ++tasks) {
    auto task = next_task(tasks == 0);
    if (!task) break;
    if (auto* write = std::get_if<Write>(&*task)) {
      if (comes_after_another(*write)) {
        lay_aside(std::move(*write));
        continue;
      }
      if (send_back(*write)) continue;
      answer_or_lay_aside(std::move(*write), answers);
    } else {
      auto& work = std::get<Work>(*task);
      work.task(machine_.objects());
      if (work.done) told.push_back(std::move(work.done));
    }
  }
  laid_aside_count_ = laid_aside_.size();
  return tasks;
}

/// Runs controllers and cycles, unless they rest while writes come. Cycles that are due anyway do
/// not rest when there are no writes.
ControlLoop::Left ControlLoop::schedule(bool writes_came) {
  const Duration start = clock_.steady();
  const bool goes_on = left_ == Left::kCycles && !writes_came;
  if (start < schedule_from_ && !goes_on) return Left::kPaused;
  pulse_.beat("the turn of the control thread, which runs controllers and scheduling cycles",
              start);
  bool at_rest = machine_.run(1);
  while (!at_rest && clock_.steady() < start + limits_.scheduling_per_turn)
    at_rest = machine_.run(1);
  const Duration end = clock_.steady();
  schedule_from_ = end + std::min(2 * (end - start), limits_.longest_pause);
  return left_ = at_rest ? Left::kNothing : Left::kCycles;
}

ControlLoop::Left ControlLoop::turn() {
  wait_for_transactions();
  machine_.begin_instant(std::max(machine_.now(), floor_to_microseconds(clock_.now())));
  auto answers = std::make_shared<std::vector<Answer>>();
  auto told = std::make_shared<std::vector<Told>>();
  const std::size_t tasks = carry_out_writes(*answers, *told);
  const Left left = schedule(tasks > 0);
  ++turns_;
  {
    const std::lock_guard lock(mutex_);
    commits_.push_back(clock_.steady());
  }
  const std::uint64_t leaves = outgoing_.seal ? outgoing_.seal() : 0;
  store_.commit([this, answers, told, leaves](const Result<void>& durable) {
    const LogBatch audit_lines;
    if (durable && outgoing_.release) outgoing_.release(leaves);
    for (Answer& answer : *answers) {
      if (durable) {
        answer.done(std::move(answer.result));
      } else {
        // The reason names files of the host, and is in its log.
        answer.done(unavailable("the change could not be made durable", 5));
      }
    }
    for (const auto& done : *told) done(durable);
    const std::lock_guard lock(mutex_);
    commits_.pop_front();
    --under_way_;
    durable_.notify_all();  // under the lock: the loop may be destroyed right after
  });
  if (end_) end_->turn_ended(clock_.steady());
  pulse_.rest();
  return left;
}

std::vector<Busy> ControlLoop::busy(Duration longer_than) const {
  std::vector<Busy> out;
  const Duration now = clock_.steady();
  if (auto turn = pulse_.busy("control", now, longer_than)) out.push_back(std::move(*turn));
  const std::lock_guard lock(mutex_);
  if (!commits_.empty() && now - commits_.front() > longer_than)
    out.push_back({"store", "the write of a transaction to the disk", {}, now - commits_.front()});
  return out;
}

}  // namespace sluice::host
