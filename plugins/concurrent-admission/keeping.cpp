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
  if (!preempts.empty()) {  // only an option with that right gets here
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

/// Of an option that says no more whose it is. O(families).
std::optional<std::string> ConcurrentAdmission::parent_that_knows(const std::string& ns,
                                                                  const std::string& option) const {
  for (const auto& [key, family] : families_)
    if (key.starts_with(ns + "/") && family.options.contains(option)) return key;
  return std::nullopt;
}

/// False: there is no parent, and nothing to do.
bool ConcurrentAdmission::read(Work& work) {
  const auto found = context_.objects().find(workload_ref(work.ns, work.name));
  if (!found) {  // its options go with it, also those that were orphaned
    if (const auto family = families_.find(work.key); family != families_.end())
      for (const std::string& name : family->second.options)
        context_.objects().remove(workload_ref(work.ns, name));
    forget(work.key);
    allowed_.erase(work.key);
    return false;
  }
  work.parent = *found;
  if (!sluice::annotation_of(*found, kOption).empty()) {  // an option without a parent
    context_.objects().remove(workload_ref(work.ns, work.name),
                              found->string_or("metadata.uid", ""));
    if (const auto parent = parent_that_knows(work.ns, work.name)) keep_in_line(*parent, {});
    return false;
  }
  const Json& parent = work.parent;
  Situation& out = work.situation;
  out.parent = work.name;
  out.marked = !sluice::annotation_of(parent, kParentMark).empty();
  out.finished = sluice::condition_is_true(parent, "Finished");
  // As the host said when it last asked for the traits, which it does whenever a queue changes.
  if (const auto family = families_.find(work.key); family != families_.end())
    work.queue = family->second.queue;
  out.policy = policy(work.queue);
  // One that is not marked yet becomes a parent where its traits said so.
  if (!out.marked &&
      (out.policy == nullptr || out.finished ||
       sluice::condition_is_true(parent, "QuotaReserved") || !families_.contains(work.key)))
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
  Family& family = families_[work.key];  // asked for while the options and the parent are written
  tell_why_off(work, plan);
  if (!plan.rejected.empty() || work.situation.active) family.rejected = plan.rejected;
  if (std::exchange(family.no_option, plan.no_option) != plan.no_option)
    context_.traits_changed(work.key);
  write_options(work, plan);
  write_parent(work, plan);
  tell(work, plan);
}

/// An option that stays off may be off for another reason than before: an edited policy has others.
/// No write of the option follows from that, so its traits are reported as changed.
void ConcurrentAdmission::tell_why_off(const Work& work, const Plan& plan) {
  std::map<std::string, std::string>& told = families_[work.key].why_off;
  std::map<std::string, std::string> before;
  before.swap(told);
  for (const auto& [name, why] : plan.why_off) {
    const auto now = told.emplace(name, off_because(why)).first;
    const auto old = before.find(name);
    if (old != before.end() && old->second != now->second)
      context_.traits_changed(work.ns + "/" + name);
  }
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

void ConcurrentAdmission::write_parent(Work& work, const Plan& plan) {
  const ObjectRef ref = workload_ref(work.ns, work.name);
  Json patch = Json::object();
  if (plan.collapse) {
    for (const std::string_view name : {kParentMark, kRecord})
      if (!sluice::annotation_of(work.parent, name).empty())
        patch["metadata"]["annotations"][name] = Json();
  } else {
    const std::string record = write_record(plan.record);
    if (!work.situation.marked) patch["metadata"]["annotations"][kParentMark] = Json("true");
    if (sluice::annotation_of(work.parent, kRecord) != record)
      patch["metadata"]["annotations"][kRecord] = Json(record);
  }
  if (!plan.rejected.empty()) patch["spec"]["active"] = Json(false);
  if (!patch.members().empty()) context_.objects().patch(ref, patch).or_throw();

  const Json told = told_options(work.parent, plan, work.situation.now);
  const Json* before = work.parent.find("status.options");
  if (before != nullptr ? *before == told : told.is_null()) return;
  Json status = Json::object();
  status["status"]["options"] = told;
  context_.objects().patch(ref, status, "status").or_throw();
}

}  // namespace options
