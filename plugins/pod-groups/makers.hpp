// What is made of objects that make pods, Deployments and StatefulSets that name a queue: their
// pods are to wait, those of a Deployment each by itself, those of a StatefulSet together.
//
// The labels go into the template of the pods; the rest is what pods with such labels do. Pure
// functions of the write and the settings; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules.hpp"
#include "sluice/cpp/questions.hpp"

namespace pods {

/// Which of them API servers ask about.
std::vector<std::string> judged_makers(const Settings& settings);

bool is_maker(const sluice::Write& write);
/// The object with what its pods have to say; nullopt: nothing is to be changed.
std::optional<std::string> pass_on(const sluice::Write& write);
void check_maker(const sluice::Write& write, sluice::FieldErrors& errors);

}  // namespace pods
