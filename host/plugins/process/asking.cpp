// How a plugin's process is asked: the side of the thread that calls.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "api/json/json.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/process/forms.hpp"
#include "host/plugins/process/plugin_process.hpp"
#include "host/plugins/process/services.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace {

using std::chrono::nanoseconds;

constexpr const char* kGone = "its process is not there; it is started again";
constexpr std::chrono::microseconds kLookAgain{20};

ProcessAnswer read_answer(boost::json::object body) {
  ProcessAnswer out;
  out.kind = ProcessAnswer::Kind::kOk;
  const std::pair<const char*, ProcessAnswer::Kind> others[] = {
      {"failed", ProcessAnswer::Kind::kFailed}, {"refused", ProcessAnswer::Kind::kRefused}};
  for (const auto& [key, kind] : others) {
    if (api::find(body, key) == nullptr) continue;
    out.kind = kind;
    out.text = shown_text(api::find_text(body, key));
  }
  if (api::find_bool(body, "retry", false)) out.kind = ProcessAnswer::Kind::kRetry;
  out.body = std::move(body);
  return out;
}

}  // namespace

Result<ProcessHello> PluginProcess::hello() {
  Lock lock(mutex_);
  changed_.wait(lock, [this] { return up_ || tries_ > 0; });
  if (!up_) return Error{last_end_};  // it may be at its next try already
  return hello_;
}

ProcessAnswer PluginProcess::create(const sluice_host_t* host, std::string config, bool simulated) {
  Lock lock(mutex_);
  host_ = host;
  config_ = std::move(config);
  simulated_ = simulated;
  if (!up_) return away(why_.empty() ? "its process is gone" : why_);
  arm(false);
  ProcessAnswer answer = ask_create();
  created_ = answer.kind == ProcessAnswer::Kind::kOk;
  hand_back(lock);
  return answer;
}

ProcessAnswer PluginProcess::ask_create() {
  api::JsonMembers members;
  members.document("config", config_).boolean("simulated", simulated_);
  return ask("plugin.create", members, nanoseconds(spec_.process.start_timeout));
}

ProcessAnswer PluginProcess::activate() {
  {
    const Lock lock(mutex_);
    activated_ = true;
  }
  return ask_now("plugin.activate");
}

ProcessAnswer PluginProcess::deactivate() {
  activated_ = false;
  return ask_now("plugin.deactivate");
}

/// Once it is there. In a simulation it is waited for; else nobody is, who begins a new life
/// either.
std::optional<PluginProcess::Lock> PluginProcess::hold(std::string& why) {
  if (!simulated_) {
    why = kGone;
    Lock lock(mutex_, std::defer_lock);
    while (!lock.try_lock()) {
      if (!up_) return std::nullopt;
      std::this_thread::sleep_for(kLookAgain);  // another thread's call may take its whole timeout
    }
    if (up_) return lock;
    return std::nullopt;
  }
  Lock lock(mutex_);
  if (!up_) {
    hurry_ = true;
    const std::uint64_t tries = tries_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return up_ || ending_ || tries_ > tries; });
  }
  if (up_) return lock;
  why = "its process does not start: " + why_;
  return std::nullopt;
}

/// Whatever the patience.
ProcessAnswer PluginProcess::ask_now(std::string_view hook) {
  std::string why;
  auto lock = hold(why);
  if (!lock) return away(why);
  if (number_under_way() != 0) return away("it has not answered the last question");
  if (simulated_) drop_notes();
  arm(false);
  ProcessAnswer answer = ask(hook, {}, nanoseconds(spec_.process.call_timeout));
  hand_back(*lock);
  return answer;
}

void PluginProcess::forget_asked() {
  const std::lock_guard asked(asked_mutex_);
  asked_ = {};
  waiting_ = false;
}

/// What is known of the question without the process: the answer, or that none comes.
std::optional<PluginProcess::Settled> PluginProcess::settled() {
  const std::lock_guard asked(asked_mutex_);
  if (asked_.number == 0) return std::nullopt;
  const bool answered = asked_.came && asked_.came->type == Message::Type::kAnswer;
  if (!answered && asked_.lost.empty()) return std::nullopt;
  Settled out{std::move(asked_.hook), std::move(asked_.members), {}};
  out.answer = answered ? read_answer(std::move(asked_.came->body)) : away(asked_.lost);
  asked_ = {};
  waiting_ = false;
  return out;
}

/// What came of this question while another one could not wait for it.
std::optional<ProcessAnswer> PluginProcess::take_kept(std::string_view hook,
                                                      const std::string& members) {
  if (!kept_ || kept_->hook != hook || kept_->members != members) return std::nullopt;
  return std::exchange(kept_, std::nullopt)->answer;
}

bool PluginProcess::is_asked(std::string_view hook, const std::string& members) const {
  const std::lock_guard asked(asked_mutex_);
  return asked_.number != 0 && asked_.hook == hook && asked_.members == members;
}

