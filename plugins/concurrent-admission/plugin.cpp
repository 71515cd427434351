#include "plugin.hpp"

#include <algorithm>

#include "schema.hpp"
#include "validation.hpp"

namespace options {

ConcurrentAdmission::ConcurrentAdmission(const sluice::Context& context)
    : context_(context),
      admissions_(context.counter("option_admissions_total",
                                  "Options that were admitted, by ClusterQueue and option",
                                  {"cluster_queue", "option"})),
      migrations_(context.counter("migrations_total",
                                  "Workloads that moved to a better option, by ClusterQueue",
                                  {"cluster_queue"})),
      resets_(context.counter("resets_total",
                              "Admitted workloads that lost their option and began anew",
                              {"cluster_queue", "reason"})),
      states_(context.gauge("options", "Options by ClusterQueue and state",
                            {"cluster_queue", "state"})) {}

std::string ConcurrentAdmission::schema() const { return schema_text(); }

void ConcurrentAdmission::queue_changed(const sluice::Queue& queue) {
  auto policy = policy_of(Json::parse(queue.json()));
  if (policy)
    policies_.insert_or_assign(std::string(queue.name()), std::move(*policy));
  else
    policies_.erase(std::string(queue.name()));
}

void ConcurrentAdmission::validate(const sluice::Write& write, sluice::FieldErrors& errors) const {
  if (write.operation() == sluice::Operation::kDelete) return;
  const bool queue = write.kind() == "ClusterQueue";
  const std::string_view field = queue ? "concurrentAdmission" : "admissionConstraints";
  if (write.object().find(field) == std::string_view::npos &&
      write.old().find(field) == std::string_view::npos)
    return;
  const Json object = Json::parse(write.object());
  const Json old = write.old().empty() ? Json() : Json::parse(write.old());
  for (const Problem& p : queue ? check_queue(object) : check_workload(object, old)) {
    if (p.kind == Problem::Kind::kRequired)
      errors.required(p.path, p.detail);
    else if (p.kind == Problem::Kind::kForbidden)
      errors.forbidden(p.path, p.detail);
    else
      errors.invalid(p.path, p.value, p.detail);
  }
}

std::vector<std::string> ConcurrentAdmission::watched_kinds() const {
  const std::string api(kApi);
  return {api + " Workload claimed by-owner", api + " ClusterQueue has:spec.concurrentAdmission",
          api + " ClusterQueue has:spec.concurrentAdmissionPolicy"};
}

Again ConcurrentAdmission::reconcile(const ObjectRef& what) {
  if (what.kind != "Workload") return follow_queue(what.name);
  try {
    return keep_in_line(what.ns + "/" + what.name, {});
  } catch (const sluice::ObjectError& refusal) {
    tell_refused(what.ns, what.name, refusal);
    throw;  // nothing of it is written, and it is looked at again
  }
}

void ConcurrentAdmission::tell_refused(const std::string& ns, const std::string& name,
                                       const sluice::ObjectError& refusal) const {
  context_.event(true, ns, name, "OptionsRefused", refusal.what());
}

// ---- one queue

/// Its families follow a changed policy in pieces, so that the host can do other things meanwhile.
/// One that is refused (its namespace is full) is tried again later, and keeps no other waiting.
Again ConcurrentAdmission::follow_queue(const std::string& queue) {
  constexpr std::size_t kPiece = 32;
  constexpr std::int64_t kRefusedSeconds = 30;
  const auto object = context_.objects().find({std::string(kApi), "ClusterQueue", "", queue});
  std::optional<Policy> now = object ? policy_of(*object) : std::nullopt;
  const auto known = applied_.find(queue);
  if (!now) policies_.erase(queue);
  const bool changed = known != applied_.end() && !(known->second == now);
  if (now) policies_.insert_or_assign(queue, *now);
  if (changed) {
    std::vector<std::string>& behind = behind_[queue];
    behind.clear();
    refused_.erase(queue);
    for (const auto& [key, family] : families_)
      if (family.queue == queue) behind.push_back(key);
    std::sort(behind.rbegin(), behind.rend());
  }
  if (now || known != applied_.end()) applied_.insert_or_assign(queue, std::move(now));
  const auto left = behind_.find(queue);
  if (left == behind_.end()) return Again::on_change();
  for (std::size_t n = 0; n < kPiece && !left->second.empty(); ++n) {
    const std::string key = std::move(left->second.back());
    left->second.pop_back();
    try {
      keep_in_line(key, {});
    } catch (const sluice::ObjectError& refusal) {
      tell_refused(key.substr(0, key.find('/')), key.substr(key.find('/') + 1), refusal);
      refused_[queue].push_back(key);
    }
  }
  if (!left->second.empty()) return Again::at_once();
  behind_.erase(left);
  const auto refused = refused_.extract(queue);
  if (refused.empty()) return Again::on_change();
  behind_.emplace(queue, std::move(refused.mapped()));
  return Again::in_seconds(kRefusedSeconds);
}

// ---- turned off

/// Parents become plain workloads again; those that run go on. A host that shuts down accepts no
/// writes: then everything stays as it is.
void ConcurrentAdmission::deactivate() {
  off_ = true;
  std::vector<std::string> keys;
  for (const auto& [key, family] : families_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const std::string& key : keys) collapse(key);
}

void ConcurrentAdmission::collapse(const std::string& key) {
  const std::string ns = key.substr(0, key.find('/'));
  const std::string name = key.substr(key.find('/') + 1);
  const auto reply = context_.objects().get(workload_ref(ns, name));
  if (!reply) return;
  const Json parent = reply.json();
  if (sluice::annotation_of(parent, kParentMark).empty()) return;
  // First it takes over what its option holds.
  Json patch = Json::object();
  patch["metadata"]["annotations"][kParentMark] = Json();
  patch["metadata"]["annotations"][kRecord] = Json();
  context_.objects().patch(workload_ref(ns, name), patch);
  context_.objects().release_claim(workload_ref(ns, name));
  for (const std::string& option : families_[key].options)
    context_.objects().remove(workload_ref(ns, option));
  Json status = Json::object();
  status["status"]["options"] = Json();
  context_.objects().patch(workload_ref(ns, name), status, "status");
}

}  // namespace options

SLUICE_MAY("get kueue.x-k8s.io/ClusterQueue");
SLUICE_MAY("get,create,patch,delete kueue.x-k8s.io/Workload");
SLUICE_MAY("patch kueue.x-k8s.io/Workload/status");
SLUICE_PLUGIN(options::ConcurrentAdmission, "concurrent-admission", "0.1.0")
