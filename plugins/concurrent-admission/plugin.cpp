// concurrent-admission: KEP-8691 as a plugin. What is decided is in decide.hpp, how it is written
// in family.hpp; here both are bound to the host.
//
// A family is a parent and its options. Tables are written in [control] calls only and read by the
// hooks of a cycle, which never run at the same time. Everything in them comes from the objects
// again after a restart.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <sluice/plugin.hpp>
#include <unordered_map>

#include "decide.hpp"
#include "family.hpp"
#include "names.hpp"
#include "schema.hpp"
#include "validation.hpp"

namespace options {

using sluice::Again;
using sluice::Json;
using sluice::ObjectRef;

class ConcurrentAdmission {
 public:
  static constexpr std::string_view kDescription =
      "KEP-8691: try a workload on several flavors at once, move it up when better ones free";

  explicit ConcurrentAdmission(const sluice::Context& context)
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

  std::string schema() const { return schema_text(); }
  void deactivate();

  // ---- what a queue wants

  void queue_changed(const sluice::Queue& queue) {
    auto policy = policy_of(Json::parse(queue.json()));
    if (policy)
      policies_.insert_or_assign(std::string(queue.name()), std::move(*policy));
    else
      policies_.erase(std::string(queue.name()));
  }

  std::vector<std::string> kinds() const {
    return {"kueue.x-k8s.io/ClusterQueue", "kueue.x-k8s.io/Workload"};
  }