ProcessAnswer PluginProcess::call(std::string_view hook, const api::JsonMembers& members) {
  const std::string text = members.take();
  if (auto known = take_kept(hook, text)) return *known;
  const bool same = is_asked(hook, text);
  const auto take_settled = [&]() -> std::optional<ProcessAnswer> {
    auto known = settled();
    if (!known) return std::nullopt;
    if (same) return known->answer;
    if (patience_ == 0) kept_ = std::move(known);  // else nobody comes for that one
    return std::nullopt;
  };
  if (auto known = take_settled()) return *known;
  if (same && waiting_ && patience_ > 0) return {ProcessAnswer::Kind::kLater, "", {}};
  std::string why;
  auto lock = hold(why);
  if (auto known = take_settled()) return *known;
  if (!lock) return away(why);
  if (simulated_) drop_notes();
  arm(false);
  if (!same && number_under_way() != 0) {
    if (patience_ > 0) {
      refuse_request();
      return wait_aside(*lock);
    }
    finish_former();
    if (!up_) {
      hand_back(*lock);
      return away(why_);
    }
  }
  const nanoseconds patience(patience_);
  const auto now = Clock::now();
  auto answer = same ? go_on(now + patience) : begin(hook, members, now + patience);
  if (!answer) return wait_aside(*lock);
  forget_asked();
  hand_back(*lock);
  return *answer;
}

/// Nobody comes for the answer to the former question: what it asks for meanwhile it does not get.
void PluginProcess::refuse_request() {
  std::optional<Message> request;
  {
    const std::lock_guard asked(asked_mutex_);
    request = std::exchange(asked_.came, std::nullopt);
  }
  if (request && !socket_->has_unsent() &&
      !socket_->begin_send(reply_not_now(*request), Clock::time_point{}))
    give_up("it does not read what it is sent");
}

/// The question that comes cannot wait: the one under way is brought to its end, and kept. What it
/// asks for meanwhile it gets as far as the new one may; then it counts as not asked, since its own
/// call was not there. REQUIRES: the lock, and that nobody else reads.
void PluginProcess::finish_former() {
  Asked former;
  {
    const std::lock_guard asked(asked_mutex_);
    former = std::exchange(asked_, {});
    waiting_ = false;
  }
  if (former.came) former.deadline += Clock::now() - former.came_at;
  const std::uint64_t requests = requests_;
  std::optional<ProcessAnswer> answer;
  if (former.came)
    if (auto taken = take(*former.came, former.number, former.deadline); !taken)
      answer = lose(taken.error().text);
  if (!answer) answer = converse(former.number, former.hook, former.deadline, former.deadline);
  if (requests_ != requests && !former.hook.starts_with("validator."))
    answer = away("another question could not wait for its answer");
  kept_ = {std::move(former.hook), std::move(former.members), std::move(*answer)};
}

/// The thread of the process waits in the place of the one that asks.
ProcessAnswer PluginProcess::wait_aside(Lock& lock) {
  {
    const std::lock_guard asked(asked_mutex_);
    waiting_ = asked_.number != 0 && !asked_.came && asked_.lost.empty();
  }
  hand_back(lock);
  nudge();  // it has a deadline now
  return {ProcessAnswer::Kind::kLater, "", {}};
}

/// nullopt: there is no answer yet. REQUIRES: the lock, and that nobody else reads.
std::optional<ProcessAnswer> PluginProcess::begin(std::string_view hook,
                                                  const api::JsonMembers& members,
                                                  Clock::time_point until) {
  const std::uint64_t number = ++calls_;
  const std::string text = call_head(hook).members(members).take();
  if (text.size() > kFrameBytes) return too_long(text.size());
  const auto deadline = Clock::now() + nanoseconds(spec_.process.call_timeout);
  if (patience_ == 0 || until > deadline) until = deadline;
  if (until < deadline) {
    const std::lock_guard asked(asked_mutex_);
    asked_ = {number, std::string(hook), members.take(), deadline, {}, {}, {}};
  }
  if (auto sent = socket_->begin_send(text, until); !sent && until == deadline)
    return lose(how_it_went(sent.error().text));
  return converse(number, hook, until, deadline);
}

/// The same of a question that is under way.
std::optional<ProcessAnswer> PluginProcess::go_on(Clock::time_point until) {
  std::optional<Message> request;
  std::uint64_t number = 0;
  Clock::time_point deadline;
  std::string hook;
  {
    const std::lock_guard asked(asked_mutex_);
    request = std::exchange(asked_.came, std::nullopt);
    if (request) asked_.deadline += Clock::now() - asked_.came_at;  // it waited for us
    waiting_ = false;
    number = asked_.number;
    deadline = asked_.deadline;
    hook = asked_.hook;
  }
  if (patience_ == 0 || until > deadline) until = deadline;
  if (request)
    if (auto taken = take(*request, number, until); !taken) return lose(taken.error().text);
  return converse(number, hook, until, deadline);
}

