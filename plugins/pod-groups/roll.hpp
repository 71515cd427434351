// The roll: which pods there are, by the group that they are in. It is learnt from the objects once
// and then follows what reconcile() is called for, so that a change of one pod of a group reads one
// object and not all of them.
//
// Invariant: a pod is in one group at most, as its object said last. Belongs to the control thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "facts.hpp"

namespace pods {

/// A group, or a pod that is in none.
struct GroupKey {
  std::string ns, name;
  bool alone = false;
  auto operator<=>(const GroupKey&) const = default;
};

class Roll {
 public:
  /// The pod is as it is said to be.
  void take(const std::string& ns, Pod pod);
  /// There is no such pod, or none that is queued here.
  void drop(const std::string& ns, const std::string& name);

  /// The group that the pod is in; nullptr: it is not known.
  const GroupKey* group_of(const std::string& ns, const std::string& pod) const;
  /// The pods of a group, by name.
  std::vector<Pod> pods_of(const GroupKey& group) const;
  /// The first of them, until the roll changes. REQUIRES: the group is known.
  const Pod& first_of(const GroupKey& group) const { return groups_.at(group).begin()->second; }
  /// The group that has the workload of this name; nullptr without one.
  const GroupKey* of_workload(const std::string& ns, const std::string& workload) const;
  std::vector<GroupKey> groups() const;

 private:
  using Name = std::pair<std::string, std::string>;  // namespace, name
  std::map<GroupKey, std::map<std::string, Pod>> groups_;
  std::map<Name, GroupKey> of_pod_, of_workload_;
};

/// The name of the group's workload. `pod`: any of it.
std::string workload_of_group(const GroupKey& group, const Pod& pod);

}  // namespace pods
