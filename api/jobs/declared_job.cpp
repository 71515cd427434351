#include "api/jobs/declared_job.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "api/json/parts.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostPodSets = 18;  // of a workload
/// Where the controller that runs the pods reports on them, in one form for all declared kinds.
constexpr std::string_view kPodSets = "podSets";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

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
                               {"active", each.active},
                               {"ready", each.ready},
                               {"succeeded", each.succeeded},
                               {"failed", each.failed}});
  return out;
}

Result<std::int32_t> pods(const CountExpression& expression, const CountScope& scope,
                          const std::string& what) {
  const auto number = expression.value(scope);
  if (!number) return Error{what + ": " + number.error().text};
  if (*number < 0 || *number > std::numeric_limits<std::int32_t>::max())
    return Error{what + " is " + std::to_string(*number) +
                 "; allowed is a number from 0 to 2147483647"};
  return static_cast<std::int32_t>(*number);
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
  if (path) {
    json::object whole{{"status", std::move(status_object)}};
    const JsonPlace place = path->members();
    json::object& holder = holder_of(whole, place);
    if (on)
      holder[place.back()] = values.front();
    else if (holder.contains(place.back()) && text_of(holder.at(place.back())) == values.front())
      holder.erase(place.back());
    status_object = std::move(whole["status"].get_object());
    return;
  }
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

void DeclaredJob::read_one(const DeclaredPodSet& declared, const CountScope& scope,
                           Reading& out) const {
  const auto problem = [&](std::string text) {
    if (out.problem.empty()) out.problem = std::move(text);
  };
  Found found;
  found.set.name = declared.name_is_key ? scope.place.back() : declared.name;
  if (declared.name_path) found.set.name = first_text(declared.name_path, scope.element);
  found.set.name = lower(found.set.name);
  const std::string who = "pod set " + found.set.name;
  found.pod_template = scope.place;
  found.pod_template.insert(found.pod_template.end(), declared.pod_template.begin(),
                            declared.pod_template.end());
  const json::value* own = at_place(scope.whole, found.pod_template);
  if ((!own || own->is_null()) && declared.optional) return;
  if (!own || !own->is_object())
    problem(who + ": " + dotted(found.pod_template) +
            (own ? " is no pod template" : " is not there; its pods are described by it"));
  if (declared.count) {
    const auto count = pods(*declared.count, scope, who + ": count");
    found.set.count = count ? *count : 0;
    if (!count) problem(count.error().text);
    const JsonPlace place = declared.count->lone_place();
    if (!place.empty()) {
      found.count = scope.place;
      found.count.insert(found.count.end(), place.begin(), place.end());
    }
  }
  if (declared.min_count) {
    // What is not there asks for nothing.
    const auto least = declared.min_count->value(scope);
    if (least && *least > 0 && *least < found.set.count)
      found.set.min_count = static_cast<std::int32_t>(*least);
  }
  out.sets.push_back(std::move(found));
}

DeclaredJob::Reading DeclaredJob::read(const json::object& job) const {
  Reading out;
  for (const DeclaredPodSet& declared : pod_sets_) {
    if (!declared.for_each) {
      read_one(declared, {job, job, {}}, out);
      continue;
    }
    for (JsonPath::Found& each : declared.for_each->places(job)) {
      if (out.sets.size() > kMostPodSets) break;
      if (const json::object* element = each.value->if_object())
        read_one(declared, {job, *element, std::move(each.place)}, out);
      else if (out.problem.empty())
        out.problem = dotted(each.place) + " is " + to_json(*each.value) + "; allowed is an object";
    }
  }
  if (out.sets.size() > kMostPodSets)
    out.problem = "it has more than " + std::to_string(kMostPodSets) +
                  " pod sets; so many at most can be queued";
  if (out.sets.empty() && out.problem.empty()) out.problem = "it has no pod set";
  std::set<std::string_view> names;
  for (const Found& each : out.sets)
    if (out.problem.empty() && (each.set.name.empty() || !names.insert(each.set.name).second))
      out.problem = each.set.name.empty() ? "a pod set has no name"
                                          : "two pod sets have the name " + each.set.name;
  return out;
}

std::vector<JobPodSet> DeclaredJob::pod_sets(const json::object& job) const {
  std::vector<JobPodSet> out;
  for (Found& each : read(job).sets) out.push_back(std::move(each.set));
  return out;
}

json::object* DeclaredJob::pod_template(json::object& job, std::size_t i) const {
  const Reading reading = read(job);
  json::value* own =
      i < reading.sets.size() ? at_place(job, reading.sets[i].pod_template) : nullptr;
  return own ? own->if_object() : nullptr;
}

std::string DeclaredJob::template_path(const json::object& job, std::size_t i) const {
  const Reading reading = read(job);
  return i < reading.sets.size() ? dotted(reading.sets[i].pod_template) : std::string("spec");
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
  std::int64_t wanted = 0;
  for (const JobPodSet& set : pod_sets(job)) wanted += set.count;
  return sum_of(status, "ready") + sum_of(status, "succeeded") >= std::min(wanted, granted);
}

std::vector<FinishedPods> DeclaredJob::finished_pods(const json::object& job) const {
  std::vector<FinishedPods> out;
  if (!ends()) return out;
  for_each_object(part(job, "status"), kPodSets, [&](const json::object& set) {
    const std::int32_t done = find_int32(set, "succeeded").value_or(0);
    if (done > 0) out.push_back({text_in(set, "name"), done});
  });
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
  const Reading reading = read(job);
  if (!reading.problem.empty()) return reading.problem;
  if (const json::value* value = at_place(job, suspend_);
      value && !value->is_bool() && !value->is_null() && !value->is_string())
    return dotted(suspend_) + " is " + to_json(*value) + "; allowed are true and false";
  return {};
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
  const bool good = report.stage == JobStage::kSucceeded;
  const std::vector<JobTest>& tests = good ? succeeded_ : failed_;
  if (!tests.empty())
    tests.front().set(status, true, good ? "PodsSucceeded" : "PodFailed",
                      report.message.empty() && good ? "All pods succeeded" : report.message, now);
  status["completionTime"] = format_time(now / kSecond * kSecond);
  return status;
}

}  // namespace sluice::api
