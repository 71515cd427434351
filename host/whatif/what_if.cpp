#include "host/whatif/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/json/json.hpp"
#include "host/explain/obstacles.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/whatif/answer.hpp"
#include "host/whatif/estimate.hpp"
#include "host/whatif/happenings.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kEstimate(8);  // for all plays together

ApiError too_late(Duration longest) {
  ApiError out;
  out.code = 504;
  out.reason = "Timeout";
  out.text = fmt::format("the question was not answered within {} s", longest / kSecond);
  out.retry_after_seconds = 1;
  return out;
}

/// Workloads that wait are listed in the order of the estimates.
void add_starts(json::object& status, std::vector<json::object> starts) {
  std::size_t next = 0;
  for (json::value& each : array_of(status, "workloads")) {
    json::object& told = each.get_object();
    const std::string_view decision = api::find_text(told, "decision");
    if (decision != "Waits" && decision != "WaitsForChecks") continue;
    if (next < starts.size()) told["start"] = std::move(starts[next++]);
  }
}

/// What keeps the queue that is asked about from starting anything.
std::vector<std::string> obstacles_of(const Waiting& asked, const ObjectAccess& objects) {
  const std::string& local = asked.local_queue;
  const auto [ns, name] = split_key(local);
  if (!local.empty()) return obstacles_of(objects, std::string(ns), std::string(name));
  std::string text = obstacle_of_queue(objects, asked.cluster_queue);
  return text.empty() ? std::vector<std::string>() : std::vector{std::move(text)};
}

bool is_over(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

}  // namespace

HostWhatIf::HostWhatIf(ForkSource source, const Authorizer& authorizer, Moment moment, Past past,
                       WhatIfLimits limits)
    : source_(std::move(source)),
      authorizer_(authorizer),
      moment_(std::move(moment)),
      past_(std::move(past)),
      limits_(limits),
      thread_("what-if", limits.waiting, limits.waiting_per_user) {}

void HostWhatIf::ask(WhatIfRequest request, Done done) {
  if (auto fits = judge_size(part(request.question, "spec")); !fits) return done(fits.error());
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(limits_.longest);
  const std::string user = request.who.user;
  thread_.ask(user, [this, deadline, request = std::move(request),
                     done = std::move(done)](const ApiError* refused) {
    done(refused ? ApiResult<json::value>(*refused) : carry_out(request, deadline));
  });
}

ApiResult<json::value> HostWhatIf::carry_out(const WhatIfRequest& request,
                                             Deadline deadline) const {
  if (is_over(deadline)) return too_late(limits_.longest);
  auto done = answer(request, deadline);
  if (done) return json::value(std::move(*done));
  return is_over(deadline) ? too_late(limits_.longest) : done.error();
}

ApiResult<json::object> HostWhatIf::answer(const WhatIfRequest& request, Deadline deadline) const {
  Question question;
  question.who = request.who;
  question.field_validation = request.field_validation;
  auto wishes = read_wishes(source_.rules.scheme, part(request.question, "spec"));
  if (!wishes) return wishes.error();
  question.wishes = std::move(*wishes);
  auto waiting = read_waiting(part(request.question, "spec"));
  if (!waiting) return waiting.error();
  question.waiting = std::move(*waiting);
  const May may = [&](const AccessRequest& wish) { return authorizer_.may(request.who, wish); };
  const Exists published = [&](const api::KindInfo& kind, std::string_view key) {
    return source_.store.get(kind, key) != nullptr;
  };
  if (auto allowed = judge_access(question, may, published); !allowed) return allowed.error();
  // Unless the question itself makes the queue, it needs no fork to know that there is none.
  if (question.wishes.empty())
    if (auto there = judge_queue(question.waiting, source_.rules.scheme, may, published); !there)
      return there.error();

  // A user that may not read a namespace's workloads gets no names of them.
  const MayKnow may_know = [&](std::string_view ns) { return may(sight_of_workloads(ns)).allowed; };
  const auto moment = moment_();
  if (!moment) return unavailable(moment.error().text, 1);
  const PutAgain put = [&]() -> ApiResult<Put> {
    Put out;
    auto fork = Fork::make(source_, *moment, deadline);
    if (!fork) return unavailable(fork.error().text, 1);
    out.fork = std::move(*fork);
    out.fork->machine().observe(*out.since);
    out.since->begin(out.fork->engine());
    auto granted = put_question(question, may, out.fork->machine());
    if (!granted) return granted.error();
    out.granted = std::move(*granted);
    const Exists forked = [&](const api::KindInfo& kind, std::string_view key) {
      return out.fork->machine().store().find(kind, key) != nullptr;
    };
    if (auto there = judge_queue(question.waiting, source_.rules.scheme, may, forked); !there)
      return there.error();
    if (auto rested = out.fork->run_to_rest(deadline); !rested)
      return unavailable(rested.error().text, 1);
    out.asked = asked_workloads(*out.fork, question, out.granted, *out.since, may_know);
    return out;
  };
  auto done = put();
  if (!done) return done.error();

  json::object out = request.question;
  json::object status =
      answer_document(*done->fork, question, done->granted, done->asked, *done->since, may_know);
  for (const std::string& each : moment->uncertain)
    array_of(status, "uncertain").emplace_back(each);
  if (question.waiting.asks_of_queue() && may_read_queue(question.waiting, may))
    for (const std::string& each : obstacles_of(question.waiting, done->fork->machine().objects()))
      array_of(status, "warnings").emplace_back(each);
  const bool any_waits = !done->waiting().empty();
  const json::object& spec = part(request.question, "spec");
  if (any_waits && api::find_bool(spec, "estimate", true))
    add_starts(status, estimate_starts(std::move(*done), put, past_ ? past_() : PastRunTimes(),
                                       std::min(deadline, Deadline::clock::now() + kEstimate)));
  out["status"] = std::move(status);
  return out;
}

}  // namespace sluice::host
