// check_failure_policy(): whether the rules of spec.podFailurePolicy of a Job can be met, in the
// words of Kubernetes. Pure, any thread.
#pragma once

#include <boost/json/object.hpp>

#include "api/schema/walk.hpp"

namespace sluice::api::builtin {

/// Of a Job that is being made: the policy never changes after that, and one that was stored under
/// older rules must not keep its Job from being written.
void check_failure_policy(const boost::json::object& spec, Outcome& outcome);

}  // namespace sluice::api::builtin
