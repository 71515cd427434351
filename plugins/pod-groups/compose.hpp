// The workload of pods, as an object: its pod sets, and what of the pods' labels it goes by.
//
// Pure functions of what they are given, but for the priority, which is looked up. [control]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan.hpp"
#include "sluice/cpp/objects.hpp"

namespace pods {

/// What a workload's spec takes from its pods and may change while it waits: queue, priority, how
/// long it may run. `missing`: the sentence about a class that is not there; then nothing else of
/// it counts.
struct Wishes {
  sluice::Json spec = sluice::Json::object();
  std::string missing;
};
Wishes wishes_of(const sluice::Json& pod, const sluice::Objects& objects);

/// `models`: the objects of the pods that the pod sets name, in their order; the first one's
/// annotations count for all, and of each of the labels `label_keys` the first that there is.
/// `owners`: all pods.
sluice::Json compose(const std::string& name, const std::vector<NewPodSet>& sets,
                     const std::vector<sluice::Json>& models, const std::vector<Pod>& owners,
                     const Wishes& wishes, const std::vector<std::string>& label_keys);

/// Who owns the workload of the pods: all of them, so that it holds its quota until the last one is
/// gone; and the StatefulSet with which it outlives them (lasting_set_of()).
std::vector<sluice::Json> owners_of(const std::vector<Pod>& pods);

}  // namespace pods