/// Until the answer is there; nullopt: `until` has come before the deadline, or the process is gone
/// and its thread sees to that. REQUIRES: as begin().
std::optional<ProcessAnswer> PluginProcess::converse(std::uint64_t number, std::string_view hook,
                                                     Clock::time_point until,
                                                     Clock::time_point deadline) {
  const bool to_the_end = until >= deadline;
  const auto over = [&](const std::string& why) {
    return to_the_end ? std::optional(lose(why)) : std::nullopt;
  };
  const auto gone = [&](const std::string& how) {  // which takes a moment to find out
    return to_the_end ? std::optional(lose(how_it_went(how))) : std::nullopt;
  };
  for (;;) {
    if (socket_->has_unsent()) {
      const auto sent = flush(until);
      if (!sent) return gone(sent.error().text);
      if (!*sent) return over("it does not read what it is sent");
    }
    auto frame = receive(until);
    if (!frame) return gone(frame.error().text);
    if (!*frame) return over(too_late(hook));
    auto said = read(**frame);
    if (!said) return lose("it sent " + said.error().text);
    if (said->type == Message::Type::kAnswer && said->number == number) {
      if (auto formed = check_answer(hook, said->body); !formed) return lose(formed.error().text);
      return read_answer(std::move(said->body));
    }
    if (const auto taken = take(*said, number, until); !taken) return lose(taken.error().text);
    // Who always has something to say is no better than who says nothing.
    if (Clock::now() >= until) return over(too_late(hook));
  }
}

/// What it says, if it may be so long.
Result<Message> PluginProcess::read(std::string_view frame) {
  auto said = parse_message(frame);
  if (said && said->type == Message::Type::kNote && frame.size() > kNoteBytes)
    return Error{
        fmt::format("a note of {} bytes; at most {} are allowed", frame.size(), kNoteBytes)};
  return said;
}

/// REQUIRES: the lock.
ProcessAnswer PluginProcess::lose(const std::string& why) {
  give_up(why);
  return away(why);
}

std::string PluginProcess::too_late(std::string_view hook) const {
  return fmt::format("it did not answer {} within {}, and was ended", hook,
                     seconds(nanoseconds(spec_.process.call_timeout)));
}

ProcessAnswer PluginProcess::too_long(std::size_t bytes) const {
  return {ProcessAnswer::Kind::kFailed,
          fmt::format("what it is to be told has {} bytes; a frame holds {}", bytes, kFrameBytes),
          {}};
}

/// After a call the thread looks at the socket again, and at what came with the answer. It is woken
/// without the lock: it would find it taken, and wait for the next wake.
void PluginProcess::hand_back(Lock& lock) {
  if (up_) arm(!simulated_);
  const bool more = up_ && socket_->has_more();
  lock.unlock();
  if (more) nudge();
}

api::JsonMembers PluginProcess::call_head(std::string_view hook) {
  api::JsonMembers head;
  head.number("call", static_cast<std::int64_t>(calls_)).text("hook", hook);
  head.number("now", HostSide::of(host_).services().clock->now());
  return head;
}

/// Without patience. REQUIRES: the lock, and that nobody else reads.
ProcessAnswer PluginProcess::ask(std::string_view hook, const api::JsonMembers& members,
                                 Clock::duration most) {
  const std::uint64_t number = ++calls_;
  const auto until = Clock::now() + most;
  const std::string text = call_head(hook).members(members).take();
  if (text.size() > kFrameBytes) return too_long(text.size());
  if (auto sent = socket_->begin_send(text, Clock::now()); !sent)  // converse() sends the rest
    return lose(how_it_went(sent.error().text));
  return *converse(number, hook, until, until);
}

/// Anything but the answer that is waited for; `number`: of the call that is under way, 0: none.
Result<bool> PluginProcess::take(const Message& said, std::uint64_t number,
                                 Clock::time_point until) {
  switch (said.type) {
    case Message::Type::kHello:
      return Error{"it said hello a second time"};
    case Message::Type::kAnswer:
      if (number == 0)
        return Error{fmt::format("it answered call {}, while none is under way", said.number)};
      return Error{
          fmt::format("it answered call {}, while call {} is under way", said.number, number)};
    case Message::Type::kCall:
    case Message::Type::kReply:
      return Error{"it sent a message that only the host sends"};
    case Message::Type::kNote:
      if (host_ == nullptr) return Error{"it sent a note before it was created"};
      if (auto noted = take_note(host_, said); !noted) return noted.error();
      return true;
    case Message::Type::kRequest:
      break;
  }
  if (host_ == nullptr) return Error{"it asked for something before it was created"};
  ++requests_;
  std::string reply = reply_to(host_, said);
  if (reply.size() > kFrameBytes) reply = reply_too_long(said, reply.size());
  if (socket_->has_unsent()) return Error{"it does not read what it is sent"};
  if (auto sent = socket_->begin_send(reply, until); !sent) return sent.error();
  return true;
}

/// In a simulation: what came after the last answer came at no moment that can be repeated.
void PluginProcess::drop_notes() {
  for (;;) {
    auto frame = socket_->receive(Clock::time_point{});
    if (!frame || !*frame) return;  // the call finds out
    log(2, "what it says between calls is not heard in a simulation");
  }
}

ProcessAnswer PluginProcess::away(const std::string& why) {
  return {ProcessAnswer::Kind::kAway, why, {}};
}

}  // namespace sluice::host
