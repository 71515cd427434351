// What the engine asks of a workload, and what it says happened.
#include <algorithm>
#include <charconv>

#include "plugin.hpp"

namespace options {

std::optional<std::string> ConcurrentAdmission::parent_of(const sluice::Workload& workload) {
  if (!workload.annotation(kRank)) return std::nullopt;
  const auto owner = workload.controller();
  if (!owner || owner->first != "Workload") return std::nullopt;
  return std::string(workload.namespace_of()).append("/").append(owner->second);
}

std::int32_t ConcurrentAdmission::rank_of(const sluice::Workload& workload) {
  const std::string_view text = workload.annotation(kRank).value_or("0");
  std::int32_t rank = 0;
  std::from_chars(text.data(), text.data() + text.size(), rank);
  return rank;
}

void ConcurrentAdmission::traits(const sluice::Workload& workload, sluice::Traits& traits) {
  if (off_) return;
  const std::string key = workload.key();
  if (const auto parent = parent_of(workload)) {
    Family& family = families_[*parent];
    const std::string name(workload.name());
    const std::int32_t rank = rank_of(workload);
    family.options.insert(name);
    traits.represents(*parent, "option", rank);
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
  if (workload.annotation(kOption)) {  // it is never a parent, and is removed
    forget(key);
    if (!traits.holds_quota()) traits.takes_no_part("It was an option of a workload that is gone");
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
  Family& family = families_[key];
  family.queue = queue;
  traits.takes_no_part(family.no_option.empty() ? "It has no option yet" : family.no_option);
  if (!family.rejected.empty()) traits.inactive_because(family.rejected);
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
  allowed_.set(std::move(key), std::move(flavors));
  if (allowed_.is_full()) context_.set_timer(kForgetTimer, context_.now());
  return shape;
}

void ConcurrentAdmission::filter(const sluice::FilterQuery& query,
                                 sluice::FilterAnswer& answer) const {
  if (allowed_.size() == 0) return;
  const auto* found = allowed_.find(query.workload().key());
  if (found == nullptr) return;
  const std::vector<std::string>& flavors = *found;
  const auto allowed = [&](std::uint32_t i) {
    return std::find(flavors.begin(), flavors.end(), query.flavor(i)) != flavors.end();
  };
  // That an option is not tried on the flavors of its siblings needs no reason in a message.
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

/// Objects cannot be read where the flavors of a workload are noted, so that is for later.
void ConcurrentAdmission::timer(std::uint64_t, std::int64_t) {
  std::set<std::string> options;  // they go with their families
  for (const auto& [parent, family] : families_)
    for (const std::string& name : family.options)
      options.insert(parent.substr(0, parent.find('/') + 1) + name);
  allowed_.keep_if([&](const std::string& key) {
    if (options.contains(key)) return true;
    const std::size_t slash = key.find('/');
    const auto found =
        context_.objects().find(workload_ref(key.substr(0, slash), key.substr(slash + 1)));
    return found && !sluice::condition_is_true(*found, "Finished");
  });
}

sluice::Told ConcurrentAdmission::notify(const sluice::Notification& told) {
  using sluice::Event;
  if (off_ || (policies_.empty() && families_.empty())) return sluice::Told::kDone;
  const sluice::Workload workload = told.workload();
  const Event event = told.event();
  if (const auto parent = parent_of(workload)) {
    const auto family = families_.find(*parent);
    if (family == families_.end() || family->second.over) return sluice::Told::kDone;
    // All else is seen in its status, before the next cycle.
    if (event == Event::kPreempting) keep_in_line(*parent, std::string(workload.name()));
    return sluice::Told::kDone;
  }
  const std::string key = workload.key();
  if (event == Event::kEvicted && !families_.contains(key))
    context_.traits_changed(key);  // it may become a parent now
  return sluice::Told::kDone;
}

}  // namespace options
