// What is made of objects that make pods and name a queue: Deployments, whose pods wait each by
// itself; StatefulSets, whose pods wait together; LeaderWorkerSets, of which each replica is a
// group. A table tells where they keep what.
//
// Labels and annotations go into the templates of the pods; the rest is what pods with such labels
// do. Pure functions of the write and the settings; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rules.hpp"
#include "sluice/cpp/json.hpp"
#include "sluice/cpp/questions.hpp"

namespace pods {

/// Which of them API servers ask about.
std::vector<std::string> judged_makers(const Settings& settings);

bool is_maker(const sluice::Write& write);
/// The object with what its pods have to say; nullopt: nothing is to be changed.
std::optional<std::string> pass_on(const sluice::Write& write, const Settings& settings,
                                   const HasDefaultQueue& has_default_queue);
void check_maker(const sluice::Write& write, sluice::FieldErrors& errors);

/// Pods of a namespace that wait or run here and that a selector of labels matches.
using FindPods =
    std::function<std::vector<sluice::Json>(const std::string& ns, const std::string& selector)>;
/// A number of pods is written by itself (`kubectl scale`, a HorizontalPodAutoscaler): whose it is
/// only the pods tell.
bool is_scale(const sluice::Write& write);
void check_scale(const sluice::Write& write, const FindPods& find_pods,
                 sluice::FieldErrors& errors);

/// The group of a pod that says of which kind of object it is a part: the replica that it is of.
/// Empty: it says no such thing, or not which replica.
std::string group_of_part(const sluice::Json& pod);
/// The name of the object that such a pod is a part of; empty: it does not say it.
std::string whole_of_part(const sluice::Json& pod);

}  // namespace pods