  void validate(const sluice::Write& write, sluice::FieldErrors& errors) const {
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

  // ---- what the engine asks

  void traits(const sluice::Workload& workload, sluice::Traits& traits);
  std::string filter_shape_key(const sluice::Workload& workload);
  void filter(const sluice::FilterQuery& query, sluice::FilterAnswer& answer) const;
  void veto(const sluice::VetoQuery& query, sluice::VetoAnswer& answer) const;
  sluice::Told notify(const sluice::Notification& told);

  // ---- keeping objects in line

  std::vector<std::string> watched_kinds() const {
    const std::string api(kApi);
    return {api + " Workload claimed by-owner", api + " ClusterQueue has:spec.concurrentAdmission",
            api + " ClusterQueue has:spec.concurrentAdmissionPolicy"};
  }
  Again reconcile(const ObjectRef& what) {
    return what.kind == "Workload" ? keep_in_line(what.ns + "/" + what.name, {})
                                   : follow_queue(what.name);
  }

 private:
  struct Family {
    std::string queue;                           // its ClusterQueue
    std::set<std::string> options;               // names of Workloads, some perhaps gone
    std::string admitted;                        // the option by which the parent is admitted
    std::string target;                          // of its queue's policy, below which no move goes
    std::string preempts;                        // the option that has the right to preempt
    std::map<std::string, std::string> why_off;  // by option
    std::map<std::string, int> states;
    bool over = false;  // finished, and its options with it
  };
  /// One parent, as it is read and written in one call.
  struct Work {
    std::string key, ns, name, queue;
    Json parent;
    std::map<std::string, Json> options;
    Situation situation;
  };

  static ObjectRef workload_ref(std::string_view ns, std::string_view name) {
    return {std::string(kApi), "Workload", std::string(ns), std::string(name)};
  }
  static std::optional<std::string> parent_of(const sluice::Workload& workload) {
    if (!workload.annotation(kRank)) return std::nullopt;
    const auto owner = workload.controller();
    if (!owner || owner->first != "Workload") return std::nullopt;
    return std::string(workload.namespace_of()).append("/").append(owner->second);
  }
  std::vector<std::string> within_reach(const sluice::Workload& workload,
                                        std::vector<std::string> flavors) const;
  static std::int32_t rank_of(const sluice::Workload& workload) {
    const std::string_view text = workload.annotation(kRank).value_or("0");
    std::int32_t rank = 0;
    std::from_chars(text.data(), text.data() + text.size(), rank);
    return rank;
  }
  const Policy* policy(const std::string& queue) const {
    const auto found = policies_.find(queue);
    return found == policies_.end() ? nullptr : &found->second;
  }

  Again keep_in_line(const std::string& key, const std::string& preempts);
  Again follow_queue(const std::string& queue);
  bool read(Work& work);
  bool read_options(Work& work);
  void write(Work& work, Plan& plan);
  void write_options(Work& work, const Plan& plan);
  void write_parent(Work& work, const Plan& plan);
  void pass_on(Work& work, const Plan& plan);
  void tell(const Work& work, const Plan& plan);
  void remember(Work& work, const Plan& plan);
  void forget(const std::string& key);
  void collapse(const std::string& key);
  void count_states(Family& family, const std::map<std::string, int>& states);
  void event(const Work& work, std::string_view reason, const std::string& message) const {
    context_.event(false, work.ns, work.name, reason, message);
  }

  sluice::Context context_;
  sluice::Metric admissions_, migrations_, resets_, states_;
  std::map<std::string, Policy, std::less<>> policies_;  // by ClusterQueue
  /// That the families of a queue follow; none: there was one, and it was taken away.
  std::map<std::string, std::optional<Policy>, std::less<>> applied_;
  std::map<std::string, std::vector<std::string>, std::less<>> behind_;  // who has to follow yet
  std::unordered_map<std::string, Family> families_;                     // by the parent's key
  std::unordered_map<std::string, std::vector<std::string>> allowed_;  // flavors, by workload's key
  bool off_ = false;
};

// ---- the engine

void ConcurrentAdmission::traits(const sluice::Workload& workload, sluice::Traits& traits) {
  if (off_) return;
  const std::string key = workload.key();
  if (const auto parent = parent_of(workload)) {
    Family& family = families_[*parent];
    const std::string name(workload.name());
    const std::int32_t rank = rank_of(workload);
    family.options.insert(name);
    traits.represents(*parent, "options of " + *parent, rank);
    if (!family.admitted.empty() && family.admitted != name)
      traits.replaces(std::string(workload.namespace_of()) + "/" + family.admitted,
                      sluice::Ends::kDeactivated, kMigration,
                      "Evicted to accommodate the option " + name +
                          " of the same workload, which is placed better",
                      true);
    if (const auto why = family.why_off.find(name); why != family.why_off.end())
      traits.inactive_because(why->second);
    return;
  }
  const bool marked = workload.annotation(kParentMark).has_value();
  const std::string queue(traits.cluster_queue());
  const bool wanted = !queue.empty() && policies_.contains(queue) && !traits.holds_quota() &&
                      workload.condition("Finished") != "True";
  if (!marked && !wanted) {
    if (families_.contains(key)) forget(key);
    return;
  }
  if (!marked && traits.counts_may_change()) {
    if (families_.contains(key)) forget(key);
    traits.takes_no_part("ClusterQueue " + queue +
                         " tries its workloads in several options, which a workload that changes "
                         "its size while it runs cannot follow: use another queue for it");
    return;
  }
  families_[key].queue = queue;
  traits.takes_no_part("Its options wait in its place");
}

/// While another option is admitted nothing below the target is worth a move.
std::vector<std::string> ConcurrentAdmission::within_reach(const sluice::Workload& workload,
                                                           std::vector<std::string> flavors) const {
  const auto parent = parent_of(workload);
  const auto found = parent ? families_.find(*parent) : families_.end();
  if (found == families_.end()) return flavors;
  const Family& family = found->second;
  const Policy* wanted = policy(family.queue);
  if (family.admitted.empty() || family.admitted == workload.name() || family.target.empty() ||
      wanted == nullptr)
    return flavors;
  return wanted->within_target(flavors);
}

std::string ConcurrentAdmission::filter_shape_key(const sluice::Workload& workload) {
  std::string key = workload.key();
  const std::string_view text = workload.extensions();
  std::vector<std::string> flavors;
  if (text.find("admissionConstraints") != std::string_view::npos)
    flavors = allowed_flavors(Json::parse(text));
  const bool limited = !flavors.empty();
  if (limited && policies_.size() > 0) flavors = within_reach(workload, std::move(flavors));
  if (!limited) {
    allowed_.erase(key);
    return {};
  }
  std::string shape;
  for (const std::string& flavor : flavors) shape += flavor + ",";
  allowed_.insert_or_assign(std::move(key), std::move(flavors));
  return shape;
}

void ConcurrentAdmission::filter(const sluice::FilterQuery& query,
                                 sluice::FilterAnswer& answer) const {
  if (allowed_.empty()) return;
  const auto found = allowed_.find(query.workload().key());
  if (found == allowed_.end()) return;
  const std::vector<std::string>& flavors = found->second;
  const auto allowed = [&](std::uint32_t i) {
    return std::find(flavors.begin(), flavors.end(), query.flavor(i)) != flavors.end();
  };
  // That an option is not tried on the flavors of its siblings goes without saying.
  bool silent = false;
  for (std::uint32_t i = 0; i < query.flavors() && !silent; ++i)
    silent = allowed(i) && query.workload().annotation(kRank);
  for (std::uint32_t i = 0; i < query.flavors(); ++i) {
    if (allowed(i)) continue;
    answer.skip(i, silent ? std::string()
                          : "flavor " + std::string(query.flavor(i)) +
                                " is not among the workload's allowedResourceFlavors");
  }
}

void ConcurrentAdmission::veto(const sluice::VetoQuery& query, sluice::VetoAnswer& answer) const {
  if (families_.empty()) return;
  const sluice::Workload workload = query.preemptor();
  const auto parent = parent_of(workload);
  const auto family = parent ? families_.find(*parent) : families_.end();
  if (family == families_.end()) return;
  const std::string& holder = family->second.preempts;
  if (!holder.empty() && holder != workload.name())
    answer.may_not_preempt("The option " + holder + " of the same workload preempts already");
}

sluice::Told ConcurrentAdmission::notify(const sluice::Notification& told) {
  using sluice::Event;
  if (off_ || (policies_.empty() && families_.empty())) return sluice::Told::kDone;
  const sluice::Workload workload = told.workload();
  const Event event = told.event();
  if (const auto parent = parent_of(workload)) {
    const auto family = families_.find(*parent);
    if (family == families_.end() || family->second.over) return sluice::Told::kDone;
    if (event == Event::kPreempting)
      keep_in_line(*parent, std::string(workload.name()));
    else if (event == Event::kAdmitted || event == Event::kEvicted || event == Event::kFinished ||
             event == Event::kReservationLost)
      keep_in_line(*parent, {});
    return sluice::Told::kDone;
  }
  const std::string key = workload.key();
  if (families_.contains(key)) {
    if (event == Event::kFinished || event == Event::kDeactivated) keep_in_line(key, {});
  } else if (event == Event::kEvicted) {
    context_.traits_changed(key);  // it may become a parent now
  }
  return sluice::Told::kDone;
}

// ---- one family

/// `preempts`: this option has just issued preemptions.
Again ConcurrentAdmission::keep_in_line(const std::string& key, const std::string& preempts) {
  if (off_) return Again::on_change();
  Work work;
  work.key = key;
  work.ns = key.substr(0, key.find('/'));
  work.name = key.substr(key.find('/') + 1);
  if (!read(work)) return Again::on_change();
  Situation& situation = work.situation;
  if (!preempts.empty()) {  // who may not does not get here
    situation.record.preempts = preempts;
    for (Option& option : situation.options)
      if (option.name == preempts && option.state == Option::State::kPending)
        option.waits_for_victims = true;
  }
  Plan plan = decide(situation);
  write(work, plan);
  remember(work, plan);
  if (!plan.next) return Again::on_change();
  constexpr std::int64_t kMs = 1'000'000;
  return {std::max<std::int64_t>(1, (*plan.next - situation.now + kMs - 1) / kMs)};
}

/// False: there is no parent, and nothing to do.
bool ConcurrentAdmission::read(Work& work) {
  const auto found = context_.objects().find(workload_ref(work.ns, work.name));
  if (!found) {  // its options go with it
    forget(work.key);
    return false;
  }
  work.parent = *found;
  const Json& parent = work.parent;
  Situation& out = work.situation;
  out.parent = work.name;
  out.marked = !annotation(parent, kParentMark).empty();
  out.finished = is_true(parent, "Finished");
  // As the host said when it last asked for the traits, which it does whenever a queue changes.
  if (const auto family = families_.find(work.key); family != families_.end())
    work.queue = family->second.queue;
  out.policy = policy(work.queue);
  // One that is not marked yet becomes a parent where its traits said so.
  if (!out.marked && (out.policy == nullptr || out.finished || is_true(parent, "QuotaReserved") ||
                      !families_.contains(work.key)))
    return false;
  out.active = parent.bool_or("spec.active", true);
  out.allowed = allowed_flavors(parent);
  out.record = read_record(parent);
  out.now = context_.now();
  return read_options(work);
}

bool ConcurrentAdmission::read_options(Work& work) {
  Situation& out = work.situation;
  Family& family = families_[work.key];
  family.queue = work.queue;
  const std::string uid = work.parent.string_or("metadata.uid", "");
  const std::set<std::string> names = family.options;
  for (const std::string& name : names) {
    auto option = context_.objects().find(workload_ref(work.ns, name));
    if (!option) {
      family.options.erase(name);
      continue;
    }
    const Json* owners = option->find("metadata.ownerReferences");
    const bool ours = owners != nullptr &&
                      std::any_of(owners->items().begin(), owners->items().end(),
                                  [&](const Json& o) { return o.string_or("uid", "") == uid; });
    if (!ours) {  // of another parent of that name, which is gone
      context_.objects().remove(workload_ref(work.ns, name), option->string_or("metadata.uid", ""));
      family.options.erase(name);
      continue;
    }
    out.options.push_back(read_option(*option, work.parent));
    work.options.emplace(name, std::move(*option));
  }
  if (out.policy == nullptr) return true;
  for (const OptionSpec& spec : out.policy->options) {
    const std::string name = option_name(work.name, spec.name);
    if (!work.options.contains(name) && context_.objects().get(workload_ref(work.ns, name)))
      out.taken.push_back(name);
  }
  return true;
}

void ConcurrentAdmission::write(Work& work, Plan& plan) {
  auto& why_off = families_[work.key].why_off;  // asked for while the options are written
  why_off.clear();
  for (const auto& [name, why] : plan.why_off) why_off.emplace(name, off_because(why));
  write_options(work, plan);
  pass_on(work, plan);
  write_parent(work, plan);
  tell(work, plan);
}

void ConcurrentAdmission::write_options(Work& work, const Plan& plan) {
  const sluice::Objects objects = context_.objects();
  for (const std::string& name : plan.remove)
    objects.remove(workload_ref(work.ns, name)).or_throw();
  std::map<std::string, Json> patches;
  for (const Change& change : plan.change) {
    Json& patch = patches[change.name];
    patch["spec"]["active"] = Json(change.active);
    patch["metadata"]["annotations"][kHeld] = change.held.empty() ? Json() : Json(change.held);
  }
  for (const auto& [name, rank] : plan.rerank)
    patches[name]["metadata"]["annotations"][kRank] = Json(std::to_string(rank));
  for (const auto& [name, option] : work.options) {
    const Json spec = inherited_spec(work.parent, option);
    for (const auto& [field, value] : spec.members()) patches[name]["spec"][field] = value;
  }
  for (const auto& [name, patch] : patches)
    if (std::find(plan.remove.begin(), plan.remove.end(), name) == plan.remove.end())
      objects.patch(workload_ref(work.ns, name), patch).or_throw();
  for (const Creation& creation : plan.create) {
    objects.create(make_option(work.parent, creation)).or_throw();
    families_[work.key].options.insert(creation.name);
  }
}

/// What the job tells the parent is told to the admitted option, and that it ended to all.
void ConcurrentAdmission::pass_on(Work& work, const Plan& plan) {
  for (const auto& [name, option] : work.options) {
    Json status = Json::object();
    if (std::find(plan.finish.begin(), plan.finish.end(), name) != plan.finish.end()) {
      Json list = Json::array();
      if (const Json* before = option.find("status.conditions")) list = *before;
      const Json* finished = condition(work.parent, "Finished");
      if (finished != nullptr) list.push_back(*finished);
      status["conditions"] = std::move(list);
    } else {
      status = inherited_status(work.parent, option);
    }
    if (status.members().empty()) continue;
    Json patch = Json::object();
    patch["status"] = std::move(status);
    context_.objects().patch(workload_ref(work.ns, name), patch, "status").or_throw();
  }
}

void ConcurrentAdmission::write_parent(Work& work, const Plan& plan) {
  const ObjectRef ref = workload_ref(work.ns, work.name);
  Json patch = Json::object();
  if (plan.collapse) {
    for (const std::string_view name : {kParentMark, kRecord})
      if (!annotation(work.parent, name).empty()) patch["metadata"]["annotations"][name] = Json();
  } else {
    const std::string record = write_record(plan.record);
    if (!work.situation.marked) patch["metadata"]["annotations"][kParentMark] = Json("true");
    if (annotation(work.parent, kRecord) != record)
      patch["metadata"]["annotations"][kRecord] = Json(record);
  }
  if (!plan.rejected.empty()) patch["spec"]["active"] = Json(false);
  if (!patch.members().empty()) context_.objects().patch(ref, patch).or_throw();

  const auto json_of = [&](const std::string& name) -> const Json* {
    const auto found = work.options.find(name);
    return found == work.options.end() ? nullptr : &found->second;
  };
  const bool over = work.situation.finished || !plan.ended_with.empty();
  const Json* admitted = over ? nullptr : json_of(plan.record.admitted);
  Json before = Json::object();
  if (const Json* status = work.parent.member("status")) before = *status;
  Json after = parent_status(work.parent, plan, admitted, json_of(plan.lost), work.situation.now);
  const Json changes = difference(before, after);
  if (changes.members().empty()) return;
  Json status = Json::object();
  status["status"] = changes;
  context_.objects().patch(ref, status, "status").or_throw();
}

void ConcurrentAdmission::tell(const Work& work, const Plan& plan) {
  for (const Creation& creation : plan.create)
    event(work, "CreatedOption", "Option Workload \"" + creation.name + "\" created");
  for (const std::string& name : plan.remove)
    event(work, "DeletedOption",
          "Option Workload \"" + name + "\" deleted: the queue's policy does not ask for it");
  for (const Change& change : plan.change)
    context_.event(false, work.ns, change.name,
                   change.active ? "ActivatedOption" : "DeactivatedOption",
                   std::string("Option Workload ") + (change.active ? "activated" : "deactivated") +
                       " due to " + change.why);
  const std::string_view queue = work.queue;
  if (!plan.record.admitted.empty() && plan.record.admitted != work.situation.record.admitted) {
    const auto option = work.options.find(plan.record.admitted);
    const std::string spec =
        option == work.options.end() ? std::string() : annotation(option->second, kOption);
    context_.add(admissions_, 1, std::array<std::string_view, 2>{queue, spec});
    event(work, "Admitted", "The option " + plan.record.admitted + " is admitted");
  }
  if (!plan.migrated_from.empty()) {
    context_.add(migrations_, 1, std::array<std::string_view, 1>{queue});
    event(work, std::string(kMigration),
          "Moves from the option " + plan.migrated_from + " to " + plan.record.admitted);
  }
  if (!plan.lost.empty()) {
    context_.add(resets_, 1, std::array<std::string_view, 2>{queue, plan.lost_reason});
    event(work, "EvictedOption",
          "The option " + plan.lost + " was evicted due to " + plan.lost_reason +
              ", so all options begin anew");
  }
  if (!plan.rejected.empty())
    context_.event(true, work.ns, work.name, "OptionsRejected", plan.rejected);
}

/// Brings the tables in line, and asks the engine to look again where they matter to it.
void ConcurrentAdmission::remember(Work& work, const Plan& plan) {
  Family& family = families_[work.key];
  const std::string before = family.admitted;
  const std::string preempted = family.preempts;
  family.admitted = plan.record.admitted;
  family.preempts = plan.record.preempts;
  family.over = work.situation.finished;
  const Policy* wanted = work.situation.policy;
  const bool bounded = wanted != nullptr && wanted->on_success == OnSuccess::kRemoveBelowTarget;
  const std::string target = bounded ? wanted->target : std::string();
  const bool moved = before != family.admitted || family.target != target;
  family.target = target;
  for (const std::string& name : family.options) {
    const std::string key = work.ns + "/" + name;
    if (moved) context_.traits_changed(key);
    if (!preempted.empty() && family.preempts != preempted) context_.requeue(key);
  }
  std::map<std::string, int> states;
  for (const OptionStatus& each : plan.status) ++states[each.state];
  count_states(family, states);
  if (plan.collapse) forget(work.key);
}

void ConcurrentAdmission::count_states(Family& family, const std::map<std::string, int>& states) {
  const auto add = [&](const std::map<std::string, int>& of, int sign) {
    for (const auto& [state, count] : of)
      context_.add(states_, sign * count,
                   std::array<std::string_view, 2>{std::string_view(family.queue), state});
  };
  if (family.states == states) return;
  add(family.states, -1);
  family.states = states;
  add(family.states, 1);
}

void ConcurrentAdmission::forget(const std::string& key) {
  const auto found = families_.find(key);
  if (found == families_.end()) return;
  count_states(found->second, {});
  const std::string ns = key.substr(0, key.find('/') + 1);
  for (const std::string& name : found->second.options) allowed_.erase(ns + name);
  families_.erase(found);
}

// ---- one queue

/// Its families follow a changed policy in pieces, so that the host can do other things meanwhile.
Again ConcurrentAdmission::follow_queue(const std::string& queue) {
  constexpr std::size_t kPiece = 32;
  const auto object = context_.objects().find({std::string(kApi), "ClusterQueue", "", queue});
  std::optional<Policy> now = object ? policy_of(*object) : std::nullopt;
  const auto known = applied_.find(queue);
  if (!now) policies_.erase(queue);
  const bool changed = known != applied_.end() && !(known->second == now);
  if (now) policies_.insert_or_assign(queue, *now);
  if (changed) {
    std::vector<std::string>& behind = behind_[queue];
    behind.clear();
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
    keep_in_line(key, {});
  }
  if (!left->second.empty()) return Again::at_once();
  behind_.erase(left);
  return Again::on_change();
}

// ---- turned off

/// Parents become plain workloads again; who runs goes on. A host that ends does not let us write:
/// then everything stays as it is.
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
  if (annotation(parent, kParentMark).empty()) return;
  for (const std::string& option : families_[key].options)
    context_.objects().remove(workload_ref(ns, option));
  Json patch = Json::object();
  patch["metadata"]["annotations"][kParentMark] = Json();
  patch["metadata"]["annotations"][kRecord] = Json();
  context_.objects().patch(workload_ref(ns, name), patch);
  context_.objects().release_claim(workload_ref(ns, name));
  Json status = Json::object();
  status["status"]["options"] = Json();
  context_.objects().patch(workload_ref(ns, name), status, "status");
}

}  // namespace options

SLUICE_PLUGIN(options::ConcurrentAdmission, "concurrent-admission", "0.1.0")
