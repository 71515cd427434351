#include "estimates.hpp"

#include <algorithm>

#include "copies.hpp"
#include "forecast.hpp"
#include "names.hpp"

namespace clusters {

using sluice::Again;
using sluice::Json;
using sluice::ObjectRef;

namespace {

constexpr std::int64_t kNotFound = 404;
// One that answers no questions is asked again after so long: it may have become another.
constexpr std::int64_t kSilent = 600'000 * kMillisecond;

}  // namespace

Again sooner(Again one, Again other) {
  return one.after_ms == 0 || (other.after_ms > 0 && other.after_ms < one.after_ms) ? other : one;
}

std::optional<std::vector<std::string>> Estimates::place_of(const Case& of) const {
  const auto asking = asking_.find(of.check);
  if (asking == asking_.end()) return std::nullopt;
  const auto* places = asking->second.place_of(key_of(of.name));
  return places == nullptr ? std::nullopt : std::optional(*places);
}

void Estimates::forget(const std::string& check, const WorkloadName& workload) {
  if (const auto asking = asking_.find(check); asking != asking_.end())
    asking->second.forget(key_of(workload));
}

Again Estimates::follow(const Case& of, const std::vector<Place>& places, const Plan& plan) {
  Asking& asking = asking_[of.check];
  const std::string key = key_of(of.name);
  const bool arrived = std::any_of(places.begin(), places.end(), [&](const Place& place) {
    return (place.workload.there && place.workload.attempt == of.local.attempt) ||
           place.workload_write.failed;
  });
  if (arrived || !of.local.wants) asking.arrived(key);
  if (!of.local.wants) asking.forget(key);
  if (plan.ask) asking.want(key);
  return sooner(Again{plan.again_ms}, go_on(of.check));
}

/// The clusters of a check that can be asked now.
std::vector<std::string> Estimates::who_tells(const std::string& check) const {
  std::vector<std::string> out;
  for (const std::string& cluster : cases_.clusters_of(check)) {
    const auto state = context_.remotes().state(cluster);
    if (state && state->connected && state->synced) out.push_back(cluster);
  }
  return out;
}

/// Asks the next question of a check, if it is time for one; when to look again.
Again Estimates::go_on(const std::string& check) {
  Asking& asking = asking_[check];
  for (;;) {
    const std::int64_t now = context_.now() / kMillisecond;
    for (const std::string& key : asking.conclude(now)) settle_(named(key));
    const std::vector<std::string> clusters = who_tells(check);
    const Asking::Question question = asking.next(clusters, now);
    if (question.workloads.empty()) return Again{asking.again_ms(now)};
    std::vector<Json> copies;
    for (const std::string& key : question.workloads) {
      const auto [ns, name] = named(key);
      if (const auto workload =
              context_.objects().find({std::string(kKueue), "Workload", ns, name}))
        copies.push_back(workload_copy(*workload, {cases_.settings().origin, {}, 0}));
    }
    const Json asked = question_about(copies, question.estimate);
    for (const std::string& cluster : clusters)
      if (!put(cluster, check, asked)) asking.hear({cluster, {}, {}, {}});
  }
}

/// Whether the cluster is asked: others are known not to answer.
bool Estimates::put(const std::string& cluster, const std::string& check, const Json& question) {
  const auto silent = silent_until_.find(cluster);
  if (silent != silent_until_.end() && silent->second > context_.now()) return false;
  const ObjectRef ref{std::string(kWhatIfVersion), std::string(kWhatIfKind), "", check};
  return static_cast<bool>(context_.remotes().ask(cluster, ref, question));
}

Again Estimates::hear(const ObjectRef& question) {
  const auto told = context_.remotes().answer(question.remote, question);
  if (told && !told->waiting) {
    if (told->code == kNotFound) silent_until_[question.remote] = context_.now() + kSilent;
    asking_[question.name].hear(told->answer ? read_outlook(question.remote, *told->answer)
                                             : Outlook{question.remote, {}, {}, {}});
  }
  return go_on(question.name);
}

}  // namespace clusters
