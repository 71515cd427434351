#include "api/jobs/declared_job.hpp"

#include <algorithm>

#include "api/json/parts.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

/// Where the controller that runs the pods reports on them, in one form for all declared kinds.
constexpr std::string_view kPodSets = "podSets";

std::string text_of(const json::value& value) {
  const auto* text = value.if_string();
  return text ? std::string(view(*text)) : to_json(value);
}

std::string first_text(const std::optional<JsonPath>& path, const json::object& object) {
  if (!path) return {};
  const auto found = path->find(object);
  return found.empty() ? std::string() : text_of(*found.front());
}

bool any(const std::vector<JobTest>& tests, const json::object& job) {
  return std::any_of(tests.begin(), tests.end(),
                     [&](const JobTest& test) { return test.passes(job); });
}

/// The objects that lead to the last name, made where they are missing.
json::object& holder_of(json::object& object, const JsonPlace& place) {
  json::object* at = &object;
  for (std::size_t i = 0; i + 1 < place.size(); ++i) at = &object_of(*at, place[i]);
  return *at;
}

/// Writes a text below status, or takes it away where it stands.
void set_text(json::object& status, const JsonPlace& place, const std::string& text, bool on) {
  json::object whole{{"status", std::move(status)}};
  json::object& holder = holder_of(whole, place);
  if (on)
    holder[place.back()] = text;
  else if (holder.contains(place.back()) && text_of(holder.at(place.back())) == text)
    holder.erase(place.back());
  status = std::move(whole["status"].get_object());
}

/// What the first of them that passes says; empty: none passes.
std::string said_by(const std::vector<JobTest>& tests, const json::object& job) {
  for (const JobTest& test : tests)
    if (test.passes(job)) return test.says;
  return {};
}

/// What is told of one pod set; empty: nothing.
const json::object& told_of(const json::object& status, std::string_view name) {
  static const json::object kNothing;
  const json::object* out = &kNothing;
  for_each_object(status, kPodSets, [&](const json::object& set) {
    if (find_text(set, "name") == name) out = &set;
  });
  return *out;
}

std::int64_t sum_of(const json::object& status, std::string_view field) {
  std::int64_t total = 0;
  for_each_object(status, kPodSets,
                  [&](const json::object& set) { total += find_int(set, field).value_or(0); });
  return total;
}

json::array told(const std::vector<PodCounts>& pods) {
  json::array out;
  for (const PodCounts& each : pods)
    out.push_back(json::object{{"name", each.pod_set},
                               {"count", each.wanted},
                               {"total", each.total},
                               {"active", each.active},
                               {"ready", each.ready},
                               {"succeeded", each.succeeded},
                               {"failed", each.failed}});
  return out;
}

}  // namespace

bool JobTest::passes(const json::object& job) const {
  if (holds) {
    const auto value = holds->value({job, job, {}});
    return value.ok() && *value != 0;
  }
  if (path) {
    for (const json::value* each : path->find(job))
      if (std::find(values.begin(), values.end(), text_of(*each)) != values.end()) return true;
    return false;
  }
  const json::object* found = find_condition(part(job, "status"), condition);
  return found && find_text(*found, "status") == status;
}

std::string JobTest::message(const json::object& job) const {
  const json::object* found =
      condition.empty() ? nullptr : find_condition(part(job, "status"), condition);
  return found ? text_in(*found, "message") : std::string();
}

bool JobTest::can_be_set() const {
  if (!path) return !condition.empty();
  const JsonPlace place = path->members();
  return place.size() > 1 && place.front() == "status";
}

void JobTest::set(json::object& status_object, bool on, std::string_view reason,
                  std::string_view text, Time now) const {
  for (const auto& [place, value] : also) set_text(status_object, place, value, on);
  if (path) return set_text(status_object, path->members(), values.front(), on);
  const std::string_view other = status == "True" ? "False" : "True";
  const std::string_view wanted = on ? std::string_view(status) : other;
  json::object next{{"type", condition},
                    {"status", json_view(wanted)},
                    {"reason", json_view(reason)},
                    {"message", json_view(text)},
                    {"lastTransitionTime", format_time(now / kSecond * kSecond)}};
  if (!on && !find_condition(status_object, condition)) return;
  put_condition(status_object, std::move(next));
}

json::object DeclaredJob::set_count(json::object& job, std::size_t i, std::int32_t count) const {
  const Reading reading = read(job);
  json::object replaced;
  if (i >= reading.sets.size() || reading.sets[i].count.size() < 2) return replaced;
  const JsonPlace& place = reading.sets[i].count;
  const json::value* before = at_place(std::as_const(job), place);
  if (before && whole_number(*before).ok() && *whole_number(*before) == count) return replaced;
  const JsonPlace holder(place.begin(), place.end() - 1);
  json::value* at = at_place(job, holder);
  if (!at || !at->is_object()) return replaced;
  replaced[place_text(std::span(place).subspan(1))] = before ? *before : json::value();
  at->get_object()[place.back()] = count;
  return replaced;
}

