// check_success_policy(): whether the rules of spec.successPolicy of an Indexed Job can be met, in
// the words of Kubernetes. Pure, any thread.
#pragma once

#include <boost/json/object.hpp>

#include "api/schema/walk.hpp"

namespace sluice::api::builtin {

/// Nothing is said of a Job that is not Indexed, or has no completions: that is wrong by itself.
void check_success_policy(const boost::json::object& spec, Outcome& outcome);

}  // namespace sluice::api::builtin
