// One family: read, decided upon, and written.
#include <algorithm>

#include "names.hpp"
#include "plugin.hpp"

namespace options {

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

}  // namespace options