std::string DeclaredJob::priority_class(const json::object& job) const {
  std::string named = first_text(priority_class_, job);
  return named.empty() ? JobKind::priority_class(job) : named;
}

bool DeclaredJob::suspended(const json::object& job) const {
  const json::value* value = at_place(job, suspend_);
  if (!value) return false;
  const auto* text = value->if_string();
  return text ? view(*text) == "true" : value->is_bool() && value->get_bool();
}

void DeclaredJob::set_suspended(json::object& job, bool suspended) const {
  json::value& value = holder_of(job, suspend_)[suspend_.back()];
  if (suspend_.front() == "metadata")
    value = suspended ? "true" : "false";
  else
    value = suspended;
}

bool DeclaredJob::active(const json::object& job) const {
  const json::object& status = part(job, "status");
  if (find_array(status, kPodSets)) return sum_of(status, "active") > 0;
  return any(active_, job);
}

bool DeclaredJob::pods_ready(const json::object& job, std::int64_t granted) const {
  const json::object& status = part(job, "status");
  if (!find_array(status, kPodSets)) return any(ready_, job);
  std::int64_t wanted = 0, there = 0;
  for (const JobPodSet& set : pod_sets(job)) {
    const json::object& known = told_of(status, set.name);
    wanted += set.count;
    there += std::min<std::int64_t>(
        set.count, find_int(known, "ready").value_or(0) + find_int(known, "succeeded").value_or(0));
  }
  return there >= std::min(wanted, granted);
}

std::vector<FinishedPods> DeclaredJob::finished_pods(const json::object& job) const {
  std::vector<FinishedPods> out;
  if (!ends()) return out;
  const json::object& status = part(job, "status");
  if (!find_array(status, kPodSets)) {
    for (const Found& each : read(job).sets)
      if (each.finished > 0) out.push_back({each.set.name, each.finished});
    return out;
  }
  for (const JobPodSet& set : pod_sets(job)) {
    // The next ones run in the place of those that succeeded, as long as there are any.
    const std::int32_t left =
        set.to_succeed() - find_int32(told_of(status, set.name), "succeeded").value_or(0);
    if (left < set.count) out.push_back({set.name, set.count - std::max(0, left)});
  }
  return out;
}

std::optional<JobEnd> DeclaredJob::end(const json::object& job) const {
  for (const bool good : {true, false}) {
    for (const JobTest& test : good ? succeeded_ : failed_) {
      if (!test.passes(job)) continue;
      std::string message = first_text(message_, job);
      if (message.empty()) message = test.message(job);
      if (message.empty()) message = good ? "Job finished successfully" : "Job failed";
      return JobEnd{good, std::move(message)};
    }
  }
  return std::nullopt;
}

std::string DeclaredJob::unfit(const json::object& job) const {
  if (std::string said = said_by(unfit_, job); !said.empty()) return said;
  const Reading reading = read(job);
  if (!reading.problem.empty()) return reading.problem;
  if (const json::value* value = at_place(job, suspend_);
      value && !value->is_bool() && !value->is_null() && !value->is_string())
    return dotted(suspend_) + " is " + to_json(*value) + "; allowed are true and false";
  return {};
}

std::string DeclaredJob::unfit_on_host(const json::object& job) const {
  return said_by(unfit_on_host_, job);
}

json::object DeclaredJob::status_with(const json::object& job, const JobReport& report,
                                      Time now) const {
  json::object status = part(job, "status");
  status[kPodSets] = told(report.pods);
  if (end(job)) return status;  // only its last pods are still going
  const bool ready = report.stage == JobStage::kReady;
  const bool ended =
      ends() && (report.stage == JobStage::kSucceeded || report.stage == JobStage::kFailed);
  if (report.stage == JobStage::kStopped)
    status.erase("startTime");
  else if (!status.contains("startTime"))
    status["startTime"] = format_time(now / kSecond * kSecond);
  if (!ready_.empty() && !ended && ready_.front().can_be_set())
    ready_.front().set(status, ready, ready ? "PodsReady" : "PodsNotReady",
                       ready ? "All pods are ready or succeeded" : "Not all pods are ready", now);
  if (!ended) return status;
  if (!ready_.empty() && ready_.front().can_be_set())
    ready_.front().set(status, false, "Ended", "The job has ended", now);
  if (const JsonPlace place = message_ ? message_->members() : JsonPlace();
      !report.message.empty() && place.size() > 1 && place.front() == "status")
    set_text(status, place, report.message, true);
  const bool good = report.stage == JobStage::kSucceeded;
  const std::vector<JobTest>& tests = good ? succeeded_ : failed_;
  if (!tests.empty())
    tests.front().set(status, true, good ? "PodsSucceeded" : "PodFailed",
                      report.message.empty() && good ? "All pods succeeded" : report.message, now);
  status["completionTime"] = format_time(now / kSecond * kSecond);
  return status;
}

}  // namespace sluice::api
